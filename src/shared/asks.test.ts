import { ConvexError } from "convex/values";
import { expect, test } from "vitest";
import { askedBy, NonRetryableError, RetryAfterError, Snoozed } from "./asks.js";

/** The rest of an error that has crossed from one function to another: its data. */
function crossed(error: ConvexError<any>): ConvexError<any> {
  return new ConvexError(JSON.parse(JSON.stringify(error.data)));
}

test.each([
  [new NonRetryableError("No such page."), { retryable: false, message: "No such page." }],
  [new RetryAfterError(500, "Busy."), { retryAfterMs: 500, message: "Busy." }],
  [new Snoozed(60_000), { snoozeMs: 60_000 }],
])("%s asks for the same on both sides of a call", (error, asked) => {
  expect(askedBy(error)).toEqual(asked);
  expect(askedBy(crossed(error))).toEqual(asked);
  expect(String(error)).toMatch(new RegExp(`^${error.name}: .+`));
});

test("an error of the app's own, by its name, is not retried either; its cause stays", () => {
  class Own extends Error {
    override readonly name = "NonRetryableError";
  }
  expect(askedBy(new Own("no"))).toEqual({ retryable: false });
  const cause = new Error("why");
  expect(new NonRetryableError("no", { cause }).cause).toBe(cause);
});

test.each([
  undefined,
  null,
  "NonRetryableError",
  new Error("no"),
  new ConvexError("text"),
  new ConvexError({ conveyor: "nonsense" }),
  new ConvexError({ conveyor: "snooze", ms: "soon" }),
  { data: { conveyor: "nonRetryable", message: "not an error" } },
])("%s asks for nothing", (thrown) => {
  expect(askedBy(thrown)).toEqual({});
});

test("a wait out of bounds is refused where it is asked for", () => {
  expect(() => new RetryAfterError(-1)).toThrow(/whole number/);
  expect(() => new Snoozed(0.5)).toThrow(/whole number/);
});
