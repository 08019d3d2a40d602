import { ConvexError } from "convex/values";
import { describe, expect, test } from "vitest";
import { conveyorError, textBytes, thrownText, thrownTrace, TRACE_MAX_BYTES } from "./index.js";

const FRAMES =
  "\n    at send (../convex/emails.ts:3:9)\n    at async handler (../convex/emails.ts:9:1)\n";

describe("the error of a handler is the same in every process", () => {
  test.each([
    [new Error("No such page."), "Error: No such page."],
    [new TypeError("x is not a function"), "TypeError: x is not a function"],
    [Object.assign(new Error("gone"), { name: "NoSuchPage" }), "NoSuchPage: gone"],
    [new Error("two\nlines: of it"), "Error: two\nlines: of it"],
    [new Error("see\n    at the end\nof it"), "Error: see\n    at the end\nof it"],
    [new Error(""), "Error: "],
    [new ConvexError({ code: "odd", n: 1n }), 'ConvexError: {"code":"odd","n":"1n"}'],
    [new ConvexError("note: a text"), "ConvexError: note: a text"],
  ])("%s", (error, crossed) => {
    const here = thrownText(error);
    expect(thrownText(new Error(`Uncaught ${crossed}${FRAMES}`))).toBe(here);
    // From a function that was called by a function, each with a stack.
    expect(thrownText(new Error(`Uncaught Error: Uncaught ${crossed}${FRAMES}${FRAMES}`))).toBe(
      here,
    );
  });

  test.each(["a string", "note: a string", "", "undefined"])("the text %j", (text) => {
    expect(thrownText(text)).toBe(text);
    expect(thrownText(new Error(`Uncaught ${text}`))).toBe(text);
  });
});

test("a message without the platform's frame stays as it is", () => {
  for (const text of ["Too many concurrent requests.", `boom${FRAMES}`, "It was Uncaught Error: x"])
    expect(thrownText(new Error(text))).toBe(text);
});

test("an error without a stack loses its class's name if that is one of an error", () => {
  expect(thrownText(new Error("Uncaught RangeError: too far"))).toBe("too far");
  expect(thrownText(new Error("Uncaught Error"))).toBe("");
});

test("Conveyor's own errors say their sentence, also when only their data have crossed", () => {
  const error = conveyorError("invalidArgument", "A rule, a value, a way out.");
  expect(thrownText(error)).toBe("A rule, a value, a way out.");
  const crossed = Object.assign(new Error(`Uncaught ConvexError: {}${FRAMES}`), {
    data: error.data,
  });
  expect(thrownText(crossed)).toBe("A rule, a value, a way out.");
});

describe("where it was thrown", () => {
  test("is its class, message and stack, and the same of its causes", () => {
    const cause = new RangeError("scene 7 of 6");
    const trace = thrownTrace(new TypeError("no such scene", { cause }))!;
    expect(trace).toMatch(
      /^TypeError: no such scene\n\s+at .*thrown\.test[^]*\nCaused by: RangeError: scene 7 of 6\n\s+at .*thrown\.test/,
    );
  });

  test("is the other function's, if it was thrown across a call", () => {
    const crossed = new Error(`Uncaught TypeError: no such scene${FRAMES}`);
    expect(thrownTrace(crossed)).toBe(`TypeError: no such scene${FRAMES.trimEnd()}`);
  });

  test("is bounded, also where an error is its own cause, or its message is long", () => {
    const error = new Error("é".repeat(10_000));
    error.cause = error;
    error.stack = `Error\n${"    at far (away.ts:1:1)\n".repeat(1_000)}`;
    expect(textBytes(thrownTrace(error)!)).toBeLessThanOrEqual(TRACE_MAX_BYTES);
  });

  test("is undefined for a value that is no error, or throws when it is read", () => {
    expect(thrownTrace("a text")).toBeUndefined();
    const hostile = new Proxy(new Error("x"), {
      get: () => {
        throw new Error("do not look");
      },
    });
    expect(() => thrownTrace(hostile)).not.toThrow();
  });
});
