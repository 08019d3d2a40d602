/**
 * Runs handlers that are mutations, in the transaction that records how they ended: a handler's writes, its job's end
 * and the writes of `onComplete` change together or not at all, exactly once.
 *
 * A handler that throws has written nothing: its sub-transaction is undone, and the failure recorded beside it. One
 * that brings the whole transaction down is run alone by its lane. If it uses up a limit there too, a transaction of its
 * own reports it as failed. If it conflicts, it is repeated apart (`laneApart.ts`) until it commits: a conflict is no failure.
 *
 * Reads for real: each job, the reads of the app's code. Writes: as `recording.ts`; the writes of the app's code.
 * Conflicts with: a transaction that ends the same attempt, requests its cancel or notes a pause; the conflicts of
 * the app's code.
 */
import type { FunctionHandle } from "convex/server";
import { v, type Value } from "convex/values";
import {
  CALLBACK_INLINE_LIMITS,
  checkLength,
  errorText,
  HANDLER_ALONE_LIMITS,
  HANDLERS_PER_STEP,
  NonRetryableError,
  type Answer,
  type Lease,
  type Outcome,
  stackOf,
  vHandler,
} from "../../shared/index.js";
import { apart, argsFor, blameless, mismatched, outcomeOfThrown } from "../../lane/index.js";
import { internal } from "../_generated/api.js";
import { internalMutation } from "../_generated/server.js";
import { describe } from "../claim/leaseBatch.js";
import type { EdgeCtx, PendingCallback } from "../rows/effects.js";
import { rulesOf } from "../rows/jobRules.js";
import { findLease, type HeldLease } from "../rows/sessions.js";
import { aboutJob, log } from "../rows/log.js";
import { cutError, hasReadMuch, load, whyNotStorable } from "../rows/payloads.js";
import type { Queue } from "../rows/queues.js";
import { recordAll, type Holding } from "../attempts/recording.js";
import { whyNoResult } from "./results.js";

/** The platform's words for a transaction that has exceeded a limit. */
const OVER_LIMIT = /Too many (bytes|documents|reads|writes|functions)|TooMany/i;

interface Executed {
  answers: Answer[];
  leases: HeldLease[];
}

/** Of a lane: all its jobs are of `queue`, which this transaction has read. */
export async function executeAll(
  ctx: EdgeCtx,
  session: Holding,
  queue: Queue,
  leases: readonly Lease[],
): Promise<Executed> {
  checkLength("The handlers of a call", leases, 0, HANDLERS_PER_STEP);
  const done: Executed = { answers: [], leases: session.leases };
  const limits = leases.length > 1 ? CALLBACK_INLINE_LIMITS : HANDLER_ALONE_LIMITS;
  for (const [i, { id, attempt }] of leases.entries()) {
    // It has no answer either.
    if (i > 0 && (await hasReadMuch(ctx))) break;
    const current = { ...session, leases: done.leases };
    const executed = await execute(ctx, current, queue, { id, attempt }, limits);
    // It has no answer: its lane runs it alone.
    if (executed === "tooMuch") continue;
    if ("callbacks" in executed) {
      ctx.effects.callbacks.push(...executed.callbacks);
      done.answers.push({ id, attempt, answer: "ok" });
      done.leases = done.leases.filter((lease) => lease !== findLease(current, id, attempt));
      continue;
    }
    const finished = [{ id, attempt, outcome: executed }];
    const recorded = await recordAll(ctx, current, finished, "lane", queue);
    done.answers.push(...recorded.answers);
    done.leases = recorded.leases;
  }
  return done;
}

async function execute(
  ctx: EdgeCtx,
  session: Holding,
  queue: Queue,
  { id, attempt }: Lease,
  transactionLimits: typeof CALLBACK_INLINE_LIMITS,
): Promise<Outcome | Followed | "tooMuch"> {
  const held = findLease(session, id, attempt);
  const job = held === undefined ? null : await ctx.db.get("jobs", held.id);
  if (job?.status !== "running" || job.attempt !== attempt) return { kind: "released" };
  if (job.cancelRequestedAt !== undefined) return { kind: "canceled" };
  const { handler } = await rulesOf(ctx.db, queue, job);
  // A deploy has taken the handler away since the job was claimed, or given another kind: the next claim uses the new
  // one.
  if (handler?.kind !== "mutation") return { kind: "released" };
  try {
    const payload = await load(ctx.db, job.payload);
    const args = argsFor(handler, describe(job, payload, held!, ctx.now));
    const { result: rule } = queue.config;
    const ruled = rule === undefined ? {} : { rule };
    const call = {
      handler,
      args,
      job: job._id,
      attempt,
      queue: queue.name,
      now: ctx.now,
      ...ruled,
    };
    const limits = { transactionLimits };
    const done: { result: Value } | Followed = await ctx.runMutation(
      internal.push.execute.executeOne,
      call,
      limits,
    );
    return "callbacks" in done ? done : { kind: "succeeded", result: done.result };
  } catch (error) {
    if (transactionLimits !== HANDLER_ALONE_LIMITS && OVER_LIMIT.test(errorText(error)))
      return "tooMuch";
    const begun = { attempt, failures: job.failures ?? 0 };
    const message = messageToOne(error);
    const outcome =
      mismatched(handler, message) ?? blameless(message, begun) ?? outcomeOfThrown(error, begun);
    // The job keeps the error. The platform logs nothing of a nested call: the stack is logged here.
    if (outcome.kind === "failed") {
      const about = { ...aboutJob(job), attempt };
      const thrown = { error: cutError(errorText(error)), stack: stackOf(error) };
      log(queue.config, "warn", "handlerThrew", { ...about, ...thrown });
    }
    return outcome;
  }
}

/** The platform's message to the sub-transaction, which throws it on: the prefix of a throw goes. */
function messageToOne(error: unknown): string {
  return errorText(error).replace(/^Uncaught Error: /, "");
}

/** A success that is recorded with the jobs that follow it, and has these callbacks. */
interface Followed {
  callbacks: PendingCallback[];
}

/**
 * The sub-transaction. The handler's error passes through, so that all its writes are undone; as with a bad result, or one that
 * cannot be kept, and with jobs to follow that are refused.
 */
export const executeOne = internalMutation({
  args: {
    handler: vHandler,
    args: v.any(),
    job: v.id("jobs"),
    attempt: v.number(),
    queue: v.string(),
    rule: v.optional(v.string()),
    now: v.number(),
  },
  returns: v.any(),
  handler: async (
    ctx,
    { handler, args, job: id, attempt, queue, rule, now },
  ): Promise<{ result: Value } | Followed> => {
    const reference = handler.handle as FunctionHandle<"mutation", Record<string, Value>>;
    const returned: unknown = await ctx.runMutation(reference, args as Record<string, Value>);
    const { value, follows = [] } = apart(handler, returned);
    const result = (value ?? null) as Value;
    const why = whyNoResult(queue, rule, result);
    if (why !== null) throw new Error(why);
    const unkept = whyNotStorable(result);
    if (unkept !== null) throw new NonRetryableError(unkept);
    const job = follows.length === 0 ? null : await ctx.db.get("jobs", id);
    // One that its handler has deleted has no end, and nothing follows it.
    if (job?.status !== "running" || job.attempt !== attempt) return { result };
    const ended = { outcome: { kind: "succeeded" as const, result }, bySession: true, now };
    const { recordFollowing } = internal.attempts.continued;
    return {
      callbacks: await ctx.runMutation(recordFollowing, { job: id, continued: follows, ...ended }),
    };
  },
});
