/** One worker or lane. */
import type { WorkerStatus } from "../../shared/index.js";
import { Link } from "../parts/Link.js";
import { Ago, Took } from "../parts/Times.js";
import { jobPlace } from "../places.js";
import { several } from "../words.js";

const STATES = { active: "Works", idle: "Idle", gone: "Gone" } as const;

/** A lane holds hundreds at times: more are counted. */
const JOBS_NAMED = 8;

export function WorkerRow({ worker }: { worker: WorkerStatus }) {
  const { name, isLane, state, lastSeenAt, holding, queues, labels = [] } = worker;
  const unnamed = holding.length - JOBS_NAMED;
  return (
    <li className={`cv-worker cv-worker-${state}`}>
      <div className="cv-worker-name">
        <b>{name}</b> <span className="cv-tag">{isLane ? "Lane of Convex" : "Outside"}</span>
        {!isLane && queues.length > 0 && <span className="cv-soft">{queues.join(", ")}</span>}
        {labels.map((label) => (
          <span key={label} className="cv-tag">
            has {label}
          </span>
        ))}
      </div>
      <p className="cv-worker-state">
        {STATES[state]}
        <span className="cv-soft">
          , last heard <Ago at={lastSeenAt} />
        </span>
      </p>
      <div className="cv-holding">
        {holding.length === 0 ? (
          <span className="cv-soft">Holds nothing</span>
        ) : (
          <ul aria-label={`${name} holds`}>
            {holding.slice(0, JOBS_NAMED).map((held) => (
              <Held key={held.id} held={held} />
            ))}
            {unnamed > 0 && <li className="cv-soft">and {several(unnamed, "other")}</li>}
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
  const label = `${queue} ${name ?? id}, attempt ${attempt}`;
  return (
    <li>
      <Link to={jobPlace(queue, id)} label={label}>
        <span className="cv-soft">{queue}</span>{" "}
        {name === undefined ? <span className="cv-id">{id}</span> : name}
      </Link>
      <span className="cv-soft">
        {startedAt !== undefined && (
          <>
            {" "}
            for <Took from={startedAt} />
          </>
        )}
        {attempt > 1 && `, attempt ${attempt}`}
      </span>
    </li>
  );
}
