import { expect, test } from "vitest";
import { RETRY_DEFAULT } from "./limits.js";
import { retryRule } from "./retry.js";

// Shows SG-27, WP-21.
test("true is five attempts, a second doubled up to an hour; false is one attempt", () => {
  expect(retryRule(true)).toEqual({
    maxAttempts: 5,
    initialBackoffMs: 1_000,
    base: 2,
    maxBackoffMs: 3_600_000,
  });
  expect(retryRule(false).maxAttempts).toBe(1);
});

test("an object changes what it names, and undefined changes nothing", () => {
  const option = { maxAttempts: 9, base: undefined } as never;
  expect(retryRule(option)).toEqual({ ...RETRY_DEFAULT, maxAttempts: 9 });
});

test("a field that a rule does not have is refused with the ones that it has: a misspelt one would do nothing", () => {
  expect(() => retryRule({ attempts: 3 } as never)).toThrow(
    /has no field .*attempts.* It has maxAttempts, initialBackoffMs, base, maxBackoffMs, jitter\./,
  );
});

test("jitter is kept where it is not the default's", () => {
  const fixed = { base: 1, jitter: "none" } as const;
  expect(retryRule(fixed)).toEqual({ ...RETRY_DEFAULT, ...fixed });
  expect(retryRule({ jitter: "full" })).toEqual(RETRY_DEFAULT);
});

test("a number says how a number of attempts is written, and does not compile", () => {
  // @ts-expect-error a number is no rule
  expect(() => retryRule(3)).toThrow(
    "retry must be true, false or an object; got 3. A number of attempts, the first included, is written `retry: { maxAttempts: 3 }`.",
  );
});
