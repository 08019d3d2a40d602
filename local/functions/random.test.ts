import { expect, test } from "vitest";
import { seededRandom, SEED_BYTES } from "./random.js";

test("a zero key gives the published key stream of ChaCha12", () => {
  // draft-strombergson-chacha-test-vectors-01, TC1, 256-bit key, 12 rounds.
  const stream = Buffer.from(seededRandom(new Uint8Array(SEED_BYTES)).bytes(32)).toString("hex");
  expect(stream).toBe("9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f");
});

test("the stream is the same however it is cut", () => {
  const seed = Uint8Array.from({ length: SEED_BYTES }, (_, i) => i);
  const whole = seededRandom(seed).bytes(200);
  const cut = seededRandom(seed);
  const parts = [1, 63, 0, 64, 72].flatMap((length) => [...cut.bytes(length)]);
  expect(parts).toEqual([...whole]);
});

test("numbers lie in [0, 1) and are spread evenly enough", () => {
  const random = seededRandom(new Uint8Array(SEED_BYTES).fill(7));
  const buckets = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const bucket = Math.floor(random.next() * 10);
    buckets[bucket] = buckets[bucket]! + 1;
  }
  // Fixed seed, so this cannot fail by chance.
  for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test("a seed of another length is refused with both lengths", () => {
  expect(() => seededRandom(new Uint8Array(8))).toThrow("a seed has 32 bytes, not 8");
});
