/**
 * The two ways a call can go wrong. A failure of the app's code is a `FunctionError`, and becomes a result that the
 * client sees; a refusal or failure of the platform is a `PlatformError`, and becomes an HTTP status or a closed
 * socket.
 */
import type { JSONValue } from "convex/values";
import type { PlatformErrorInfo } from "./types.js";

/** The platform refuses or fails: status, a code for programs, a sentence for readers. */
export class PlatformError extends Error implements PlatformErrorInfo {
  override readonly name = "PlatformError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** App code threw, or its arguments or its result were refused. `data` is a `ConvexError`'s, in its JSON encoding. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";

  constructor(
    message: string,
    readonly data?: JSONValue,
  ) {
    super(message);
  }
}
