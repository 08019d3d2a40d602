/** §1.6, §1.7 and two rules of §13: stale snapshots, and functions called inside a transaction. */
import { expect } from "vitest";
import { api, internal } from "../app/convex/_generated/api.js";
import type { Read, Step } from "../app/convex/rows.js";
import { newGroup, NO_CONFLICTS, refusal, type Case } from "../case.js";
import { conflicts, passes } from "../overlap.js";
import type { Target } from "../target.js";

const all: Read = { op: "read" };

/** Runs steps as one mutation in a new group with these rows; returns their reads, and all rows after it. */
async function run(target: Target, steps: Step[], ns: number[] = []) {
  const group = newGroup();
  const ids = await target.mutation(api.rows.seed, { group, ns });
  const seen: unknown[] = await target.mutation(api.rows.only, { group, ids, steps });
  const [left] = (await target.query(api.rows.look, { group, ids, steps: [all] })) as [number[]];
  return { seen, left };
}

async function left(target: Target, group: string): Promise<number[]> {
  const [rows] = (await target.query(api.rows.look, { group, ids: [], steps: [all] })) as [
    number[],
  ];
  return rows;
}

interface Metrics {
  documentsRead: { used: number };
  databaseQueries: { used: number };
  documentsWritten: { used: number };
}

