/** The two ways in which a commit is refused although its function did nothing wrong: run it again on a new snapshot. */
import type { ConflictInfo, Ts } from "./types.js";

/** Another commit wrote into this transaction's read set. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  constructor(readonly conflict: ConflictInfo) {
    super(
      `Document "${conflict.id}" of table "${conflict.table}", which this transaction depends on, was changed by ` +
        `"${conflict.source}" at ${conflict.ts}. Run the transaction again on a new snapshot.`,
    );
  }
}

/**
 * The retained past no longer reaches back so far: neither the write log, by which a commit is validated, nor
 * snapshots.
 */
export class OutOfRetentionError extends Error {
  override readonly name = "OutOfRetention";

  static validating(beginTs: Ts, retainedSince: Ts): OutOfRetentionError {
    return new OutOfRetentionError(
      `OutOfRetention: a transaction that began at ${beginTs} cannot be validated, because commits up to ` +
        `${retainedSince} have left the write log. Run it again on a new snapshot.`,
    );
  }

  static reading(ts: Ts, latest: Ts): OutOfRetentionError {
    return new OutOfRetentionError(
      `OutOfRetention: nothing can be read at ${ts} any more, or yet. The latest snapshot is ${latest}: ask for one of ` +
        `the last seconds.`,
    );
  }
}
