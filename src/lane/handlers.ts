/** Calling a handler: what it is called with, and what its end means as an outcome. */
import type { FunctionHandle, GenericActionCtx, GenericDataModel } from "convex/server";
import type { Value } from "convex/values";
import {
  conveyorError,
  INLINE_OPEN_MS,
  type ClaimedJob,
  type Handler,
  type LaneJob,
  type Outcome,
} from "../shared/index.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { outcomeOfError, outcomeOfValue, tooLong } from "../worker/outcome.js";
import { blameless } from "./blameless.js";

/** What a handler with `takes: "job"` is told of its job beside the payload. */
type Told = Pick<ClaimedJob, "id" | "queue" | "attempt" | "failures" | "payload"> &
  Partial<ClaimedJob>;

/** The arguments of a handler's function. */
export function argsFor({ takes }: Handler, { payload, ...job }: Told): Record<string, Value> {
  if (takes === "job") return { payload: payload as Value, job: told(job) };
  if (isObject(payload)) return payload;
  throw conveyorError(
    "invalidPayload",
    "The payload of this job is no object, and its handler takes the payload as its arguments. " +
      "Make the payload an object whose fields are the handler's arguments, or give the handler as " +
      "`{ action: …, job: true }`.",
  );
}

function told({ id, queue, attempt, failures }: Omit<Told, "payload">): Value {
  return { id, queue, attempt, failures };
}

function isObject(value: unknown): value is Record<string, Value> {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) && !(value instanceof ArrayBuffer);
}

type Runs = Pick<GenericActionCtx<GenericDataModel>, "runAction" | "runQuery">;

/**
 * Runs a handler that is an action or a query, and waits no longer than it may run: it cannot be stopped, but its job can
 * go on without it. Never throws.
 */
export async function runByHandle(
  ctx: Runs,
  { job, handler }: LaneJob,
  clock: Clock = systemClock,
): Promise<Outcome> {
  // A deploy has taken it away since the job was claimed: the job is for workers outside.
  if (handler === undefined) return { kind: "released" };
  // The queue was given an inline handler while this lane ran: the next lane runs in that.
  if (handler.kind === "inline") return { kind: "snoozed", runAfter: INLINE_OPEN_MS };
  return await within(job.timeoutMs, call(ctx, job, handler), clock);
}

async function call(ctx: Runs, job: ClaimedJob, handler: Handler): Promise<Outcome> {
  try {
    const args = argsFor(handler, job);
    const result: unknown =
      handler.kind === "query"
        ? await ctx.runQuery(handler.handle as FunctionHandle<"query">, args)
        : await ctx.runAction(handler.handle as FunctionHandle<"action">, args);
    return outcomeOfValue(result);
  } catch (error) {
    return outcomeOfThrown(error, job);
  }
}

async function within(
  timeoutMs: number | undefined,
  work: Promise<Outcome>,
  clock: Clock,
): Promise<Outcome> {
  if (timeoutMs === undefined) return await work;
  let forget = () => {};
  const over = new Promise<Outcome>((resolve) => {
    forget = clock.after(timeoutMs, () => resolve(tooLong(timeoutMs)));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    forget();
  }
}

/** What a handler that threw asks for: usually nothing, and it has failed. */
export function outcomeOfThrown(
  error: unknown,
  job: Pick<ClaimedJob, "attempt" | "failures">,
): Outcome {
  return blameless(error, job) ?? outcomeOfError(error);
}
