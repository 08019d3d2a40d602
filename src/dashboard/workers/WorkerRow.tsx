/** One worker or lane. */
import type { WorkerStatus } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Link } from "../parts/Link.js";
import { Timed } from "../parts/Timed.js";
import { Ago, Took } from "../parts/Times.js";
import { jobPlace } from "../places.js";

/** A lane may hold hundreds of jobs: beyond this number they are counted. */
const JOBS_NAMED = 8;

export function WorkerRow({ worker }: { worker: WorkerStatus }) {
  const { name, isLane, state, lastSeenAt, holding, queues, labels = [] } = worker;
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
      </div>
      <p className="cv-worker-state">
        {words[state]}
        <span className="cv-soft">
          {", "}
          <Timed text={words.lastSeen}>
            <Ago at={lastSeenAt} />
          </Timed>
        </span>
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
