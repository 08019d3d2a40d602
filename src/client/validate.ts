/**
 * Checks payloads, contexts and progress values against a queue's validators. Pure.
 *
 * It is done here and not by the platform's argument validators, because their answer is a sentence only: ours has the
 * queue, the field, the expectation and the value, in a form that programs can read.
 */
import type { GenericDatabaseReader } from "convex/server";
import { conveyorError, findUnstorable } from "../shared/index.js";
import { findMismatch, type Mismatch } from "../shared/mismatch.js";
import type { ValueValidator } from "./types.js";

/** Refuses a payload with `invalidPayload`. `root` names it in the message: `payload`, or `payloads[3]`. */
export function checkPayload(
  queue: string,
  validator: ValueValidator,
  payload: unknown,
  root = "payload",
  db?: GenericDatabaseReader<any>,
): void {
  refuse(queue, "payload", findMismatch(validator, payload, root, db));
}

/** Refuses a context with `invalidPayload`: one that its `onComplete` could not take. */
export function checkContext(
  queue: string,
  validator: ValueValidator,
  context: unknown,
  db?: GenericDatabaseReader<any>,
): void {
  refuse(queue, "context", findMismatch(validator, context, "context", db));
}

/** Refuses a progress value with `invalidPayload`. */
export function checkProgress(queue: string, validator: ValueValidator, value: unknown): void {
  refuse(queue, "progress", findMismatch(validator, value, "progress"));
}

function refuse(
  queue: string,
  what: "payload" | "context" | "progress",
  mismatch: Mismatch | null,
): void {
  if (mismatch === null) return;
  const { path, expected, got } = mismatch;
  // The library's word for a field that no validator names.
  const isExtra = expected === "nothing";
  throw conveyorError(
    "invalidPayload",
    `The ${what} does not fit the queue "${queue}": ` +
      (isExtra
        ? `${path} is no field of its validator, got ${got}. Leave the field out, or add it to `
        : `${path} must be ${expected}, got ${inWords(expected, got)}. Correct the ${what}, or `) +
      `the \`${what}\` validator in the queue's definition.`,
    { queue, path, expected, got },
  );
}

/** An id is a string too: the fault is in its value. */
function inWords(expected: string, got: string): string {
  if (got === "undefined") return "nothing";
  return expected.startsWith("Id<") && got === "string" ? "a string that is no such id" : got;
}

/** Refuses values that no validator sees, as under `v.any()`: a value in it that Convex cannot store. */
export function checkValue(
  queue: string,
  what: "payload" | "context",
  value: unknown,
  root: string,
): void {
  const found = findUnstorable(value, root);
  if (found === null) return;
  const { path, got, instead } = found;
  throw conveyorError(
    "invalidPayload",
    `The ${what} for the queue "${queue}" has a value that Convex cannot store: ${path} is ${got}. ${instead}`,
    { queue, path, got },
  );
}

/** Of a mutation's context. */
export function databaseOf(ctx: object): GenericDatabaseReader<any> | undefined {
  const { db } = ctx as { db?: GenericDatabaseReader<any> };
  return typeof db?.normalizeId === "function" ? db : undefined;
}
