/** Names of queues: a kind, or a kind and a number for one more of it, as in `acted7`. */
export type Kind =
  "pulled" | "acted" | "inlined" | "written" | "looked" | "mixed" | "ring" | "wheel";
export type QueueName = Kind | `${Kind}${number}`;

/** So many more there are of each kind, for large worlds. */
export const NUMBERS = 40;

/** The queue that deploys give a handler, another, and none: see `workloads/deploys.ts`. */
export const DEPLOYED = "deployed";

/** Tables of the app with rows that are jobs: without announcements, and with. See `workloads/rows.ts`. */
export const ROWS = ["notes", "documents"] as const;
/** A table of the app with a loop over batches of its rows. */
export const LOOP = "tallies";
/** A queue with one handler inside Convex for several jobs: see `workloads/batches.ts`. */
export const GATHERED = "gathered";
/** A queue with workers that are bound to groups of their moment: see `workloads/scope.ts`. */
export const SCOPED = "scoped";

export function kindOf(queue: unknown): Kind {
  return (queue as string).replace(/\d+$/, "") as Kind;
}
