/** Calling a handler: its arguments, and its end as an outcome. */
import type { FunctionHandle, GenericActionCtx, GenericDataModel } from "convex/server";
import type { Value } from "convex/values";
import {
  conveyorError,
  factsOf,
  INLINE_OPEN_MS,
  LANE_RESULT,
  errorText,
  type ClaimedJob,
  type Finished,
  type Handler,
  type LaneJob,
  type Outcome,
} from "../shared/index.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { outcomeOfError, outcomeOfValue, tooLong } from "../worker/outcome.js";
import { blameless } from "./blameless.js";
import type { Report } from "../worker/transport.js";
import type { Ended } from "./inline.js";

/** The arguments of a handler's function. */
export function argsFor(
  { takes }: Handler,
  { payload, ...job }: ClaimedJob,
): Record<string, Value> {
  if (takes === "job") return { payload: payload as Value, job: factsOf(job) };
  if (isObject(payload)) return payload;
  throw conveyorError(
    "invalidPayload",
    "The payload of this job is no object, and its handler takes the payload as its arguments. " +
      "Make the payload an object with the handler's arguments as fields, or give the handler as " +
      "`{ action: …, job: true }`.",
  );
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
): Promise<Ended> {
  // A deploy has taken it away since the job was claimed: the job is for workers outside.
  if (handler === undefined) return { outcome: { kind: "released" } };
  // The queue was given an inline handler while this lane ran: the next lane runs in that.
  if (handler.kind === "inline") return { outcome: { kind: "snoozed", runAfter: INLINE_OPEN_MS } };
  return await within(job.timeoutMs, call(ctx, job, handler), clock);
}

async function call(ctx: Runs, job: ClaimedJob, handler: Handler): Promise<Ended> {
  try {
    const args = argsFor(handler, job);
    const result: unknown =
      handler.kind === "query"
        ? await ctx.runQuery(handler.handle as FunctionHandle<"query">, args)
        : await ctx.runAction(handler.handle as FunctionHandle<"action">, args);
    const { value, follows } = apart(handler, result);
    const outcome = outcomeOfValue(value);
    return outcome.kind === "succeeded" && follows !== undefined
      ? { outcome, follows }
      : { outcome };
  } catch (error) {
    return { outcome: mismatched(handler, error) ?? outcomeOfThrown(error, job) };
  }
}

/**
 * A result with jobs that follow it, or a plain result. Only a function that a queue has made returns jobs to follow: of any
 * other function the object is the result.
 */
export function apart(
  { takes }: Pick<Handler, "takes">,
  result: unknown,
): { value: unknown; follows?: Finished["continued"] } {
  if (takes !== "job" || !isObject(result) || !(LANE_RESULT in result)) return { value: result };
  const { [LANE_RESULT]: value, continued } = result;
  return { value, follows: continued as unknown as Finished["continued"] };
}

/** An end as the component takes it, of a handler that has made the jobs that follow. */
export function finishedOf({ id, attempt, outcome, follows }: Report): Finished {
  return { id, attempt, outcome, ...(follows === undefined ? {} : { continued: follows }) };
}

async function within(
  timeoutMs: number | undefined,
  work: Promise<Ended>,
  clock: Clock,
): Promise<Ended> {
  if (timeoutMs === undefined) return await work;
  let forget = () => {};
  const over = new Promise<Ended>((resolve) => {
    forget = clock.after(timeoutMs, () => resolve({ outcome: tooLong(timeoutMs) }));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    forget();
  }
}

/**
 * An error of a function that the handler called reads as the platform's `Uncaught …`, and is a failure like any other.
 */
const OTHER_KIND = /^(?!Uncaught)[^]*Trying to execute (\S+) as (\w+), but it is defined as (\w+)/;
const OTHER_ARGUMENTS =
  /^(?!Uncaught)[^]*(ArgumentValidationError|Validator error)[^]*\b(job|payload|start)\b/;

/** It takes a job, and names the payload as the part that does not fit. */
const OTHER_PAYLOAD = /^Path: \.payload\b/m;

/** Whether the platform says so of the function in which a lane was to run: it does not take one. */
export function isNoLane(error: string): boolean {
  return OTHER_KIND.test(error) || OTHER_ARGUMENTS.test(error);
}

/** A function that the queue did not make, or made as another kind, was never begun: another attempt would not be either. */
export function mismatched({ kind, takes }: Handler, error: unknown): Outcome | null {
  const text = errorText(error);
  const other = OTHER_KIND.exec(text);
  if (other !== null) {
    const [, name, , is] = other;
    const fails = `handlerMismatch: the queue's handler is named as its ${kind}, and ${name} is defined as ${is}.`;
    return { ...failed(`${fails} Name it in the queue's definition with its own kind.`) };
  }
  if (takes !== "job" || !OTHER_ARGUMENTS.test(text)) return null;
  if (OTHER_PAYLOAD.test(text)) {
    return failed(
      `handlerMismatch: the payload does not fit the queue's ${kind}. A deploy has changed the queue's \`payload\` since the job ` +
        `was enqueued, and no longer takes it; or another queue made the ${kind}. ${text}`,
    );
  }
  return failed(
    `handlerMismatch: the queue's ${kind} does not take a job, so that the queue did not make it. Make it with the queue's ` +
      `\`.${kind}(…)\`, or name it with \`handledBy\`. ${text}`,
  );
}

const failed = (error: string): Outcome => ({ kind: "failed", error, retryable: false });

/** The outcome that a handler's error asks for: usually nothing, and it has failed. */
export function outcomeOfThrown(
  error: unknown,
  job: Pick<ClaimedJob, "attempt" | "failures">,
): Outcome {
  return blameless(error, job) ?? outcomeOfError(error);
}
