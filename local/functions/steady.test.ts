import { createHash, webcrypto } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Host } from "./host.js";
import { smallDigest } from "./smallDigest.js";
import { compressors, steadyGlobals } from "./steady.js";

const timers: { ms: number; run: () => void }[] = [];
const host = {
  effects: () => ({
    setTimer: (ms: number, _: boolean, run: () => void) => timers.push({ ms, run }),
  }),
} as unknown as Host;
const globals = { ...compressors, ...steadyGlobals(() => host) } as unknown as Pick<
  typeof globalThis,
  "AbortSignal" | "CompressionStream" | "DecompressionStream" | "WeakRef" | "FinalizationRegistry"
>;

describe("compression", () => {
  const text = "abc".repeat(10_000);
  const through = async (body: BodyInit, stream: CompressionStream | DecompressionStream) =>
    new Response(new Response(body).body!.pipeThrough(stream)).arrayBuffer();

  test.each(["gzip", "deflate", "deflate-raw"] as const)(
    "%s comes back as it was",
    async (format) => {
      const packed = await through(text, new globals.CompressionStream(format));
      expect(packed.byteLength).toBeLessThan(1_000);
      // Node's own reads it too.
      for (const Stream of [globals.DecompressionStream, DecompressionStream]) {
        const back = await through(packed, new Stream(format));
        expect(new TextDecoder().decode(back)).toBe(text);
      }
    },
  );

  test("refuses a format that it does not know", () => {
    expect(() => new globals.CompressionStream("zip" as "gzip")).toThrow(/no format "zip"/);
  });
});

test("a weak reference never loses its target, and no finalizer is called", () => {
  const target = {};
  expect(new globals.WeakRef(target).deref()).toBe(target);
  const registry = new globals.FinalizationRegistry(() => {});
  registry.register(target, 1);
  expect(registry.unregister(target)).toBe(false);
});

test("a signal that times out does so by the call's own clock; the other signals are the language's", () => {
  const signal = globals.AbortSignal.timeout(50);
  expect([signal.aborted, timers[0]!.ms]).toEqual([false, 50]);
  timers[0]!.run();
  expect([signal.aborted, (signal.reason as Error).name]).toEqual([true, "TimeoutError"]);
  expect(globals.AbortSignal.abort().aborted).toBe(true);
});

describe("a small digest", () => {
  const data = new TextEncoder().encode("some text");

  test.each(["SHA-1", "SHA-256", "SHA-384", "SHA-512", "sha-256"])(
    "%s is Web Crypto's",
    async (name) => {
      const expected = Buffer.from(await webcrypto.subtle.digest(name, data)).toString("hex");
      for (const given of [data, new DataView(data.slice().buffer), data.slice().buffer]) {
        expect(Buffer.from(smallDigest(name, given)!).toString("hex")).toBe(expected);
      }
    },
  );

  test("is of the view, not of the buffer around it", () => {
    const digest = Buffer.from(smallDigest("SHA-256", data.subarray(5))!).toString("hex");
    expect(digest).toBe(createHash("sha256").update("text").digest("hex"));
  });

  test("is not made of large data, of values that are no data, or of an algorithm in another form", () => {
    expect(smallDigest("SHA-256", new Uint8Array(65_536))).toBeDefined();
    expect(smallDigest("SHA-256", new Uint8Array(65_537))).toBeUndefined();
    expect(smallDigest("SHA-256", "text")).toBeUndefined();
    expect(smallDigest("MD5", data)).toBeUndefined();
    expect(smallDigest({ name: "SHA-256" }, data)).toBeUndefined();
  });
});
