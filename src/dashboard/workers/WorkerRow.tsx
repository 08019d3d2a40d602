/** One worker or lane. */
import type { ShownWorker, WorkerStatus } from "../../shared/index.js";
import { useWorkerDeeds } from "../actions/useWorkerDeeds.js";
import { useLabels } from "../frame/context.js";
import { useOff } from "../frame/reach.js";
import { Icon } from "../parts/Icon.js";
import { Link } from "../parts/Link.js";
import { Timed } from "../parts/Timed.js";
import { Ago, Took } from "../parts/Times.js";
import { jobPlace } from "../places.js";

/** A lane may hold hundreds of jobs: beyond this number they are counted. */
const JOBS_NAMED = 8;

export function WorkerRow({ worker }: { worker: ShownWorker }) {
  const { name, isLane, state, lastSeenAt, holding, queues, labels = [], quietBy } = worker;
  const unnamed = holding.length - JOBS_NAMED;
  const words = useLabels().workers;
  return (
    <li className={`cv-worker cv-worker-${state}`}>
      <div className="cv-worker-name">
        <b>{name}</b> <span className="cv-tag">{isLane ? words.lane : words.external}</span>
        {!isLane && queues.length > 0 && <span className="cv-soft">{queues.join(", ")}</span>}
        {labels.map((label) => (
          <span key={label} className="cv-tag">
            {label}
          </span>
        ))}
        <Origin worker={worker} />
        <QuietButton worker={worker} />
      </div>
      <p className="cv-worker-state">
        {quietBy !== undefined && state === "waiting" ? words.quiet : words[state]}
        {quietBy !== undefined && state === "working" && `, ${words.quiet.toLowerCase()}`}
        <span className="cv-soft">
          {", "}
          <Timed text={words.lastSeen}>
            <Ago at={lastSeenAt} />
          </Timed>
        </span>
        <Counts worker={worker} />
      </p>
      <div className="cv-holding">
        {holding.length === 0 ? (
          <span className="cv-soft">{words.noJobs}</span>
        ) : (
          <ul aria-label={words.jobsOf(name)}>
            {holding.slice(0, JOBS_NAMED).map((held) => (
              <Held key={held.id} held={held} />
            ))}
            {unnamed > 0 && <li className="cv-soft">{words.more(unnamed)}</li>}
          </ul>
        )}
      </div>
    </li>
  );
}

/** Its slots, and the jobs that it has done. */
function Counts({ worker: { slots, done, state } }: { worker: ShownWorker }) {
  const words = useLabels().workers;
  if (state === "stopped" || (slots === undefined && done === undefined)) return null;
  const counts = [
    ...(slots === undefined ? [] : [words.slots(slots.used, slots.had)]),
    ...(done === undefined ? [] : [words.done(done)]),
  ];
  return <span className="cv-soft cv-worker-counts">{counts.join(", ")}</span>;
}

/** Its machine, process and version, as far as it tells. A name that is made of the first two says them already. */
function Origin({ worker: { name, origin } }: { worker: ShownWorker }) {
  const words = useLabels().workers;
  if (origin === undefined) return null;
  const { hostname, pid, version, appVersion, startedAt } = origin;
  const isNamedSo = hostname !== undefined && name.includes(`${hostname}:${pid}`);
  const parts = [
    ...(hostname === undefined || isNamedSo ? [] : [hostname]),
    ...(pid === undefined || isNamedSo ? [] : [words.process(pid)]),
    words.version(appVersion ?? version),
  ];
  return (
    <span className="cv-soft cv-worker-origin">
      {parts.join(", ")}
      {", "}
      <Timed text={words.started}>
        <Ago at={startedAt} />
      </Timed>
    </span>
  );
}

/** Has it claim nothing, or claim again. The next click undoes it, so there is no question. */
function QuietButton({ worker }: { worker: ShownWorker }) {
  const { quiet, resume } = useWorkerDeeds(worker);
  const off = useOff();
  const words = useLabels().workers;
  const { name, quietBy, may } = worker;
  const isQuiet = quietBy === "operator";
  if (!may.includes(isQuiet ? "resumeWorker" : "quietWorker")) return null;
  return (
    <button
      type="button"
      className="cv-button cv-worker-button"
      aria-label={isQuiet ? words.resumeWorker(name) : words.quietWorker(name)}
      {...off}
      onClick={() => void (isQuiet ? resume() : quiet())}
    >
      <Icon name={isQuiet ? "resume" : "pause"} />
      {isQuiet ? words.resumeOne : words.quietOne}
    </button>
  );
}

function Held({
  held: { queue, id, attempt, name, startedAt },
}: {
  held: WorkerStatus["holding"][number];
}) {
  const words = useLabels().workers;
  return (
    <li>
      <Link to={jobPlace(queue, id)} label={words.heldJob(queue, name ?? id, attempt)}>
        <span className="cv-soft">{queue}</span>{" "}
        {name === undefined ? <span className="cv-id">{id}</span> : name}
      </Link>
      <span className="cv-soft">
        {startedAt !== undefined && (
          <>
            {" "}
            <Timed text={words.runsFor}>
              <Took from={startedAt} />
            </Timed>
          </>
        )}
        {attempt > 1 && `, ${words.attempt(attempt)}`}
      </span>
    </li>
  );
}
