/** The main loop: whether Convex runs jobs, in how many lanes and places, and which queues wait for one. */
import { JANITOR_OVERDUE_MS, type MainLoop as Loop } from "../../shared/index.js";
import { useNow } from "../frame/clock.js";
import { useLabels, useRead } from "../frame/context.js";
import { Heading } from "../parts/Heading.js";
import { Icon, type IconName } from "../parts/Icon.js";
import { Link } from "../parts/Link.js";
import { Skeleton } from "../parts/Skeleton.js";
import { Timed } from "../parts/Timed.js";
import { Ago, Until } from "../parts/Times.js";
import { queuePlace } from "../places.js";

const ICONS: Record<Loop["status"], IconName> = {
  idle: "pending",
  running: "running",
  waiting: "yellow",
  stalled: "red",
};

export function MainLoop() {
  const loop = useRead({ kind: "mainLoop" });
  const words = useLabels().mainLoop;
  if (loop === undefined) return <Skeleton lines={1} />;
  const { status, places, lanes, waiting, queues, next } = loop;
  return (
    <section className={`cv-loop cv-loop-${status}`}>
      <div className="cv-loop-head">
        <Heading under={1}>{words.title}</Heading>
        <span className="cv-loop-status">
          <Icon name={ICONS[status]} />
          {words[status === "waiting" ? "blocked" : status]}
        </span>
        <ul className="cv-standing">
          <li className="cv-tag">{words.generation(loop.generation)}</li>
          <li className="cv-tag">{words.lanes(lanes.awake, lanes.more)}</li>
          <li className="cv-tag">{words.places(places.used, places.used + places.left)}</li>
          {waiting.length > 0 && (
            <li className="cv-tag cv-tag-strong">{words.waiting(waiting.length)}</li>
          )}
          {next !== undefined && <NextAlarm dueAt={next.dueAt} />}
        </ul>
      </div>
      {status === "stalled" && <p className="cv-bad-words">{words.stalledText}</p>}
      {queues.length > 0 && <ByQueue queues={queues} />}
    </section>
  );
}

function NextAlarm({ dueAt }: { dueAt: number }) {
  const { next, overdue } = useLabels().mainLoop;
  const isOverdue = useNow() > dueAt + JANITOR_OVERDUE_MS;
  return (
    <li className={`cv-tag ${isOverdue ? "cv-tag-strong" : ""}`}>
      <Timed text={isOverdue ? overdue : next}>
        {isOverdue ? <Ago at={dueAt} /> : <Until at={dueAt} />}
      </Timed>
    </li>
  );
}

function ByQueue({ queues }: { queues: Loop["queues"] }) {
  const { byQueue, queueLanes, queueWaits } = useLabels().mainLoop;
  return (
    <details className="cv-details">
      <summary>{byQueue}</summary>
      <ul className="cv-loop-queues">
        {queues.map(({ queue, lanes, jobs, isWaiting }) => (
          <li key={queue}>
            <Link to={queuePlace(queue)}>{queue}</Link>
            <span className="cv-soft">{queueLanes(lanes, jobs)}</span>
            {isWaiting && <span className="cv-tag cv-tag-strong">{queueWaits}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
