/**
 * How much one report may read. Most of it is the output and log entries of earlier attempts, which make room for what it brings.
 * A call that has none of these to delete has room for all that it may bring.
 */
import {
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  OUTPUT_PART_MAX_BYTES,
  OUTPUT_ROWS_DROPPED,
  PLATFORM_TRANSACTION_BYTES,
  PLATFORM_TRANSACTION_READS,
} from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";

/** Less than half of a transaction. */
const BYTES = PLATFORM_TRANSACTION_BYTES / 2 - 2 ** 19;
const RANGES = PLATFORM_TRANSACTION_READS / 2 - 2 ** 5;

/** The largest reads for one lease: five times a part of output, its job, its progress twice, two log entries. */
const LEASE_BYTES = 6 * OUTPUT_PART_MAX_BYTES;
const LEASE_RANGES = OUTPUT_ROWS_DROPPED + 2 ** 4;
/** For each log entry: one that is changed, or goes, is read twice. */
const LOG_BYTES = 2 * (LOG_MESSAGE_MAX_BYTES + LOG_DATA_MAX_BYTES + 2 ** 8);
const LOG_RANGES = 2;

/** Whether a lease with so many log entries may be recorded, whatever is stored of its job. */
export async function hasRoom(ctx: MutationCtx, logs: number): Promise<boolean> {
  const { bytesRead, databaseQueries } = await ctx.meta.getTransactionMetrics();
  return (
    bytesRead.used + LEASE_BYTES + logs * LOG_BYTES <= BYTES &&
    databaseQueries.used + LEASE_RANGES + logs * LOG_RANGES <= RANGES
  );
}

/** Whether a lease that is being recorded may have one more part of earlier output deleted. */
export async function mayDrop(ctx: MutationCtx): Promise<boolean> {
  const { bytesRead } = await ctx.meta.getTransactionMetrics();
  return bytesRead.used + LEASE_BYTES <= BYTES;
}
