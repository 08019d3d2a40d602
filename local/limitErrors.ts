/**
 * What goes wrong when a transaction goes over one of its limits, in the platform's words. It knows nothing of who counts.
 */
import type { TransactionLimits } from "./limits.js";

/** What the platform adds where less reading would help (reads.rs). */
const READ_LESS =
  "Consider using smaller limits in your queries, paginating your queries, or using indexed queries with a " +
  "selective index range expressions.";

/** What a function is told when it goes over a limit: the platform's code, its words, and the way out. */
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
 * mistake (errors/lib.rs: `is_deterministic_user_error`): what went over was counted and not done.
 */
export class LimitError extends Error {
  override readonly name = "LimitError";
  readonly code: string;

  /** `allowed` is what held where it happened; `global` what the platform allows in all. */
  constructor(
    readonly limit: keyof TransactionLimits,
    allowed: TransactionLimits,
    global: TransactionLimits,
  ) {
    const { code, text, unit = "", help } = OVERRUNS[limit];
    const lowered =
      allowed[limit] < global[limit]
        ? ` The call was given less: transactionLimits.${limit}, on top of what was used before it.`
        : "";
    super(`${code}: ${text} (limit: ${allowed[limit]}${unit}). ${help}${lowered}`);
    this.code = code;
  }
}

/** The platform's own bookkeeping went over: nobody in the function can catch this. */
export class SystemLimitError extends Error {
  override readonly name = "SystemLimitError";
}
