/** Calling a handler: what it is called with, and what its end means as an outcome. */
import type { FunctionHandle, GenericActionCtx, GenericDataModel } from "convex/server";
import { ConvexError, type Value } from "convex/values";
import {
  conveyorError,
  ERROR_MAX_BYTES,
  errorText,
  type ClaimedJob,
  type Handler,
  type LaneJob,
  type Outcome,
} from "../shared/index.js";

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
      "Make the payload an object whose fields are the handler's arguments.",
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

/** Runs a handler that is an action or a query. Never throws. */
export async function runByHandle(ctx: Runs, { job, handler }: LaneJob): Promise<Outcome> {
  if (handler === undefined) return noHandler(job);
  try {
    const args = argsFor(handler, job);
    const result: unknown =
      handler.kind === "query"
        ? await ctx.runQuery(handler.handle as FunctionHandle<"query">, args)
        : await ctx.runAction(handler.handle as FunctionHandle<"action">, args);
    return { kind: "succeeded", result: result ?? null };
  } catch (error) {
    return outcomeOfThrown(error, errorText(error));
  }
}

export function noHandler({ queue }: ClaimedJob): Outcome {
  return {
    kind: "failed",
    error:
      `The queue "${queue}" is worked off by Convex, and neither it nor this job says what works on it. ` +
      "Give the queue a `handler`, or enqueue the job with one.",
    retryable: false,
  };
}

/** The platform had no room for the handler, or does not know it yet: it was never begun. */
const NOT_BEGUN = /Too many concurrent|TooManyConcurrentRequests|Could not find function/;
/** How long such a job waits, at random up to twice this. */
const NOT_BEGUN_WAIT_MS = 1_000;

/** What a handler that threw asks for: usually nothing, and it has failed. */
export function outcomeOfThrown(error: unknown, text: string): Outcome {
  if (NOT_BEGUN.test(text)) {
    return { kind: "snoozed", runAfter: NOT_BEGUN_WAIT_MS * (0.5 + Math.random()) };
  }
  const message = text === "" ? "The handler threw without a message." : text;
  const failed = { kind: "failed" as const, error: message.slice(0, ERROR_MAX_BYTES) };
  const asked = askedBy(error);
  return { ...failed, ...asked };
}

function askedBy(error: unknown): { retryable?: boolean; error?: string } {
  if (!(error instanceof ConvexError)) return {};
  const data: unknown = error.data;
  if (typeof data !== "object" || data === null || !("conveyor" in data)) return {};
  const { conveyor, message } = data as { conveyor: unknown; message?: unknown };
  if (conveyor !== "nonRetryable") return {};
  return { retryable: false, ...(typeof message === "string" ? { error: message } : {}) };
}
