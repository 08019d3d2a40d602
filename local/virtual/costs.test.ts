import { afterEach, expect, test } from "vitest";
import { PRELUDE, startVirtualBackend, type TestBackend } from "../functions/testing.js";
import type { VirtualClock } from "./clock.js";
import { createCosts, DEFAULT_COSTS, type CostConstants } from "./costs.js";
import { randomStream } from "./random.js";

let backend: TestBackend | undefined;
let clock: VirtualClock;
afterEach(async () => {
  if (backend !== undefined) await clock.run(() => backend!.stop());
  backend = undefined;
});

const random = () => randomStream(1, "costs");
const FREE = Object.fromEntries(
  Object.keys(DEFAULT_COSTS).map((name) => [name, 0]),
) as unknown as CostConstants;

const LIB = `${PRELUDE}
  export const add = mutation(async (ctx, { n }) => {
    for (let i = 0; i < n; i++) await ctx.db.insert("rows", {});
  });
  export const removeAll = mutation(async (ctx) => {
    for (const { _id } of await ctx.db.query("rows").collect()) await ctx.db.delete(_id);
  });
  export const first = query(async (ctx) => (await ctx.db.query("rows").first()) !== null);
  export const hundred = query(async (ctx) => (await ctx.db.query("rows").take(100)).length);
`;

test("a scan pays for the dead entries that it passes, by round trips, and no longer once they are forgotten", async () => {
  const constants = { ...FREE, readRoundTripMs: 1, tombstonesPerRoundTrip: 8 };
  const costs = createCosts({ class: "s16", random: random(), constants, jitter: 0 });
  const sources = { "": { "lib.ts": LIB } };
  ({ backend, clock } = await startVirtualBackend(sources, { costs: (step) => costs.of(step) }));
  const call = (kind: "query" | "mutation", path: string, args = {}) =>
    clock.run(() => backend![kind](path, args));
  const lasts = async (path: string, args = {}) => {
    const since = clock.now();
    await call("query", path, args);
    return clock.now() - since;
  };
  await call("mutation", "lib:add", { n: 80 });
  expect(await lasts("lib:first")).toBeCloseTo(1);
  await call("mutation", "lib:removeAll");
  await call("mutation", "lib:add", { n: 1 });
  expect(await lasts("lib:first")).toBeCloseTo(1 + 80 / 8);
  // Who wants a hundred rows passes eighty dead ones on the way.
  expect(await lasts("lib:hundred")).toBeCloseTo(1);
  await clock.advance(6 * 60_000);
  // Other arguments, since what is behind the first row leaves the cached answer as it was.
  expect(await lasts("lib:first", { again: true })).toBeCloseTo(1);
});

test("draws lie around the median, wider in a class of shared machines", () => {
  const spread = (of: "s16" | "d1024") => {
    const costs = createCosts({
      class: of,
      random: random(),
      constants: { ...FREE, persistMs: 3 },
    });
    const step = { kind: "persist", documents: 1, bytes: 100 } as const;
    const draws = Array.from({ length: 2001 }, () => costs.of(step)).sort((a, b) => a - b);
    expect(draws[1000]).toBeGreaterThan(2.7);
    expect(draws[1000]).toBeLessThan(3.3);
    return draws[1900]! / draws[1000]!;
  };
  expect(spread("s16")).toBeGreaterThan(spread("d1024") + 0.3);
});

test.each([-1, NaN, Infinity])("a cost of %d is refused by name", (readRoundTripMs) => {
  const options = { class: "s16", random: random(), constants: { readRoundTripMs } } as const;
  expect(() => createCosts(options)).toThrow(/readRoundTripMs/);
});
