/** A push that is refused because of its content: status 400, with a code for programs and a text the CLI prints. */
import { PlatformError } from "../functions/errors.js";

export type FailureCode =
  | "AuthConfigMissingEnvironmentVariable"
  | "InvalidDefinition"
  | "InvalidModules"
  | "InvalidCron"
  | "InvalidSchema"
  | "InvalidEnvironmentVariable"
  | "EnvVarLimitMet"
  | "MissingEnvironmentVariables"
  | "RaceDetected"
  | "UnsupportedByLocalBackend"
  | "UnknownPush";

export function failure(code: FailureCode, message: string): PlatformError {
  return new PlatformError(400, code, message);
}

/** An error of an app's code, which may come from another context and need not be an Error at all. */
export function describe(thrown: unknown): string {
  if (typeof thrown === "object" && thrown !== null && "message" in thrown) {
    const error = thrown as { name?: unknown; message: unknown };
    const name = typeof error.name === "string" ? error.name : "Error";
    return `${name}: ${String(error.message)}`;
  }
  return String(thrown);
}
