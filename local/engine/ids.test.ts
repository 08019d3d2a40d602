import { describe, expect, test } from "vitest";
import { decodeId, encodeId, newId } from "./ids.js";
import { seededEnvironment } from "./testing.js";

describe("document ids", () => {
  test("decode one that a real deployment has made", () => {
    const decoded = decodeId("kg27rxfv99gzp01wmph0gvt92d6hnvy6");
    expect(decoded?.tableNumber).toBe(540);
    // 2024-01-16, in days since the epoch.
    expect([...decoded!.internal.slice(14)]).toEqual([0x4d, 0x1a]);
    expect(encodeId(540, decoded!.internal)).toBe("kg27rxfv99gzp01wmph0gvt92d6hnvy6");
  });

  test("encode the first user table's number and the bytes 0 to 15", () => {
    const internal = Uint8Array.from({ length: 16 }, (_, i) => i);
    expect(encodeId(10_001, internal)).toBe("j57000820c20a1g7104gm2rc1m70ynr8");
    expect(decodeId("j57000820c20a1g7104gm2rc1m70ynr8")).toEqual({ tableNumber: 10_001, internal });
  });

  test("survive the round trip at every length of a table's number", () => {
    const internal = new Uint8Array(16).fill(0xa5);
    for (const number of [1, 127, 128, 10_001, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1]) {
      expect(decodeId(encodeId(number, internal))?.tableNumber).toBe(number);
    }
  });

  test("carry the day they were made, after 14 random bytes", () => {
    const env = seededEnvironment(1);
    const first = decodeId(newId(env, 10_001))!;
    const second = decodeId(newId(env, 10_001))!;
    const day = (first.internal[14]! << 8) | first.internal[15]!;
    expect(day).toBe(Math.floor(env.now() / 86_400_000));
    expect(first.internal.slice(0, 14)).not.toEqual(second.internal.slice(0, 14));
  });

  test.each([
    ["", "empty"],
    ["hello", "too short"],
    ["j57000820c20a1g7104gm2rc1m70ynr9", "wrong checksum"],
    ["J57000820C20A1G7104GM2RC1M70YNR8", "upper case"],
    ["j57000820c20a1g7104gm2rc1m70ynr", "cut off"],
    ["j57000820c20a1g7104gm2rc1m70ynr80", "with a letter more"],
    ["i57000820c20a1g7104gm2rc1m70ynr8", "a letter that base 32 does not use"],
    ["z".repeat(10_000), "absurdly long"],
  ])("refuse %j: %s", (id) => {
    expect(decodeId(id)).toBeNull();
  });
});
