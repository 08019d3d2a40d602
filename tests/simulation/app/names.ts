/** Names of queues: a kind, or a kind and a number for one more of it, as in `acted7`. */
export type Kind =
  "pulled" | "acted" | "inlined" | "written" | "looked" | "mixed" | "ring" | "wheel";
export type QueueName = Kind | `${Kind}${number}`;

/** So many more there are of each kind, for large worlds. */
export const NUMBERS = 40;

/** The queue that deploys give a handler, another, and none: see `workloads/deploys.ts`. */
export const DEPLOYED = "deployed";

export function kindOf(queue: unknown): Kind {
  return (queue as string).replace(/\d+$/, "") as Kind;
}
