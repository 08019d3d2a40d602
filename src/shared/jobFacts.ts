/** The facts of a job that every handler gets beside the payload, inside Convex and outside. Pure. */
import { v, type Infer } from "convex/values";
import { COST_DEFAULT } from "./limits.js";
import { PRIORITY_DEFAULT } from "./order.js";
import type { ClaimedJob } from "./protocol.js";

export const vJobFacts = v.object({
  id: v.string(),
  queue: v.string(),
  /** 1 for the first time, one more at every claim. */
  attempt: v.number(),
  /** How often a handler failed before. */
  failures: v.number(),
  /** How often a worker or lane was lost with it before. */
  resets: v.number(),
  /** In milliseconds since 1970, by the deployment's clock. */
  enqueuedAt: v.number(),
  /** The same for all attempts of the job; in a circular queue another with each round. */
  idempotencyKey: v.string(),
  /** How long this attempt may run, in milliseconds. */
  timeoutMs: v.optional(v.number()),
  name: v.optional(v.string()),
  priority: v.number(),
  group: v.optional(v.string()),
  tags: v.array(v.string()),
  labels: v.array(v.string()),
  cost: v.number(),
  /** In a circular queue: how often the item was worked on before. */
  rounds: v.number(),
  /** Of the attempt's span, or else as given to `enqueue`. */
  traceparent: v.optional(v.string()),
  /** When it last became claimable, of a job with a `traceparent`. */
  claimableAt: v.optional(v.number()),
});
export type JobFacts = Infer<typeof vJobFacts>;

/** The facts of a claimed job: absent fields have their defaults. */
export function factsOf(job: Omit<ClaimedJob, "payload" | "leaseMs">): JobFacts {
  const { id, queue, attempt, failures, resets, enqueuedAt, timeoutMs, name, group } = job;
  const { traceparent, claimableAt } = job;
  return {
    ...{ id, queue, attempt, failures, resets, enqueuedAt },
    // Each round of a circular queue is due once more: a key for all rounds would hide the later ones.
    idempotencyKey: job.rounds === undefined ? id : `${id}:${job.rounds}`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(name === undefined ? {} : { name }),
    ...(group === undefined ? {} : { group }),
    priority: job.priority ?? PRIORITY_DEFAULT,
    tags: job.tags ?? [],
    labels: job.labels ?? [],
    cost: job.cost ?? COST_DEFAULT,
    rounds: job.rounds ?? 0,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(claimableAt === undefined ? {} : { claimableAt }),
  };
}
