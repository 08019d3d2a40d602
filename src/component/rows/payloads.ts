/**
 * Where payloads and results lie, and how large they may be. The only writer of `payloads`, and its only reader.
 *
 * `discardRow` reads for real and writes: the row that it deletes. Conflicts with: nothing.
 */
import { getConvexSize, v, type Infer, type Value } from "convex/values";
import {
  ARRAY_MAX_ELEMENTS,
  cutText,
  ERROR_MAX_BYTES,
  INLINE_MAX_BYTES,
  isTooDeep,
  isTooWide,
  OBJECT_MAX_FIELDS,
  PAYLOAD_MAX_BYTES,
  PAYLOAD_MAX_DEPTH,
  PAYLOADS_READ_BYTES,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import {
  internalMutation,
  type DatabaseReader,
  type DatabaseWriter,
  type MutationCtx,
} from "../_generated/server.js";
import type { vStored } from "./stored.js";

/** Our own notes are shorter. */
const NOTE_MAX_BYTES = 512;

export type Stored = Infer<typeof vStored>;

/**
 * Puts a value where it belongs by its size, which must have been checked. `deeper`: so many levels more than in its job's row lie
 * above it in another row that is to hold it, as a result in that of a callback which is owed.
 */
export async function store(db: DatabaseWriter, value: Value, deeper = 0): Promise<Stored> {
  const bytes = getConvexSize(value);
  const isInline = bytes <= INLINE_MAX_BYTES && !isTooDeep(value, PAYLOAD_MAX_DEPTH - deeper);
  if (isInline) return { inline: value };
  return { row: await db.insert("payloads", { value }), bytes };
}

/** The size of the value, in bytes. */
export function sizeOf(stored: Stored): number {
  return "inline" in stored ? getConvexSize(stored.inline as Value) : stored.bytes;
}

/** The value, wherever it lies. */
export async function load(db: DatabaseReader, stored: Stored): Promise<Value> {
  if ("inline" in stored) return stored.inline as Value;
  const row = await db.get("payloads", stored.row);
  return (row?.value ?? null) as Value;
}

/** Deletes the value if it lies outside the row that names it. */
export async function discard(ctx: MutationCtx, stored: Stored | undefined): Promise<void> {
  if (stored === undefined || "inline" in stored) return;
  if (!(await hasReadMuch(ctx))) return await deletePayload(ctx.db, stored.row);
  await ctx.scheduler.runAfter(0, internal.rows.payloads.discardRow, { row: stored.row });
}

/** Deletes a row for which one transaction had no room. */
export const discardRow = internalMutation({
  args: { row: v.id("payloads") },
  returns: v.null(),
  handler: async (ctx, { row }): Promise<null> => {
    await deletePayload(ctx.db, row);
    return null;
  },
});

/** Whether the transaction has read so much that another payload is for another one. */
export async function hasReadMuch(ctx: MutationCtx): Promise<boolean> {
  const { bytesRead } = await ctx.meta.getTransactionMetrics();
  return bytesRead.used > PAYLOADS_READ_BYTES;
}

/** Deletes the row, if it is still there. Not read before: to delete a row is to read it, and it may have a megabyte. */
export async function deletePayload(db: DatabaseWriter, row: Id<"payloads">): Promise<void> {
  try {
    await db.delete("payloads", row);
  } catch {
    // A job that shared it has deleted it already.
  }
}

/**
 * Why a result cannot be stored, or `null` if it can. Not an exception: the work is done, and the other outcomes of
 * the batch must stand.
 */
export function whyNotStorable(result: Value): string | null {
  const bytes = getConvexSize(result);
  if (bytes > PAYLOAD_MAX_BYTES) {
    return (
      `The handler's result is ${bytes} bytes; a result may be up to ${PAYLOAD_MAX_BYTES}. ` +
      "Put it into file storage, and return its id."
    );
  }
  if (isTooDeep(result)) {
    return (
      `The handler's result is nested more than ${PAYLOAD_MAX_DEPTH} levels deep. ` +
      "Flatten it, or return it as one JSON string."
    );
  }
  if (isTooWide(result)) {
    return (
      `The handler's result has an array of more than ${ARRAY_MAX_ELEMENTS} elements or an object of more than ` +
      `${OBJECT_MAX_FIELDS} fields. Return it as one JSON string.`
    );
  }
  return null;
}

/** Whether the platform's bounds on depth and width let a value into a row. Its size is another matter. */
export function isStorable(value: Value): boolean {
  return !isTooDeep(value) && !isTooWide(value);
}

/** Cuts an error to the size that a job's row may carry. */
export function cutError(error: string, max: number = ERROR_MAX_BYTES): string {
  return cutText(error, max);
}

/** An error with a note, which is never cut. */
export function noted(error: string, note: string | null): string {
  if (note === null) return error;
  return `${cutError(error, ERROR_MAX_BYTES - NOTE_MAX_BYTES)} (${note})`;
}
