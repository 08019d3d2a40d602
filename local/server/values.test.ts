import { convexToJson, type Value } from "convex/values";
import { describe, expect, test } from "vitest";
import { decodeTs, encodeTs } from "./timestamps.js";
import { formatValue } from "./values.js";

describe("values over HTTP", () => {
  const value: Value = {
    text: "grüß dich 😀",
    big: 2n ** 62n,
    bytes: new Uint8Array([1, 2, 255]).buffer,
    list: [1.5, NaN, null, true],
  };

  test("keep everything in the clients' own encoding", () => {
    const json = convexToJson(value);
    expect(formatValue(json, "convex_encoded_json")).toBe(json);
  });

  test("become JSON when plain JSON is asked for", () => {
    expect(formatValue(convexToJson(value), "json")).toEqual({
      text: "grüß dich 😀",
      big: "4611686018427387904",
      bytes: "AQL/",
      list: [1.5, "NaN", null, true],
    });
  });
});

describe("timestamps", () => {
  test("are 8 bytes, little-endian, in base64", () => {
    expect(encodeTs(0n)).toBe("AAAAAAAAAAA=");
    expect(encodeTs(1n)).toBe("AQAAAAAAAAA=");
    expect(decodeTs(encodeTs(1_790_000_000_123_456_789n))).toBe(1_790_000_000_123_456_789n);
  });

  test("of another length are refused", () => {
    expect(() => decodeTs("AQ==")).toThrow("must be 8 bytes");
  });
});
