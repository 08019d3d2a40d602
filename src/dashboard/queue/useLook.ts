/** Tab, time range and filter of a queue: kept in the address, so that a link or a reload shows the same. */
import { useLinks, usePlace } from "../frame/context.js";
import { queuePlace, USUAL_LOOK, type QueueLook } from "../places.js";

export function useLook(queue: string) {
  const place = usePlace();
  const { go } = useLinks();
  const look = place.kind === "queue" && place.queue === queue ? place.look : USUAL_LOOK;
  /** `replace`: going back skips the single letters of a filter. */
  const change = (to: Partial<QueueLook>, options?: { replace?: boolean }) =>
    go(queuePlace(queue, { ...look, ...to }), options);
  return { look, change };
}
