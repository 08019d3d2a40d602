/** What crosses between a lane and the component: validators and the types inferred from them. Pure. */
import { v, type Infer } from "convex/values";
import { vHandler } from "./handlers.js";
import { vAnswer, vClaimedJob, vFinished } from "./protocol.js";

/**
 * A job that a lane is given, and what works on it; without, nobody said what does. One whose handler is a mutation comes
 * without its payload: that is read where the mutation runs.
 */
export const vLaneJob = v.object({ job: vClaimedJob, handler: v.optional(vHandler) });
export type LaneJob = Infer<typeof vLaneJob>;

/**
 * What a lane is started with. `n` is the call that claimed its first jobs; `heard` the one before it, where these are too
 * large to be carried: its own first call brings them.
 */
export const vLaneStart = v.object({
  lane: v.string(),
  generation: v.number(),
  n: v.number(),
  heard: v.optional(v.number()),
  jobs: v.array(vLaneJob),
  /** In how many milliseconds it is to look for more, though nothing has ended: others rely on it. */
  lookAfterMs: v.optional(v.number()),
});
export type LaneStart = Infer<typeof vLaneStart>;

/** One call of a lane. */
export const vLaneStep = v.object({
  lane: v.string(),
  generation: v.number(),
  n: v.number(),
  finished: v.array(vFinished),
  /** Jobs whose handler is a mutation: run in this very transaction. */
  execute: v.array(v.object({ id: v.string(), attempt: v.number() })),
  /** The last call whose answer it has heard: what later ones claimed it does not know of yet. */
  heard: v.number(),
  /** How often in a row it has looked and found nothing. */
  looks: v.number(),
  deferCallbacks: v.optional(v.boolean()),
});
export type LaneStep = Infer<typeof vLaneStep>;

export const vLaneReply = v.object({
  answers: v.array(vAnswer),
  jobs: v.array(vLaneJob),
  /** In how many milliseconds it is to look again; `null`: when something ends. */
  lookAfterMs: v.union(v.number(), v.null()),
  /** It takes nothing more: it ends with its last job. */
  isOver: v.boolean(),
});
export type LaneReply = Infer<typeof vLaneReply>;
