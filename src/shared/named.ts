/** News for workers about waiting jobs and about each other: validators and the types inferred from them. Pure. */
import { v, type Infer } from "convex/values";

/** The jobs of one queue that a worker could claim, each by its id; or only that there are more than are named. */
export const vWaiting = v.object({
  jobs: v.array(
    v.object({
      id: v.string(),
      /** Names of the workers that failed it last: a retry prefers other workers. */
      failedBy: v.optional(v.array(v.string())),
      /** The only worker that takes it, for now. */
      worker: v.optional(v.string()),
    }),
  ),
  /** There are too many to name, or other jobs go first: a claim has to look. */
  more: v.boolean(),
});
export type Waiting = Infer<typeof vWaiting>;

/** The rank of a session among the live sessions that serve these queues. */
export const vPlaces = v.array(
  v.object({
    /** How many there are, itself among them. */
    size: v.number(),
    /** Its place, from 0 on, in an order that all agree on; `null` if it has not been counted yet. */
    rank: v.union(v.number(), v.null()),
    queues: v.array(v.string()),
  }),
);
export type Places = Infer<typeof vPlaces>;
