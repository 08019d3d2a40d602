/** What somebody has done to a queue that still holds, and what works on it. */
import type { QueueOverview } from "../../shared/index.js";
import { Ago, Took } from "../parts/Times.js";

export function StandingWords({ queue: { state, gauge, isPush } }: { queue: QueueOverview }) {
  const { pausedAt, drainingAt, drained } = state;
  const { oldestPendingAt } = gauge;
  return (
    <ul className="cv-standing">
      {pausedAt !== undefined && (
        <li className="cv-tag cv-tag-strong">
          Paused <Ago at={pausedAt} />
        </li>
      )}
      {drainingAt !== undefined && (
        <li className="cv-tag cv-tag-strong">
          {drained ? "Drained" : "Draining"}, since <Ago at={drainingAt} />
        </li>
      )}
      {isPush && <li className="cv-tag">Convex works on it</li>}
      {oldestPendingAt !== undefined && (
        <li className="cv-tag">
          Oldest has waited <Took from={oldestPendingAt} />
        </li>
      )}
    </ul>
  );
}
