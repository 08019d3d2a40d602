/** The option `batch` of a handler: its form and its bounds. Pure. */
import { checkInteger } from "./checks.js";
import { conveyorError } from "./errors.js";
import { LEASES_MAX } from "./limits.js";

/** Jobs of one batch to a handler: all of them are leases of one session. */
export const BATCH_SIZE_MAX = LEASES_MAX;
/** How long the first job of a batch waits for others: less than people notice in work that is done in batches. */
export const BATCH_WAIT_DEFAULT_MS = 500;
/** The longest such wait. Jobs that are to wait for more than that are better enqueued later. */
export const BATCH_WAIT_MAX_MS = 60_000;

/** How jobs are gathered for a handler that takes several at once. */
export interface Batching {
  /** The jobs of a full batch, 1 to 64. A full batch begins at once. */
  size: number;
  /**
   * How long the oldest job of a batch waits for others, in milliseconds, 0 to 60,000, from its claim on. Then the batch begins
   * as it is. The job's `timeoutMs` includes this wait, which takes half of it at most.
   * @default 500
   */
  waitMs?: number;
  /** `"group"`: a batch has jobs of one group alone, or jobs without a group. */
  by?: "group";
}

/** The options with defaults. */
export type CheckedBatching = { size: number; waitMs: number; by?: "group" };

/** `of` names the handler in errors, as in "the queue \"emails\"". */
export function checkBatch(of: string, given: unknown): CheckedBatching {
  if (typeof given !== "object" || given === null) throw noBatch(of, given);
  const { size, waitMs = BATCH_WAIT_DEFAULT_MS, by } = given as Batching;
  checkInteger(`batch.size of ${of}`, size, 1, BATCH_SIZE_MAX);
  checkInteger(`batch.waitMs of ${of}`, waitMs, 0, BATCH_WAIT_MAX_MS);
  if (by !== undefined && by !== "group") throw noBy(of, by);
  return { size, waitMs, ...(by === undefined ? {} : { by }) };
}

function noBatch(of: string, got: unknown): Error {
  return conveyorError(
    "invalidArgument",
    `batch of ${of} must be an object; got ${got === null ? "null" : typeof got}. Write \`batch: { size: 50, waitMs: 500 }\`.`,
    { argument: "batch" },
  );
}

function noBy(of: string, by: unknown): Error {
  return conveyorError(
    "invalidArgument",
    `batch.by of ${of} must be "group"; got ${String(JSON.stringify(by))}. Leave it out for batches of any jobs of the queue.`,
    { argument: "batch.by" },
  );
}
