/** The part of a queue in the main loop: its lanes that are awake, its places, and whether it waits for one. */
import type { QueueOverview } from "../../shared/index.js";
import { useLabels, useRead } from "../frame/context.js";

export function QueueLanes({ state: { name, inForce } }: { state: QueueOverview["state"] }) {
  const loop = useRead({ kind: "mainLoop", queue: name });
  const words = useLabels().mainLoop;
  if (loop === undefined) return null;
  const { lanes = 0, jobs = 0, isWaiting = false } = loop.queues[0] ?? {};
  const { maxParallelism: most } = inForce;
  return (
    <ul className="cv-standing" aria-label={words.title}>
      <li className="cv-tag">{words.lanes(lanes, loop.lanes.more)}</li>
      {most !== undefined && <li className="cv-tag">{words.jobsAtOnce(jobs, most)}</li>}
      <li className="cv-tag">{words.placesLeft(loop.places.left)}</li>
      {isWaiting && <li className="cv-tag cv-tag-strong">{words.queueWaits}</li>}
    </ul>
  );
}
