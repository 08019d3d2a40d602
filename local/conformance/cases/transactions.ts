/** §1.1, §1.3, §1.4 and §1.5: snapshots, validation, the order of commits, retries and giving up. */
import { ConvexHttpClient } from "convex/browser";
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import type { Read, Step } from "../app/convex/rows.js";
import { commitTs, newGroup, NO_CONFLICTS, refusal, type Case } from "../case.js";
import { meet } from "../overlap.js";
import type { Target } from "../target.js";
import { post } from "../wire.js";

const all: Read = { op: "read" };

type Call<T> = (args: { group: string; ids: string[]; steps: Step[] }) => Promise<T>;

/**
 * A mutation that never gets through: it reads a row and waits, while the row is written again and again. Returns the caller's
 * answer. Where writing is slow it must wait for longer.
 */
async function starve<T>(target: Target, call: Call<T>): Promise<T> {
  for (const ms of [100, 200, 400, 800, 100, 400]) {
    const { told, refused, group } = await starveOnce(target, ms, call);
    const left = { op: "read", lt: 0 } as const;
    const [got] = (await target.query(api.rows.look, { group, ids: [], steps: [left] })) as [[]];
    // On a busy machine the thinking itself may take longer than a mutation has.
    const said = `${JSON.stringify(told)} ${String(refused?.reason)}`;
    const ranOut = said.includes("timed out");
    if (got.length > 0 || ranOut) continue;
    // The call itself says why it was refused.
    if (refused !== undefined) throw refused.reason;
    return told as T;
  }
  throw new Error("It got through every time: no write came while it waited.");
}

async function starveOnce<T>(
  target: Target,
  ms: number,
  call: Call<T>,
): Promise<{ told?: T; refused?: PromiseRejectedResult; group: string }> {
  const group = newGroup();
  const ids = await target.mutation(api.rows.seed, { group, ns: [1] });
  let ended = false;
  const writer = async () => {
    for (let n = 2; !ended; n++) {
      const steps: Step[] = [{ op: "patch", at: 0, value: { n } }];
      await target.mutation(api.rows.only, { group, ids, steps });
    }
  };
  const writing = writer();
  try {
    const steps: Step[] = [
      { op: "get", at: 0 },
      { op: "hold", ms },
      { op: "insert", n: -1 },
    ];
    const [got] = await Promise.allSettled([call({ group, ids, steps })]);
    return got.status === "fulfilled" ? { told: got.value, group } : { refused: got, group };
  } finally {
    ended = true;
    await writing;
  }
}