export const nesting: Case[] = [
  {
    id: "1.6.hides-own-writes",
    says: "a stale snapshot shows none of the transaction's own writes",
    run: async (target) => {
      const stale: Step = { op: "query", stale: true, steps: [all] };
      const { seen } = await run(target, [{ op: "insert", n: 2 }, stale, all], [1]);
      expect(seen[1]).toEqual([[1]]);
      expect(seen[2]).toEqual([1, 2]);
    },
  },
  {
    id: "1.6.no-dependency",
    says: "rows read in a stale snapshot may change without a conflict",
    convexTest: NO_CONFLICTS,
    run: (target) =>
      passes(target, {
        rows: [1, 2],
        reads: [{ op: "query", stale: true, steps: [all] }],
        writes: [
          { op: "patch", at: 0, value: { note: 1 } },
          { op: "insert", n: 3 },
        ],
      }),
  },
  {
    id: "1.6.nested-query-depends",
    says: "rows read in an ordinary nested query may not",
    convexTest: NO_CONFLICTS,
    run: (target) =>
      conflicts(target, {
        rows: [1, 2],
        reads: [{ op: "query", stale: false, steps: [all] }],
        writes: [{ op: "insert", n: 3 }],
      }),
  },
  {
    id: "1.6.not-counted",
    says: "reads in a stale snapshot do not count as the caller's",
    convexTest: { differs: "reads in a stale snapshot are counted as the caller's" },
    run: async (target) => {
      const stale: Step = { op: "query", stale: true, steps: [all] };
      const { seen } = await run(target, [{ op: "metrics" }, stale, { op: "metrics" }], [1, 2, 3]);
      const [before, , after] = seen as [Metrics, unknown, Metrics];
      expect(after.documentsRead.used).toBe(before.documentsRead.used);
      expect(after.databaseQueries.used).toBe(before.databaseQueries.used);
    },
  },
  {
    id: "1.6.only-in-mutations",
    says: "a query cannot ask for a stale snapshot",
    run: async (target) => {
      const message = await refusal(target.query(api.calls.staleInQuery, { group: newGroup() }));
      expect(message).toContain("`useStaleSnapshot` is only supported in mutations, not queries.");
    },
  },
  {
    id: "1.7.stream-fetched",
    says: "a loop is given rows as they were fetched, though its transaction has changed them since",
    run: async (target) => {
      const told = await target.mutation(api.calls.writesAhead, { group: newGroup() });
      expect(told).toEqual({ met: [10, 20, 30], left: [10, 15, 40] });
    },
  },
  {
    id: "1.7.nested-query-sees-writes",
    says: "a nested query sees the transaction's writes",
    run: async (target) => {
      const query: Step = { op: "query", stale: false, steps: [all] };
      const { seen } = await run(target, [{ op: "insert", n: 2 }, query], [1]);
      expect(seen[1]).toEqual([[1, 2]]);
    },
  },
  {
    id: "1.7.nested-commits-with-caller",
    says: "a nested mutation's writes are seen by its caller and committed with it",
    run: async (target) => {
      const nested: Step = { op: "nested", steps: [{ op: "insert", n: 2 }] };
      const { seen, left } = await run(target, [nested, all], [1]);
      expect(seen[1]).toEqual([1, 2]);
      expect(left).toEqual([1, 2]);
    },
  },
  {
    id: "1.7.failed-is-undone",
    says: "a nested mutation that throws leaves no writes, and its caller may go on",
    run: async (target) => {
      const steps: Step[] = [
        { op: "insert", n: 2 },
        { op: "patch", at: 0, value: { n: 9 } },
        { op: "delete", at: 1 },
      ];
      const nested: Step = { op: "nested", fails: true, steps };
      const { seen, left } = await run(target, [nested, { op: "insert", n: 3 }, all], [1, 5]);
      expect(seen[0]).toContain("told to fail");
      expect(seen[2]).toEqual([1, 3, 5]);
      expect(left).toEqual([1, 3, 5]);
    },
  },
  {
    id: "1.7.failed-inside-kept",
    says: "only the failed call is undone, not its caller's earlier writes",
    run: async (target) => {
      const inner: Step = { op: "nested", fails: true, steps: [{ op: "insert", n: 3 }] };
      const outer: Step = { op: "nested", steps: [{ op: "insert", n: 2 }, inner] };
      expect((await run(target, [{ op: "insert", n: 1 }, outer])).left).toEqual([1, 2]);
    },
  },
  {
    id: "1.7.outer-failure-undoes-inner",
    says: "a failed call takes with it the calls that succeeded inside it",
    run: async (target) => {
      const inner: Step = { op: "nested", steps: [{ op: "insert", n: 3 }] };
      const outer: Step = { op: "nested", fails: true, steps: [{ op: "insert", n: 2 }, inner] };
      expect((await run(target, [{ op: "insert", n: 1 }, outer])).left).toEqual([1]);
    },
  },
  {
    id: "1.7.reads-stay",
    says: "the reads of a failed nested call can still conflict",
    convexTest: NO_CONFLICTS,
    run: (target) =>
      conflicts(target, {
        rows: [1, 2],
        reads: [{ op: "nested", fails: true, steps: [all] }],
        writes: [{ op: "insert", n: 3 }],
      }),
  },
  {
    id: "1.7.counters-stay",
    says: "the reads of a failed nested call still count",
    run: async (target) => {
      const nested: Step = { op: "nested", fails: true, steps: [all] };
      const { seen } = await run(target, [{ op: "metrics" }, nested, { op: "metrics" }], [1, 2, 3]);
      const [before, , after] = seen as [Metrics, unknown, Metrics];
      expect(after.documentsRead.used - before.documentsRead.used).toBe(3);
    },
  },
  {
    id: "1.7.writes-uncounted",
    says: "the writes of a failed nested call count no longer",
    run: async (target) => {
      const steps: Step[] = [1, 2, 3].map((n) => ({ op: "insert", n }));
      const nested: Step = { op: "nested", fails: true, steps };
      const { seen } = await run(target, [{ op: "metrics" }, nested, { op: "metrics" }]);
      const [before, , after] = seen as [Metrics, unknown, Metrics];
      expect(after.documentsWritten.used).toBe(before.documentsWritten.used);
    },
  },
  {
    id: "1.7.limits-relative",
    says: "transactionLimits are a budget on top of the use so far",
    run: async (target) => {
      const inserts = (count: number): Step[] =>
        Array.from({ length: count }, (_, n) => ({ op: "insert", n }));
      const call = (count: number) =>
        target.mutation(api.calls.limited, {
          group: newGroup(),
          limits: { documentsWritten: 3 },
          before: inserts(5),
          steps: inserts(count),
        });
      expect(await call(3)).toBe("within");
      expect(await call(4)).not.toBe("within");
    },
  },
  {
    id: "1.7.limits-whole",
    says: "and are whole numbers of 0 or more",
    run: async (target) => {
      const steps: Step[] = [{ op: "insert", n: 1 }];
      for (const documentsWritten of [1.5, -1, NaN]) {
        const limits = { documentsWritten };
        const group = newGroup();
        const end = await target.mutation(api.calls.limited, { group, limits, before: [], steps });
        expect(end).toContain("Invalid arguments for `runUdf`");
        expect(await left(target, group)).toEqual([]);
      }
    },
    convexTest: { differs: "it takes any number" },
  },
  {
    id: "1.7.limits-undo",
    says: "a call that went over its budget has written nothing",
    run: async (target) => {
      const group = newGroup();
      const steps: Step[] = [1, 2, 3].map((n) => ({ op: "insert", n }));
      const limits = { documentsWritten: 2 };
      const end = await target.mutation(api.calls.limited, { group, limits, before: [], steps });
      expect(end).not.toBe("within");
      expect(await left(target, group)).toEqual([]);
    },
  },
  {
    id: "1.7.depth",
    says: "calls nest eight deep, and no deeper",
    convexTest: { differs: "calls nest as deep as one likes" },
    run: async (target) => {
      const call = (depth: number) =>
        target.mutation(internal.calls.deep, { group: newGroup(), depth });
      expect(await call(7)).toBe(7);
      expect(await refusal(call(9))).toContain("Cross component call depth limit exceeded");
    },
  },
  {
    id: "1.7.serial",
    says: "nested mutations that are started together run one after the other, in their order",
    run: async (target) => {
      const order = ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"];
      expect(await target.mutation(api.calls.parallel, { group: newGroup() })).toEqual(order);
    },
  },
  {
    id: "1.7.error-data",
    says: "a nested ConvexError reaches the caller with its data, any other error with its words",
    run: async (target) => {
      const caught = (how: "data" | "error") =>
        target.mutation(api.calls.caught, { group: newGroup(), how });
      const group = expect.any(String) as unknown;
      expect(await caught("data")).toMatchObject({ isData: true, data: { code: "told", group } });
      const plain = (await caught("error")) as { isData: boolean; message: string };
      expect(plain.isData).toBe(false);
      expect(plain.message).toContain("told to fail");
    },
  },
  {
    id: "13.returns-after-commit",
    says: "a nested mutation with a refused return value throws, and keeps its writes",
    convexTest: { differs: "the error has other words, and the writes are rolled back" },
    run: async (target) => {
      const group = newGroup();
      const message = await target.mutation(api.calls.keepsWritesOfWrongReturn, { group });
      expect(message).toContain("ReturnsValidationError");
      expect(await left(target, group)).toEqual([7]);
    },
  },
];
