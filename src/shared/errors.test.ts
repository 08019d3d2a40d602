import { ConvexError } from "convex/values";
import { expect, test } from "vitest";
import { checkInteger } from "./checks.js";
import { conveyorError, isConveyorError } from "./errors.js";

test("an error is a ConvexError with code, message and details", () => {
  const error = conveyorError("unknownJob", "No such job.", { id: "x" });
  expect(error).toBeInstanceOf(ConvexError);
  expect(error.data).toEqual({ code: "unknownJob", message: "No such job.", id: "x" });
});

test("details cannot hide the code or the message", () => {
  const error = conveyorError("unknownJob", "No such job.", { code: "other", message: "none" });
  expect(error.data).toEqual({ code: "unknownJob", message: "No such job." });
});

test("the guard knows our errors by their shape, since a bundle may hold two copies of the class", () => {
  const copy = { name: "ConvexError", data: { code: "staleCall", message: "Too late." } };
  expect(isConveyorError(copy)).toBe(true);
  expect(isConveyorError(copy, "staleCall")).toBe(true);
  expect(isConveyorError(copy, "unknownJob")).toBe(false);
});

test.each([null, undefined, "staleCall", new Error("x"), new ConvexError("x")])(
  "the guard leaves what is not ours: %s",
  (value) => {
    expect(isConveyorError(value)).toBe(false);
  },
);

test("an app's own ConvexError with a code of its own is not ours", () => {
  expect(isConveyorError(new ConvexError({ code: "outOfStock", message: "Sorry." }))).toBe(false);
});

test("no text of an error has half a character, which no call could carry", () => {
  const half = "🙂".slice(0, 1);
  const { data } = conveyorError("unknownQueue", `No ${half}.`, {
    queue: half,
    more: [half],
    n: 1,
  });
  expect(data).toEqual({
    ...{ code: "unknownQueue", message: "No \uFFFD.", queue: "\uFFFD", more: ["\uFFFD"], n: 1 },
  });
});

test("a check says the rule and the value given", () => {
  expect(() => checkInteger("max", 65, 1, 64)).toThrow(
    "max must be a whole number from 1 to 64; got 65.",
  );
});