export const transactions: Case[] = [
  {
    id: "1.1.one-snapshot",
    says: "a query sees one moment, however long it takes",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const group = newGroup();
      const ids = await target.mutation(api.rows.seed, { group, ns: [1] });
      const steps: Step[] = [
        { op: "get", at: 0 },
        { op: "hold", ms: 30 },
        { op: "get", at: 0 },
      ];
      const looking = target.query(api.rows.look, { group, ids, steps });
      for (const n of [2, 3, 4]) {
        const patch: Step = { op: "patch", at: 0, value: { n } };
        await target.mutation(api.rows.only, { group, ids, steps: [patch] });
      }
      const [first, , second] = (await looking) as number[];
      expect(second).toBe(first);
    },
  },
  {
    id: "1.1.creation-time-increases",
    says: "creation times of one transaction increase strictly",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.stamps.add, { group, ns: [1, 2, 3, 4, 5] });
      const times = (await target.query(api.stamps.list, { group })).map(({ at }) => at);
      for (const [i, at] of times.entries()) if (i > 0) expect(at).toBeGreaterThan(times[i - 1]!);
    },
  },
  {
    id: "1.1.creation-time-at-begin",
    says: "creation times are given at the beginning: a later commit may have the earlier one",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      // The reader's request is sent first, but may be the second to begin.
      const inOrder = async () => {
        const { conflicts, group } = await meet(target, { reads: [], writes: [] });
        // It read nothing that another could write: its only attempt began late, after the other's commit.
        if (conflicts) return true;
        const [earlier, later] = await target.query(api.stamps.list, { group });
        expect(earlier!.ts).toBeLessThan(later!.ts);
        return earlier!.at < later!.at;
      };
      let tries = 10;
      while (await inOrder()) expect(--tries).toBeGreaterThan(0);
    },
  },
  {
    id: "1.1.timestamps-are-nanoseconds",
    says: "commit timestamps are nanoseconds since the epoch",
    run: async (target) => {
      const ts = commitTs(await target.mutation(api.stamps.add, { group: newGroup(), ns: [1] }));
      const year = new Date(Number(ts / 1_000_000n)).getUTCFullYear();
      expect(year).toBeGreaterThan(2020);
      expect(year).toBeLessThan(2100);
    },
  },
  {
    id: "1.3.read-only-not-validated",
    says: "a mutation over HTTP that wrote nothing is not validated",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const group = newGroup();
      const ids = await target.mutation(api.rows.seed, { group, ns: [1] });
      const steps: Step[] = [
        { op: "get", at: 0 },
        { op: "hold", ms: 120 },
        { op: "get", at: 0 },
      ];
      const sentAt = performance.now();
      let took = Infinity;
      const reading = target
        .mutation(api.rows.only, { group, ids, steps })
        .finally(() => (took = performance.now() - sentAt));
      // Enough writes that one of them falls into any attempt of the reader.
      for (let n = 2; took === Infinity; n++) {
        const patch: Step = { op: "patch", at: 0, value: { n } };
        await target.mutation(api.rows.only, { group, ids, steps: [patch] });
      }
      // Were it validated, no attempt would get through, and in the end it would be refused.
      const [first, , second] = (await reading) as number[];
      expect(second).toBe(first);
    },
  },
  {
    id: "1.3.failed-not-validated",
    says: "a function that throws is not validated: its error is returned at once, stale or not",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const nested = (args: { group: string; ids: string[]; steps: Step[] }) => {
        const steps: Step[] = [...args.steps, { op: "patch", at: 99, value: { n: 1 } }];
        return refusal(target.mutation(api.rows.only, { ...args, steps }));
      };
      const message = await starve(target, nested);
      expect(message).not.toContain("OptimisticConcurrencyControlFailure");
      expect(message).toContain("Error");
    },
  },
  {
    id: "1.4.commit-order",
    says: "every commit has a timestamp of its own, and later ones are greater",
    run: async (target) => {
      const group = newGroup();
      const commit = async (n: number) =>
        commitTs(await target.mutation(api.stamps.add, { group, ns: [n] }));
      const before = await commit(0);
      const burst = await Promise.all([1, 2, 3, 4, 5, 6].map(commit));
      const after = await commit(9);
      expect(new Set(burst).size).toBe(6);
      for (const ts of burst) {
        expect(ts).toBeGreaterThan(before);
        expect(ts).toBeLessThan(after);
      }
    },
  },
  {
    id: "1.4.read-your-writes",
    says: "a client that knows of a commit finds it in every later read",
    run: async (target) => {
      const group = newGroup();
      for (let n = 1; n <= 10; n++) {
        await target.mutation(api.rows.seed, { group, ns: [n] });
        const [rows] = (await target.query(api.rows.look, { group, ids: [], steps: [all] })) as [
          number[],
        ];
        expect(rows).toHaveLength(n);
      }
    },
  },
  {
    id: "1.4.no-half-commit",
    says: "no read ever sees a part of a transaction",
    run: async (target) => {
      const group = newGroup();
      const seeding = Promise.all(
        [1, 2, 3, 4].map((i) => target.mutation(api.rows.seed, { group, ns: [i, i + 10, i + 20] })),
      );
      let done = false;
      void seeding.finally(() => (done = true)).catch(() => {});
      const look = () => target.query(api.rows.look, { group, ids: [], steps: [all] });
      do {
        const [rows] = (await look()) as [number[]];
        expect(rows.length % 3).toBe(0);
      } while (!done);
      await seeding;
      expect(((await look()) as [number[]])[0]).toHaveLength(12);
    },
  },
  {
    id: "1.5.lost-updates",
    says: "of many read-modify-writes at once none is lost: each either counts or is refused",
    run: async (target) => {
      const group = newGroup();
      const [at] = (await target.mutation(api.rows.seed, { group, ns: [0] })) as [string];
      const ends = await target.action(api.calls.burst, { group, at, count: 6 });
      const [n] = (await target.query(api.rows.look, {
        group,
        ids: [at],
        steps: [{ op: "get", at: 0 }],
      })) as [number];
      expect(n).toBe(ends.filter((end) => end === "ok").length);
      expect(n).toBeGreaterThan(0);
    },
  },
  {
    id: "1.5.http-503",
    says: "over HTTP a mutation that lost five times is answered 503 with the code of the failure",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const reply = await starve(target, (args) =>
        post(target.server(), "/api/mutation", { body: { path: "rows:only", args: [args] } }),
      );
      expect(reply.status).toBe(503);
      const { code, message } = reply.body as { code: string; message: string };
      expect(code).toBe("OptimisticConcurrencyControlFailure");
      expect(message).toMatch(
        /^Documents read from or written to the "rows" table changed while this mutation was being run and on every subsequent retry\. (Another call to this mutation|A call to ".*") changed the document with ID ".*"\. See https:\/\/docs\.convex\.dev\/error#1$/,
      );
    },
  },
  {
    id: "1.5.client-error",
    says: "the official HTTP client throws then, and nothing was written",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      let group = "";
      const client = new ConvexHttpClient(target.server().url, { logger: false });
      const message = await starve(target, (args) => {
        group = args.group;
        return refusal(client.mutation(api.rows.only, args));
      });
      expect(message).toContain("OptimisticConcurrencyControlFailure");
      const left = { op: "read", lt: 0 } as const;
      const seen = await target.query(api.rows.look, { group, ids: [], steps: [left] });
      expect(seen).toEqual([[]]);
    },
  },
  {
    id: "1.5.action-catches",
    says: "in an action the lost mutation is an error that can be caught",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const message = await starve(target, (args) => target.action(api.calls.tryMutation, args));
      expect(message).toContain("Documents read from or written to");
    },
  },
  {
    id: "1.5.attempt-anew",
    says: "each attempt has a new clock and sees the writes that it lost to",
    convexTest: NO_CONFLICTS,
    run: async (target) => {
      const { conflicts, seen } = await meet(target, {
        rows: [10],
        reads: [{ op: "get", at: 0 }],
        writes: [{ op: "patch", at: 0, value: { n: 11 } }],
      });
      // A new clock is the sign of a retry for `meet`.
      expect(conflicts).toBe(true);
      expect(seen[0]).toBe(11);
    },
  },
];
