import type { Value } from "convex/values";
import { describe, expect, test } from "vitest";
import { isConveyorError } from "./errors.js";
import { PAYLOAD_MAX_BYTES, PAYLOAD_MAX_DEPTH } from "./limits.js";
import { checkStorable, isTooDeep } from "./values.js";

function nested(levels: number): Value {
  let value: Value = 1;
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? [value] : { value };
  return value;
}

function codeOf(value: unknown): string {
  try {
    checkStorable("A payload", value as Value);
    return "stored";
  } catch (error) {
    if (!isConveyorError(error)) throw error;
    return error.data.code;
  }
}

describe("a value that fits a row", () => {
  test("its size is told, up to the last byte that fits", () => {
    expect(checkStorable("A payload", "x".repeat(98))).toBe(100);
    expect(codeOf("x".repeat(PAYLOAD_MAX_BYTES - 2))).toBe("stored");
    expect(codeOf("x".repeat(PAYLOAD_MAX_BYTES - 1))).toBe("payloadTooLarge");
    expect(codeOf(new ArrayBuffer(PAYLOAD_MAX_BYTES))).toBe("payloadTooLarge");
  });

  test("as deep as there is room for, and no deeper", () => {
    expect(codeOf(nested(PAYLOAD_MAX_DEPTH))).toBe("stored");
    expect(codeOf(nested(PAYLOAD_MAX_DEPTH + 1))).toBe("invalidPayload");
  });

  test("a value that contains itself is found to be too deep, and not walked for ever", () => {
    const round: Record<string, unknown> = {};
    round["round"] = round;
    expect(isTooDeep(round as Value)).toBe(true);
    expect(codeOf(round)).toBe("invalidPayload");
  });

  test("as wide as the platform takes", () => {
    expect(codeOf(Array.from({ length: 8_192 }, () => null))).toBe("stored");
    expect(codeOf({ inner: Array.from({ length: 8_193 }, () => null) })).toBe("invalidPayload");
  });

  test.each([[new Date(0)], [() => 1], [Symbol("s")], [undefined], [new Map()]])(
    "no value of the platform's: %o",
    (value) => {
      expect(codeOf(value)).toBe("invalidPayload");
    },
  );
});
