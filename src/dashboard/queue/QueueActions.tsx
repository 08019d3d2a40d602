/** What can be done to a queue; what the reader may not do is not there. */
import { useManyDeeds, useQueueDeeds } from "../actions/useQueueDeeds.js";
import { useOff } from "../frame/reach.js";
import type { ShownQueue } from "../../shared/index.js";
import { AskingButton } from "../parts/Confirm.js";
import { Icon } from "../parts/Icon.js";

/** Pauses, or ends a pause or a drain: undone by the next click, so it does not ask. */
export function PauseButton({ queue: { state, may } }: { queue: ShownQueue }) {
  const { pause, resume } = useQueueDeeds(state.name);
  const off = useOff();
  const isHeld = state.pausedAt !== undefined || state.drainingAt !== undefined;
  if (!may.includes(isHeld ? "resume" : "pause")) return null;
  const verb = isHeld ? "Resume" : "Pause";
  return (
    <button
      type="button"
      className="cv-button"
      aria-label={`${verb} ${state.name}`}
      {...off}
      onClick={() => void (isHeld ? resume() : pause())}
    >
      <Icon name={isHeld ? "resume" : "pause"} />
      {verb}
    </button>
  );
}

export function QueueActions({ queue }: { queue: ShownQueue }) {
  const { state, may } = queue;
  const { drain } = useQueueDeeds(state.name);
  const { retryMany } = useManyDeeds(state.name);
  const { failed, timedOut } = queue.gauge.counts;
  return (
    <div className="cv-actions">
      {may.includes("retryMany") && failed.count + timedOut.count > 0 && (
        <AskingButton
          label="Retry failed"
          described={`Retry failed jobs of ${state.name}`}
          title={`Retry all failed and timed out jobs of ${state.name}?`}
          verb="Retry"
          onConfirm={() => void retryMany({})}
        >
          <p>They become claimable again and get all their attempts anew.</p>
        </AskingButton>
      )}
      {may.includes("drain") && state.drainingAt === undefined && (
        <AskingButton
          label="Drain"
          described={`Drain ${state.name}`}
          title={`Drain ${state.name}?`}
          verb="Drain"
          onConfirm={() => void drain()}
        >
          <p>
            From then on every enqueue is refused, while what is there is worked off. Resuming ends
            it.
          </p>
        </AskingButton>
      )}
      <PauseButton queue={queue} />
    </div>
  );
}
