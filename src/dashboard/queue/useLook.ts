/** What of a queue is shown: it lives in the address, so that a link or a reload shows the same. */
import { useLinks, usePlace } from "../frame/context.js";
import { queuePlace, USUAL_LOOK, type QueueLook } from "../places.js";

export function useLook(queue: string) {
  const place = usePlace();
  const { go } = useLinks();
  const look = place.kind === "queue" && place.queue === queue ? place.look : USUAL_LOOK;
  /** `replace`: going back does not lead through every letter of a filter. */
  const change = (to: Partial<QueueLook>, options?: { replace?: boolean }) =>
    go(queuePlace(queue, { ...look, ...to }), options);
  return { look, change };
}
