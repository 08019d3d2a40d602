/** Each export of `@convex-dev/workpool` is here under the same name, and validates the same. */
import * as theirs from "@convex-dev/workpool";
import { ConvexError, v } from "convex/values";
import { expect, test } from "vitest";
import * as ours from "./index.js";

test("every name that is exported there is exported here", () => {
  expect(Object.keys(ours)).toEqual(expect.arrayContaining(Object.keys(theirs)));
});

test("the class has the same methods", () => {
  const methods = (of: { prototype: object }) => Object.getOwnPropertyNames(of.prototype);
  expect(methods(ours.Workpool)).toEqual(expect.arrayContaining(methods(theirs.Workpool)));
});

test("the validators take the same", () => {
  const shape = (validator: unknown) => (validator as { json: unknown }).json;
  for (const name of [
    "vWorkId",
    "vResult",
    "vLogLevel",
    "vRetryBehavior",
    "vOnComplete",
  ] as const) {
    expect(shape(ours[name])).toEqual(shape(theirs[name]));
  }
  const [context, result] = [v.object({ user: v.id("users") }), v.number()];
  for (const args of [[], [context], [context, result]] as const) {
    expect(shape(ours.vOnCompleteArgs(...args))).toEqual(shape(theirs.vOnCompleteArgs(...args)));
  }
  expect(ours.DEFAULT_RETRY_BEHAVIOR).toEqual(theirs.DEFAULT_RETRY_BEHAVIOR);
});

test("an error that no retry mends is known wherever it comes from", () => {
  const crossed = (error: ConvexError<any>) => new ConvexError(error.data);
  const mine = new ours.NonRetryableError("no", { cause: 1 });
  expect(mine).toMatchObject({ name: "NonRetryableError", cause: 1 });
  for (const error of [mine, crossed(mine), new theirs.NonRetryableError("no")]) {
    expect(ours.isNonRetryableError(error)).toBe(true);
    expect(theirs.isNonRetryableError(error)).toBe(true);
  }
  for (const error of [new ConvexError("no"), new ConvexError({ conveyor: "x" }), Error(), null]) {
    expect(ours.isNonRetryableError(error)).toBe(false);
  }
});
