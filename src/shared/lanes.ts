/** The messages between a lane and the component: validators and the types inferred from them. Pure. */
import { v, type Infer } from "convex/values";
import { vHandler } from "./handlers.js";
import { vAnswer, vClaimedJob, vFinished, vLease, type ClaimedJob } from "./protocol.js";

/**
 * A job for a lane, with its handler; absent where none is known. A job with a mutation for its handler comes without its
 * payload: the payload is read where the mutation runs.
 */
export const vLaneJob = v.object({ job: vClaimedJob, handler: v.optional(vHandler) });
export type LaneJob = Infer<typeof vLaneJob>;

/**
 * The start of a lane. `callSeq` is the call that claimed its first jobs. Where these are too large to be carried, `lastAckedCall` is the
 * call before it: the lane's own first call brings them.
 */
export const vLaneStart = v.object({
  lane: v.string(),
  generation: v.number(),
  callSeq: v.number(),
  lastAckedCall: v.optional(v.number()),
  jobs: v.array(vLaneJob),
  /** The time in milliseconds until the lane must look for more jobs, even if none has ended: other lanes rely on it. */
  lookAfterMs: v.optional(v.number()),
  /** Its row of `handOvers`, which its first call deletes. */
  handOver: v.optional(v.string()),
});
export type LaneStart = Infer<typeof vLaneStart>;

/** The arguments that start a process. */
export const vProcessStart = v.object({
  process: v.string(),
  generation: v.number(),
  openedAt: v.number(),
  /** Jobs that it may run at once. */
  places: v.number(),
  /** Other lanes may be handed to it. */
  receives: v.boolean(),
  version: v.string(),
  /** Of the class's scheduler, the mount's; absent is the default. */
  share: v.optional(v.number()),
  lanes: v.array(vLaneStart),
});
export type ProcessStart = Infer<typeof vProcessStart>;

/** Lanes that were handed to a process. */
export const vHandedOver = v.object({
  lanes: v.array(vLaneStart),
  /** All up to this commit have been told. */
  upTo: v.int64(),
  /** Whether queues wait for a slot or for places. */
  areWaiting: v.boolean(),
  /** Whether the mount has places left for them. */
  arePlaces: v.optional(v.boolean()),
});
export type HandedOver = Infer<typeof vHandedOver>;

/** The report about its process in a lane's call. */
export const vProcessReport = v.object({
  process: v.string(),
  generation: v.number(),
  version: v.string(),
  /** No attempt may end later. */
  endsAt: v.number(),
  /** It takes no jobs after that, where that is sooner than their time allows. */
  openUntil: v.optional(v.number()),
  /** So many jobs this call may bring. */
  places: v.number(),
  /** All of its places are taken, and it may be given more. */
  isFull: v.boolean(),
  /** So many places the process has given back in all: a call that is refused, or whose answer is lost, is said again. */
  givenBack: v.optional(v.number()),
  /** If the lane leaves, the process ends. */
  closes: v.optional(v.boolean()),
  /** It receives: lanes are told that were handed over by a later commit. */
  receivedUpTo: v.optional(v.int64()),
});
export type ProcessReport = Infer<typeof vProcessReport>;

/** One call of a lane. */
export const vLaneStep = v.object({
  lane: v.string(),
  generation: v.number(),
  callSeq: v.number(),
  finished: v.array(vFinished),
  /** Jobs with a mutation for their handler: run in this very transaction. */
  execute: v.array(vLease),
  /** The last call whose answer the lane received: it does not yet know the jobs that later calls claimed. */
  lastAckedCall: v.number(),
  /** How often in a row it has looked and found nothing. */
  looks: v.number(),
  /** Attempts that have ended in transactions of their own: their leases go. */
  over: v.optional(v.array(vLease)),
  /** When the call was made: a transaction that is run again since it lost knows it by that. */
  sentAt: v.optional(v.number()),
  /** Its row of `handOvers`, until that is known to be deleted. */
  handOver: v.optional(v.string()),
  /** Absent: it runs in a mutation of its own. */
  in: v.optional(vProcessReport),
});
export type LaneStep = Infer<typeof vLaneStep>;

/** One job of a lane in a transaction of its own: how it ended; or, without that, its handler is a mutation, and is run. */
export const vLaneApart = v.object({
  ...vLease.fields,
  finished: v.optional(vFinished),
  /** For that handler, as its claim said. */
  ...{ timeoutMs: v.optional(v.number()), claimableAt: v.optional(v.number()) },
  /** Its callback is told later. */
  deferCallbacks: v.optional(v.boolean()),
});
export type LaneApart = Infer<typeof vLaneApart>;

/** The call that runs a job's mutation so. */
export function apartCallOf({ id, attempt, timeoutMs, claimableAt }: ClaimedJob): LaneApart {
  return {
    ...{ id, attempt },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(claimableAt === undefined ? {} : { claimableAt }),
  };
}

export const vLaneReply = v.object({
  answers: v.array(vAnswer),
  jobs: v.array(vLaneJob),
  /** In how many milliseconds it is to look again; `null`: when something ends. */
  lookAfterMs: v.union(v.number(), v.null()),
  /** It takes nothing more: it ends with its last job. */
  isOver: v.boolean(),
  /** Places that its process got, beyond the ones it had. */
  given: v.optional(v.number()),
  /** Its process has ended with it. */
  isClosed: v.optional(v.boolean()),
  handedOver: v.optional(vHandedOver),
  /** A sweep is late: its process has the work tended. */
  isLate: v.optional(v.boolean()),
});
export type LaneReply = Infer<typeof vLaneReply>;
