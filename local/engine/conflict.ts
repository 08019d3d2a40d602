/** The two ways in which a commit is refused although its function did nothing wrong: run it again on a new snapshot. */
import type { ConflictInfo, Ts } from "./types.js";

/** Another commit wrote what this transaction had read. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  constructor(readonly conflict: ConflictInfo) {
    super(
      `Document "${conflict.id}" of table "${conflict.table}", which this transaction depends on, was changed by ` +
        `"${conflict.source}" at ${conflict.ts}. Run the transaction again on a new snapshot.`,
    );
  }
}

/** The write log no longer reaches back to where this transaction began, so it cannot be validated. */
export class OutOfRetentionError extends Error {
  override readonly name = "OutOfRetention";
  constructor(beginTs: Ts, retainedSince: Ts) {
    super(
      `OutOfRetention: a transaction that began at ${beginTs} cannot be validated, because commits up to ` +
        `${retainedSince} have left the write log. Run it again on a new snapshot.`,
    );
  }
}
