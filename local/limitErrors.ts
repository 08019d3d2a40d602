/**
 * The errors of a transaction that goes over one of its limits, in the platform's words. It does not know the counters.
 */
import type { TransactionLimits } from "./limits.js";

/** The platform's hint where less reading would help (reads.rs). */
const READ_LESS =
  "Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a " +
  "selective index range expressions.";

/** A function's error when it goes over a limit: the platform's code, its words, and the way out. */
const OVERRUNS: Record<
  keyof TransactionLimits,
  { code: string; text: string; unit?: string; help: string }
> = {
  documentsRead: {
    code: "TooManyDocumentsRead",
    text: "Too many documents read in a single function execution",
    help: READ_LESS,
  },
  bytesRead: {
    code: "TooManyBytesRead",
    text: "Too many bytes read in a single function execution",
    unit: " bytes",
    help: READ_LESS,
  },
  databaseQueries: {
    code: "TooManyReads",
    text: "Too many reads in a single function execution",
    help: READ_LESS,
  },
  documentsWritten: {
    code: "TooManyWrites",
    text: "Too many writes in a single function execution",
    help: "Write in several mutations.",
  },
  bytesWritten: {
    code: "TooManyBytesWritten",
    text: "Too many bytes written in a single function execution",
    unit: " bytes",
    help: "Write in several mutations, or keep large data in file storage.",
  },
  functionsScheduled: {
    code: "TooManyFunctionsScheduled",
    text: "Too many functions scheduled by this mutation",
    help: "Schedule fewer that each do more.",
  },
  scheduledFunctionArgsBytes: {
    code: "ScheduledFunctionsArgumentsTooLarge",
    text: "Too large total size of the arguments of scheduled functions from this mutation",
    unit: " bytes",
    help: "Store them in documents and pass their ids.",
  },
};

/**
 * A transaction went over a limit. The function can catch it, as on the platform, where it counts as the function's own
 * mistake (errors/lib.rs: `is_deterministic_user_error`): the excess was counted and not done.
 */
export class LimitError extends Error {
  override readonly name = "LimitError";
  readonly code: string;

  /** `allowed` is the limit in force there; `global` the platform's own. */
  constructor(
    readonly limit: keyof TransactionLimits,
    allowed: TransactionLimits,
    global: TransactionLimits,
  ) {
    const { code, text, unit = "", help } = OVERRUNS[limit];
    const lowered =
      allowed[limit] < global[limit]
        ? ` The call was given less: transactionLimits.${limit}, on top of the transaction's earlier use.`
        : "";
    super(`${code}: ${text} (limit: ${allowed[limit]}${unit}). ${help}${lowered}`);
    this.code = code;
  }
}

/** The platform's own bookkeeping went over: no code in the function can catch this. */
export class SystemLimitError extends Error {
  override readonly name = "SystemLimitError";
}
