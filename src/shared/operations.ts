/**
 * The operations on queues, jobs and tokens by name: the arguments of each operation, which the component registers
 * (`operate.ts`) and `conveyor.operations()` builds for an app. One list, so that both take the same. Pure.
 */
import { v } from "convex/values";
import { vJobFilter } from "./operating.js";
import { vGroupScope } from "./tokenScope.js";
import { vQueueOverrides } from "./protocol.js";

const queue = { queue: v.string() };
/** With `queue`, a job of that one only. */
const job = { id: v.string(), queue: v.optional(v.string()) };
const many = {
  ...queue,
  filter: vJobFilter,
  /** Why, for workers that are asked to stop and for `onComplete`. */
  reason: v.optional(v.string()),
  /** As the last reply had it: asks for the next step. */
  cursor: v.optional(v.string()),
  /** How many jobs this step may change (100, at most 100). */
  limit: v.optional(v.number()),
  /** `false`: nothing goes on by itself. */
  goOn: v.optional(v.boolean()),
};
const task = { ...queue, task: v.string() };
const names = v.optional(v.union(v.array(v.string()), v.null()));

/** The arguments of operations that change. */
export const CHANGE_ARGS = {
  pauseQueue: queue,
  resumeQueue: queue,
  drainQueue: queue,
  configureQueue: { ...queue, overrides: vQueueOverrides },
  resetConfig: { ...queue, fields: v.optional(v.array(v.string())) },
  pauseJob: job,
  resumeJob: job,
  cancelJob: { ...job, reason: v.optional(v.string()) },
  retryJob: job,
  deleteJob: job,
  cancelMany: many,
  retryMany: many,
  deleteMany: many,
  stopTask: task,
  quietWorker: { id: v.string() },
  resumeWorker: { id: v.string() },
  createToken: {
    name: v.string(),
    queues: names,
    groups: v.optional(v.union(vGroupScope, v.null())),
  },
  rotateToken: { id: v.string(), graceMs: v.optional(v.number()) },
  revokeToken: { id: v.string() },
};

/** The arguments of operations that only read. */
export const LOOK_ARGS = {
  queueState: queue,
  events: { queue: v.optional(v.string()), limit: v.optional(v.number()) },
  taskState: task,
  listTokens: { after: v.optional(v.string()) },
};
