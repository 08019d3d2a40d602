import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { foreignShards, hasTurn, ownShards, stableHash, turnOf } from "./shards.js";

const fleet = fc.record({
  workers: fc.integer({ min: 1, max: 100 }),
  shards: fc.integer({ min: 1, max: 64 }),
});

describe("own shards", () => {
  // Shows LF-09.
  test("of all live workers together are every shard, and no worker is without one", () => {
    fc.assert(
      fc.property(fleet, ({ workers, shards }) => {
        const owned = new Set<number>();
        for (let rank = 0; rank < workers; rank += 1) {
          const own = ownShards(rank, workers, shards);
          expect(own.length).toBeGreaterThan(0);
          for (const shard of own) owned.add(shard);
        }
        expect([...owned].sort((a, b) => a - b)).toEqual(
          Array.from({ length: shards }, (_, i) => i),
        );
      }),
    );
  });

  test("are shared out evenly: no worker has two more than another", () => {
    fc.assert(
      fc.property(fleet, ({ workers, shards }) => {
        const sizes = Array.from(
          { length: workers },
          (_, r) => ownShards(r, workers, shards).length,
        );
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("the turn among the workers that share a shard", () => {
  test("is one's own alone while there is a shard for each worker", () => {
    expect(turnOf(0, 1, 8)).toEqual({ index: 0, sharers: 1 });
    expect(turnOf(7, 8, 8)).toEqual({ index: 0, sharers: 1 });
  });

  // Rules out D12.
  test("comes to exactly one worker for each job of a shard", () => {
    const crowded = fleet.filter(({ workers, shards }) => workers > shards);
    fc.assert(
      fc.property(crowded, fc.string(), fc.nat(63), ({ workers, shards }, id, anyShard) => {
        const shard = anyShard % shards;
        const owners = Array.from({ length: workers }, (_, rank) => rank)
          .filter((rank) => ownShards(rank, workers, shards).includes(shard))
          .filter((rank) => hasTurn(id, turnOf(rank, workers, shards)));
        expect(owners).toHaveLength(1);
      }),
    );
  });
});

describe("foreign shards", () => {
  test("are all the other ones, each once, from a random one on", () => {
    fc.assert(
      fc.property(fleet, fc.double({ min: 0, max: 0.999, noNaN: true }), (f, random) => {
        const own = ownShards(0, f.workers, f.shards);
        const all = [...own, ...foreignShards(own, f.shards, random)];
        expect(all.sort((a, b) => a - b)).toEqual(Array.from({ length: f.shards }, (_, i) => i));
      }),
    );
  });
});

test("an id's hash is a whole number, the same each time", () => {
  expect(stableHash("session-a")).toBe(stableHash("session-a"));
  expect(stableHash("session-a")).not.toBe(stableHash("session-b"));
  expect(stableHash("").toString()).toMatch(/^\d+$/);
});
