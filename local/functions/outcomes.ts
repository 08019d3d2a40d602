/** From a function's end to its caller's answer: results for failures of the app, completions for the log. */
import type { JSONValue } from "convex/values";
import { Account, type Spent } from "./account.js";
import { FunctionError, PlatformError } from "./errors.js";
import type { Services } from "./scope.js";
import type { Completion, FunctionAddress, FunctionResult, LogLine } from "./types.js";

/** A failure of the app is a result; a failure of the platform goes on as the error it is. */
export async function resultOf(
  run: () => Promise<JSONValue>,
  logs: readonly LogLine[],
): Promise<FunctionResult> {
  try {
    const value = await run();
    return { ok: true, value, logs: textOf(logs) };
  } catch (error) {
    return failureOf(error, logs);
  }
}

function failureOf(error: unknown, logs: readonly LogLine[]): FunctionResult {
  if (!(error instanceof FunctionError)) throw error;
  const { message, data } = error;
  return { ok: false, message, ...(data === undefined ? {} : { data }), logs: textOf(logs) };
}

function textOf(logs: readonly LogLine[]): string[] {
  return logs.map(({ text }) => text);
}

/** The result for an action that called a function: the value, or an error that it may catch. */
export function valueOf(result: FunctionResult): JSONValue {
  if (result.ok) return result.value;
  throw new FunctionError(result.message, ...(result.data === undefined ? [] : [result.data]));
}

/** Measures an execution from here, and tells of its end; `thrown` is the platform's error. */
export function completionOf(
  { env, events }: Services,
  address: FunctionAddress,
  udfType: Completion["udfType"],
  requestId: string,
  scheduled: boolean,
): (
  end: Pick<Completion, "logs"> &
    Partial<Pick<Completion, "cached" | "spent">> & {
      error?: string | undefined;
      thrown?: unknown;
    },
) => void {
  const startedAt = env.now();
  return ({ logs, spent = new Account(), cached = false, error, thrown }) =>
    events.completed({
      address,
      udfType,
      requestId,
      startedAt,
      durationMs: env.now() - startedAt,
      ...(error === undefined ? {} : { error }),
      logs,
      conflicts: spent.lostTo.length,
      billed: billedCalls(spent, thrown),
      cached,
      refused: isRefusal(thrown),
      spent,
      scheduled,
    });
}

/**
 * Each attempt that lost to another commit is a call, and so is the one that ended, with an error or without; a query's
 * answer from the cache is one too. An attempt that the platform itself refused or failed at is none. function_log.rs:
 * _log_query, _log_mutation (TrackUsage); usage_limits/src/recorder.rs: usage_deltas.
 */
function billedCalls({ lostTo }: Spent, thrown: unknown): number {
  return lostTo.length + (thrown === undefined ? 1 : 0);
}

/**
 * Too busy to begin: no permit came free, or too much was being written. A function that ran and failed is reported
 * otherwise.
 */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof PlatformError && thrown.status === 429;
}
