/** The operations on a picture: cancel tiles that are not drawn yet, retry missing ones. One of them at a time. */
import {
  useCancelPicture,
  useChange,
  useRetryPicture,
  type Change,
  type Picture,
} from "../data.js";
import type { Tally } from "../tally.js";
import { OUT_OF_REACH_ID, useOutOfReach } from "../useReach.js";
import { useTask } from "../useTask.js";

export function PictureActions({ picture, tally }: { picture: Picture; tally: Tally }) {
  const change = useChange(picture._id);
  const cancel = useTask(useCancelPicture());
  const retry = useTask(useRetryPicture());
  const outOfReach = useOutOfReach();
  const missing = tally.failed + tally.canceled;
  const off = {
    disabled: outOfReach || cancel.busy || retry.busy,
    "aria-describedby": outOfReach ? OUT_OF_REACH_ID : undefined,
  };
  return (
    <div className="actions">
      {change && (
        <button type="button" disabled>
          {changeInWords(change)}
        </button>
      )}
      {!change && missing > 0 && (
        <button type="button" {...off} onClick={() => void retry.run({ picture: picture._id })}>
          Retry {missing === 1 ? "1 tile" : `${missing} tiles`}
        </button>
      )}
      {!change && tally.unfinished > 0 && (
        <button
          type="button"
          className="quiet"
          {...off}
          onClick={() => void cancel.run({ picture: picture._id })}
        >
          Cancel the rest
        </button>
      )}
      {(retry.error ?? cancel.error) && (
        <p role="alert" className="problem">
          {retry.error ?? cancel.error}
        </p>
      )}
    </div>
  );
}

/** "Canceling… 28 of 99"; without numbers until its first step has counted. */
export function changeInWords({ kind, total, left }: Change): string {
  const word = kind === "cancel" ? "Canceling…" : "Retrying…";
  return total === undefined || left === undefined ? word : `${word} ${total - left} of ${total}`;
}
