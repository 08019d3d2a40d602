/** Tags of a queue: paused, draining, push, and its oldest pending job. */
import type { QueueOverview } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Timed } from "../parts/Timed.js";
import { Ago, Took } from "../parts/Times.js";

export function StandingWords({ queue: { state, gauge, isPush } }: { queue: QueueOverview }) {
  const { pausedAt, drainingAt, drained } = state;
  const { oldestPendingAt } = gauge;
  const labels = useLabels().queue;
  return (
    <ul className="cv-standing">
      {pausedAt !== undefined && (
        <li className="cv-tag cv-tag-strong">
          <Timed text={labels.paused}>
            <Ago at={pausedAt} />
          </Timed>
        </li>
      )}
      {drainingAt !== undefined && (
        <li className="cv-tag cv-tag-strong">
          <Timed text={drained ? labels.drained : labels.draining}>
            <Ago at={drainingAt} />
          </Timed>
        </li>
      )}
      {isPush && <li className="cv-tag">{labels.push}</li>}
      {oldestPendingAt !== undefined && (
        <li className="cv-tag">
          <Timed text={labels.oldest}>
            <Took from={oldestPendingAt} />
          </Timed>
        </li>
      )}
    </ul>
  );
}
