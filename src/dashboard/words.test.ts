/** Numbers, times and errors in words. */
import { ConvexError } from "convex/values";
import { expect, test } from "vitest";
import { ago, countOf, duration, isRefusal, messageOf, rate, share, until } from "./words.js";

test.each([
  [-5, "0 ms"],
  [0, "0 ms"],
  [949, "949 ms"],
  [950, "0.9 s"],
  [1_250, "1.3 s"],
  [9_949, "9.9 s"],
  [9_950, "10 s"],
  [59_499, "59 s"],
  [59_500, "1 min"],
  [60_000, "1 min"],
  [119_700, "2 min"],
  [185_000, "3 min 5 s"],
  [3_599_400, "59 min 59 s"],
  [3_599_700, "1 h"],
  [86_380_000, "1 d"],
  [3_600_000, "1 h"],
  [7_800_000, "2 h 10 min"],
  [90_000_000, "1 d 1 h"],
] as const)("%i ms last %s", (ms, words) => expect(duration(ms)).toBe(words));

test.each([
  [-9_000, "now"],
  [999, "now"],
  [3_000, "3 s ago"],
  [89_000, "89 s ago"],
  [300_000, "5 min ago"],
  [7_200_000, "2 h ago"],
  [200_000_000, "2 d ago"],
] as const)("what was %i ms ago was %s", (ms, words) => expect(ago(0, ms)).toBe(words));

test("a time in the past is now", () => {
  expect(until(1_000, 5_000)).toBe("now");
  expect(until(65_000, 5_000)).toBe("in 60 s");
});

test("a share is never all of it where something is missing", () => {
  expect(share(1)).toBe("100 %");
  expect(share(0.9999)).toBe("99.9 %");
  expect(share(0.5)).toBe("50 %");
  expect(share(0)).toBe("0 %");
});

test("few a minute are not none", () => {
  expect(rate(0)).toBe("0");
  expect(rate(0.04)).toBe("<0.1");
  expect(rate(0.4)).toBe("0.4");
  expect(rate(1_234.6)).toBe((1_235).toLocaleString());
});

test("a count that was cut says so", () => {
  expect(countOf({ count: 4, more: false })).toBe("4");
  expect(countOf({ count: 1_000, more: true })).toBe(`${(1_000).toLocaleString()}+`);
});

test.each([
  [new ConvexError({ code: "forbidden", message: "Not you." }), "Not you."],
  [new ConvexError("Not you."), "Not you."],
  [new Error("[CONVEX Q(a:b)] [Request ID: 1f] Server Error"), "Server Error"],
  [
    new Error(
      "[CONVEX Q(a:b)] [Request ID: 1f] Server Error\nUncaught TypeError: x is not y\n    at z",
    ),
    "x is not y",
  ],
  [new Error("Broken pipe\n    at z"), "Broken pipe"],
  ["thrown as it was", "thrown as it was"],
])("%s is told as what it says", (error, words) => expect(messageOf(error)).toBe(words));

test("only an error of the app itself is a refusal", () => {
  expect(isRefusal(new ConvexError("Not you."))).toBe(true);
  expect(isRefusal(new Error("Server Error"))).toBe(false);
  expect(isRefusal({ data: 1 })).toBe(false);
});
