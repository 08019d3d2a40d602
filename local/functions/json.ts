/**
 * JSON between a function and the backend, as the platform reads it: half a character in a text, which `JSON.stringify` writes
 * as an escape, is refused with the whole value. serde_json's words: its `parse_escape`; the errors of `syscall` and
 * `deserialize_udf_result` in the platform's isolate.
 */
import type { JSONValue } from "convex/values";
import { PlatformError } from "./errors.js";

/** An escape of a half, after an even number of other backslashes. Whole characters are written as they are. */
const HALF = /(?<!\\)(?:\\\\)*\\u(d[89a-f])/;

/** The arguments of a system call. The function may catch the error. */
export function requireArguments(json: string): void {
  const refusal = refusalOf(json);
  if (refusal !== null) throw new Error(`Received invalid json: ${refusal}`);
}

/** A function's result. */
export function resultOf(json: string, path: string): JSONValue {
  const refusal = refusalOf(json);
  if (refusal === null) return JSON.parse(json) as JSONValue;
  throw new PlatformError(
    400,
    "FunctionReturnInvalidJson",
    `Function ${path} failed. Could not parse return value as json: ${refusal}`,
  );
}

function refusalOf(json: string): string | null {
  if (!json.includes("\\ud")) return null;
  const half = HALF.exec(json)?.[1];
  if (half === undefined) return null;
  return half < "dc" ? "unexpected end of hex escape" : "lone leading surrogate in hex escape";
}
