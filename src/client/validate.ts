/**
 * Checks payloads and results against a queue's validators. Pure.
 *
 * It is done here and not by the platform's argument validators, because those answer with a sentence only: ours says
 * which queue, which field, what was expected and what came, in a form that programs can read.
 */
import { validate } from "convex-helpers/validators";
import type { GenericDatabaseReader } from "convex/server";
import { conveyorError } from "../shared/index.js";
import type { ValueValidator } from "./types.js";

interface Mismatch {
  /** Where in the value, as in `payload.size.width`. */
  path: string;
  expected: string;
  got: string;
}

/** What is wrong with the value, or null. With `db`, ids must be of their table, and not only strings. */
export function findMismatch(
  validator: ValueValidator,
  value: unknown,
  root: string,
  db?: GenericDatabaseReader<any>,
): Mismatch | null {
  try {
    if (validate(validator, value, { throw: true, _pathPrefix: root, ...(db && { db }) }))
      return null;
    return { path: root, expected: plain(validator.kind), got: typeof value };
  } catch (error) {
    if (!isMismatch(error)) throw error;
    return { path: error.path ?? root, expected: plain(error.expected), got: plain(error.got) };
  }
}

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

/** Refuses a context with `invalidPayload`. */
export function checkContext(queue: string, validator: ValueValidator, context: unknown): void {
  refuse(queue, "context", findMismatch(validator, context, "context"));
}

function refuse(queue: string, what: "payload" | "context", mismatch: Mismatch | null): void {
  if (mismatch === null) return;
  const { path, expected, got } = mismatch;
  throw conveyorError(
    "invalidPayload",
    `The ${what} does not fit the queue "${queue}": ${path} must be ${expected}, got ${got}. ` +
      `Correct the ${what}, or the \`${what}\` validator in the queue's definition.`,
    { queue, path, expected, got },
  );
}

/** Why a result does not fit, as an error message of the job; null when it fits. */
export function explainBadResult(
  queue: string,
  validator: ValueValidator,
  result: unknown,
): string | null {
  const mismatch = findMismatch(validator, result, "result");
  if (mismatch === null) return null;
  return (
    `The handler's result does not fit the queue "${queue}": ${mismatch.path} must be ${mismatch.expected}, ` +
    `got ${mismatch.got}. The job counts as failed.`
  );
}

/** Validators name numbers by how they are stored, values by what they are; people need one word. */
function plain(kind: unknown): string {
  return kind === "float64" ? "number" : kind === "int64" ? "bigint" : String(kind);
}

/** By shape and not by class, since a bundle may hold two copies of it. */
function isMismatch(error: unknown): error is { expected: unknown; got: unknown; path?: string } {
  return error instanceof Error && "expected" in error && "got" in error;
}
