/** How a retry rule may be written, and how it is stored: with every number said. Pure. */
import { conveyorError } from "./errors.js";
import { RETRY_DEFAULT, RETRY_OFF } from "./limits.js";
import type { Retry } from "./protocol.js";

/** `true` is the default rule, `false` is none, an object changes some of the default's numbers. */
export type RetryOption = boolean | Partial<Retry>;

/** The rule that the option means. Its numbers have still to be checked. */
export function retryRule(option: RetryOption): Retry {
  if (typeof option === "boolean") return { ...(option ? RETRY_DEFAULT : RETRY_OFF) };
  if (typeof option !== "object" || option === null) throw notARule(option);
  checkFields(option);
  const { maxAttempts, initialBackoffMs, base, maxBackoffMs, jitter } = option;
  // Field by field: a field that is undefined must not get into the stored value.
  return {
    maxAttempts: maxAttempts ?? RETRY_DEFAULT.maxAttempts,
    initialBackoffMs: initialBackoffMs ?? RETRY_DEFAULT.initialBackoffMs,
    base: base ?? RETRY_DEFAULT.base,
    maxBackoffMs: maxBackoffMs ?? RETRY_DEFAULT.maxBackoffMs,
    ...(jitter === undefined || jitter === "full" ? {} : { jitter }),
  };
}

const FIELDS: readonly string[] = [
  "maxAttempts",
  "initialBackoffMs",
  "base",
  "maxBackoffMs",
  "jitter",
] satisfies (keyof Retry)[];

/** A misspelt field would leave the default in force, which is found out with the first job that fails. */
function checkFields(option: object): void {
  const unknown = Object.keys(option).find((field) => !FIELDS.includes(field));
  if (unknown === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `retry has no field "${unknown}". It has ${FIELDS.join(", ")}.`,
    { argument: "retry", got: unknown },
  );
}

/** Code without types, used to a library in which a number is the number of retries. */
function notARule(got: unknown): Error {
  const attempts = typeof got === "number" && Number.isInteger(got) && got > 0 ? got : 3;
  return conveyorError(
    "invalidArgument",
    `retry must be true, false or an object; got ${String(got)}. A number of attempts, the first included, is written ` +
      `\`retry: { maxAttempts: ${attempts} }\`.`,
    { argument: "retry", got: String(got) },
  );
}
