/** The actions on a queue; an action that `authorize` refuses has no button. */
import { useManyDeeds, useQueueDeeds } from "../actions/useQueueDeeds.js";
import { useLabels } from "../frame/context.js";
import { useOff } from "../frame/reach.js";
import type { ShownQueue } from "../../shared/index.js";
import { AskingButton } from "../parts/Confirm.js";
import { Icon } from "../parts/Icon.js";

/** Pauses, or ends a pause or a drain. The next click undoes it, so there is no question. */
export function PauseButton({ queue: { state, may } }: { queue: ShownQueue }) {
  const { pause, resume } = useQueueDeeds(state.name);
  const off = useOff();
  const labels = useLabels().queueActions;
  const isHeld = state.pausedAt !== undefined || state.drainingAt !== undefined;
  if (!may.includes(isHeld ? "resume" : "pause")) return null;
  return (
    <button
      type="button"
      className="cv-button"
      aria-label={isHeld ? labels.resumeQueue(state.name) : labels.pauseQueue(state.name)}
      {...off}
      onClick={() => void (isHeld ? resume() : pause())}
    >
      <Icon name={isHeld ? "resume" : "pause"} />
      {isHeld ? labels.resume : labels.pause}
    </button>
  );
}

export function QueueActions({ queue }: { queue: ShownQueue }) {
  const { state, may } = queue;
  const { name } = state;
  const { drain } = useQueueDeeds(name);
  const { retryMany } = useManyDeeds(name);
  const labels = useLabels().queueActions;
  const { failed, timedOut } = queue.gauge.counts;
  return (
    <div className="cv-actions">
      {may.includes("retryMany") && failed.count + timedOut.count > 0 && (
        <AskingButton
          label={labels.retryFailed}
          described={labels.retryFailedOf(name)}
          title={labels.retryFailedQuestion(name)}
          verb={labels.retry}
          onConfirm={() => void retryMany({})}
        >
          <p>{labels.retryFailedText}</p>
        </AskingButton>
      )}
      {may.includes("drain") && state.drainingAt === undefined && (
        <AskingButton
          label={labels.drain}
          described={labels.drainQueue(name)}
          title={labels.drainQuestion(name)}
          verb={labels.drain}
          onConfirm={() => void drain()}
        >
          <p>{labels.drainText}</p>
        </AskingButton>
      )}
      <PauseButton queue={queue} />
    </div>
  );
}
