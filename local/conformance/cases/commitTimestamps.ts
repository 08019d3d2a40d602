/** §1.8 and the additions of §13: the commit timestamp as a value. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import { commitTs, newGroup, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";

async function add(target: Target, group: string, ns: number[]): Promise<bigint> {
  return commitTs(await target.mutation(api.stamps.add, { group, ns }));
}

const list = (target: Target, group: string) => target.query(api.stamps.list, { group });

export const commitTimestamps: Case[] = [
  {
    id: "1.8.same-for-all",
    says: "all rows of one mutation get the same commit timestamp, which it also returns",
    run: async (target) => {
      const group = newGroup();
      const ts = await add(target, group, [1, 2, 3]);
      expect((await list(target, group)).map((row) => row.ts)).toEqual([ts, ts, ts]);
    },
  },
  {
    id: "1.8.increases",
    says: "a later commit has a greater one",
    run: async (target) => {
      const group = newGroup();
      const first = await add(target, group, [1]);
      expect(await add(target, group, [2])).toBeGreaterThan(first);
    },
  },
  {
    id: "1.8.order-within",
    says: "in an index on it rows of one mutation follow in the order in which they were inserted",
    run: async (target) => {
      const group = newGroup();
      await add(target, group, [3, 1, 2]);
      expect((await list(target, group)).map(({ n }) => n)).toEqual([3, 1, 2]);
    },
  },
  {
    id: "1.8.pending-sorts-last",
    says: "before the commit it sorts as the greatest int64",
    run: async (target) => {
      const group = newGroup();
      await add(target, group, [8, 9]);
      const { ordered } = (await target.mutation(api.stamps.ownRows, { group })) as {
        ordered: number[];
      };
      expect(ordered).toEqual([8, 9, 1, 2]);
    },
  },
  {
    id: "1.8.pending-equal",
    says: "an equality with the placeholder finds the transaction's own rows",
    run: async (target) => {
      const group = newGroup();
      await add(target, group, [8, 9]);
      expect(await target.mutation(api.stamps.ownRows, { group })).toMatchObject({ equal: [1, 2] });
    },
  },
  {
    id: "1.8.patched",
    says: "a patch may write it too: the row moves to the end of the index",
    run: async (target) => {
      const group = newGroup();
      await add(target, group, [1]);
      const second = await add(target, group, [2]);
      await target.mutation(api.stamps.bump, { group });
      const rows = await list(target, group);
      expect(rows[0]!.ts).toBe(rows[1]!.ts);
      expect(rows[0]!.ts).toBeGreaterThan(second);
    },
  },
  {
    id: "1.8.nested-argument",
    says: "it may be handed to a nested mutation, and be returned by it",
    run: async (target) => {
      const group = newGroup();
      const ts = commitTs(await target.mutation(api.stamps.nested, { group }));
      expect(await list(target, group)).toMatchObject([{ n: 1, ts }]);
    },
  },
  {
    id: "1.8.through-query",
    says: "it may go through a nested query and come back",
    run: async (target) => {
      const group = newGroup();
      const ts = commitTs(await target.mutation(api.stamps.throughQuery, { group }));
      expect(await list(target, group)).toMatchObject([{ n: 1, ts }]);
    },
  },
  {
    id: "1.8.not-scheduled",
    says: "it is refused in the arguments of a scheduled function",
    run: async (target) => {
      await refusal(target.mutation(api.stamps.scheduleIt, {}));
    },
  },
  {
    id: "1.8.not-in-filters",
    says: "a filter cannot compare with the placeholder",
    run: async (target) => {
      const asked = target.mutation(api.values.badFilter, { group: newGroup(), what: "commitTs" });
      expect(await refusal(asked)).toContain("$commitTs");
    },
    convexTest: { differs: "it compares" },
  },
  {
    id: "1.8.accepts-int64",
    says: "a field declared as commitTs takes any int64 as well, and reads as a bigint",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.stamps.addFixed, { group, n: 1, ts: 5n });
      expect(await list(target, group)).toMatchObject([{ ts: 5n }]);
    },
  },
  {
    id: "1.8.snapshot-ts",
    says: "the snapshot's timestamp is at or above every commit that can be seen",
    run: async (target) => {
      const group = newGroup();
      const ts = await add(target, group, [1, 2]);
      const { snapshot, ns } = await target.query(api.stamps.upToSnapshot, { group });
      expect(snapshot).toBeGreaterThanOrEqual(ts);
      expect(ns).toEqual([1, 2]);
    },
  },
  {
    id: "1.8.snapshot-before-later",
    says: "and below every commit that comes later",
    run: async (target) => {
      const group = newGroup();
      await add(target, group, [1]);
      const { snapshot } = await target.query(api.stamps.upToSnapshot, { group });
      expect(await add(target, group, [2])).toBeGreaterThan(snapshot);
    },
  },
];
