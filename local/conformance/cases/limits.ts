/** §3 and §1.9: limits that a function can run into, each with its error. */
import { expect } from "vitest";
import { until } from "../../until.js";
import { api } from "../app/convex/_generated/api.js";
import { commitTs, newGroup, NO_WIRE, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";
import { post } from "../wire.js";

const COUNTS_ONLY = "it counts, and enforces only when asked to";

const make = (target: Target, what: string, size: number) =>
  target.mutation(api.values.make, { group: newGroup(), what, size });

function size(id: string, says: string, what: string, largest: number, words: RegExp): Case {
  return {
    id,
    says,
    run: async (target) => {
      await make(target, what, largest);
      expect(await refusal(make(target, what, largest + 1))).toMatch(words);
    },
    convexTest: { differs: "it has no such limit" },
  };
}

function overrun(id: string, says: string, what: string, words: RegExp): Case {
  return {
    id,
    says,
    run: async (target) => {
      const group = newGroup();
      const message = await refusal(target.mutation(api.limits.over, { group, what }));
      expect(message).toMatch(words);
    },
    convexTest: COUNTS_ONLY,
  };
}

/**
 * Writes 5.4 MB at once, of 4 MiB that are allowed in a second, then a little: which must not commit before a second has
 * passed since the burst began. `false` if the burst itself took as long.
 */
async function outran(target: Target): Promise<boolean> {
  const group = newGroup();
  const stamp = async () =>
    commitTs(await target.mutation(api.limits.large, { group, size: 900_000 }));
  const burst = (await Promise.all([1, 2, 3, 4, 5, 6].map(stamp))).sort((a, b) => Number(a - b));
  if (burst.at(-1)! - burst[0]! > 700_000_000n) return false;
  try {
    const after = commitTs(await target.mutation(api.limits.large, { group, size: 1 }));
    expect(after - burst[0]!).toBeGreaterThan(950_000_000n);
  } catch (error) {
    if (!String(error).includes("TooManyWrites")) throw error;
  }
  return true;
}

export const limits: Case[] = [
  {
    id: "3.document-size",
    says: "a document holds 1 MiB, and not more",
    run: async (target) => {
      await make(target, "string", (1 << 20) - 400);
      expect(await refusal(make(target, "string", (1 << 20) + 1))).toMatch(/is too large/);
    },
    convexTest: { differs: "it has no such limit" },
  },
  size(
    "3.array-length",
    "an array has at most 8,192 elements",
    "array",
    8192,
    /Array length is too long.*8192/s,
  ),
  size("3.fields", "an object has at most 1,024 fields", "object", 1024, /too many fields.*1024/s),
  {
    id: "3.nesting",
    says: "a document nests 16 levels deep, and no deeper",
    run: async (target) => {
      await make(target, "nested", 14);
      expect(await refusal(make(target, "nested", 17))).toMatch(/too nested|nest/i);
    },
    convexTest: { differs: "it has no such limit" },
  },
  {
    id: "3.scheduled",
    says: "a mutation schedules at most 1,000 functions",
    run: async (target) => {
      const schedule = (count: number) =>
        target.mutation(api.jobs.many, { group: newGroup(), count, chars: 0 });
      await schedule(1000);
      expect(await refusal(schedule(1001))).toContain(
        "Too many functions scheduled by this mutation (limit: 1000)",
      );
    },
    convexTest: { differs: "it has no such limit" },
  },
  {
    id: "3.scheduled-arguments",
    says: "with 16 MiB of arguments at most",
    run: async (target) => {
      const group = newGroup();
      const message = await refusal(
        target.mutation(api.jobs.many, { group, count: 18, chars: 1 << 20 }),
      );
      expect(message).toMatch(/arguments/i);
      expect(await target.query(api.jobs.notes, { group })).toEqual([]);
    },
    convexTest: { differs: "it has no such limit" },
  },
  {
    id: "3.documents-read",
    says: "a function reads at most 32,000 documents, the same ones again included",
    run: async (target) => {
      const group = newGroup();
      const ns = Array.from({ length: 1000 }, (_, n) => n);
      await target.mutation(api.rows.seed, { group, ns });
      const reading = target.mutation(api.limits.over, { group, what: "documentsRead" });
      expect(await refusal(reading)).toMatch(/Too many documents read.*32000/s);
    },
    convexTest: COUNTS_ONLY,
  },
  {
    ...overrun("3.reads", "and at most 4,096 ranges", "reads", /Too many reads.*4096/s),
    // Thousands of system calls take some of the time that they may: beside other cases too much.
    alone: true,
  },
  overrun("3.bytes-read", "and at most 16 MiB", "bytesRead", /Too many bytes read.*16777216/s),
  {
    ...overrun(
      "3.documents-written",
      "it writes at most 16,000 documents",
      "documentsWritten",
      /Too many.*16000/s,
    ),
    alone: true,
  },
  overrun("3.bytes-written", "and 16 MiB", "bytesWritten", /Too many bytes written.*16777216/s),
  {
    id: "3.result-size",
    says: "a function returns at most 16 MiB",
    run: async (target) => {
      const long = (size: number) => target.query(api.values.long, { group: "", size });
      expect(await long(1 << 20)).toHaveLength(1 << 20);
      expect(await refusal(long((16 << 20) + 1))).toMatch(/too large.*16/s);
    },
    convexTest: { differs: "it has no such limit" },
  },
  {
    id: "3.user-time",
    says: "a mutation that computes for more than a second is stopped",
    run: async (target) => {
      const group = newGroup();
      const message = await refusal(target.mutation(api.limits.over, { group, what: "time" }));
      // The local backend is given four seconds here, for busy machines; `threads/overrun.test.ts` has its own default.
      expect(message).toMatch(/Function execution timed out \(maximum duration: [14]s\)/);
    },
    convexTest: "it is never stopped",
  },
  {
    id: "3.action-operations",
    says: "an action may have 200 operations in flight",
    run: async (target) => {
      expect(await target.action(api.limits.manyOperations, { count: 200 })).toBe(200);
    },
  },
  {
    id: "3.log-lines",
    says: "a function has 256 log lines, the rest is dropped",
    convexTest: NO_WIRE,
    run: async (target) => {
      const body = { path: "limits:logs", args: { count: 300 } };
      const reply = await post(target.server(), "/api/mutation", { body });
      const { logLines } = reply.body as { logLines: string[] };
      expect(logLines.length).toBeGreaterThanOrEqual(255);
      // One more may say that there were more.
      expect(logLines.length).toBeLessThanOrEqual(257);
    },
  },
  {
    id: "3.scheduled-parallelism",
    says: "on the smallest class eight scheduled functions run at once, and the ninth waits",
    alone: true,
    run: async (target) => {
      const group = newGroup();
      const ns = Array.from({ length: 9 }, (_, n) => n + 1);
      await target.mutation(api.jobs.later, { group, what: "slowAction", ns, ms: 0 });
      const begun = () => target.query(api.jobs.notes, { group });
      expect(await until(begun, (rows) => rows.length >= 8)).toHaveLength(8);
      const { deployment } = (await target.mutation(api.runtime.metadata, {})) as {
        deployment: { class: string };
      };
      expect(deployment.class).toBe("s16");
      expect(await begun()).toHaveLength(8);
      await target.mutation(api.rows.seed, { group, ns: [0] });
      // Each of the nine says so at its beginning, and leaves a row at its end.
      await until(begun, (rows) => rows.filter(({ n }) => n < 0).length === 9);
    },
    localOnly: "a real deployment may be of a class that runs more",
  },
  {
    id: "3.burst",
    says: "more mutations at once than may run are served, one after the other",
    run: async (target) => {
      const group = newGroup();
      const ns = Array.from({ length: 40 }, (_, n) => n);
      await Promise.all(ns.map((n) => target.mutation(api.rows.seed, { group, ns: [n] })));
      const steps = [{ op: "read" }];
      expect(await target.query(api.rows.look, { group, ids: [], steps })).toEqual([ns]);
    },
  },
  {
    id: "3.burst-of-nested-actions",
    says: "actions that call actions find permits for both while there are enough",
    run: async (target) => {
      const calls = Array.from({ length: 10 }, (_, n) => `${n}`);
      const call = (group: string) => target.action(api.calls.actionCallsAction, { group });
      expect(await Promise.all(calls.map(call))).toEqual(calls.map((n) => `inner ${n}`));
    },
  },
  {
    id: "3.write-rate",
    says: "a caller that has written more than its class allows in a second waits, or is refused",
    alone: true,
    run: async (target) => {
      for (let tries = 0; tries < 6; tries++) if (await outran(target)) return;
      throw new Error("The burst never fitted into a second.");
    },
    localOnly: "a real deployment may be of a class that writes faster",
  },
  overrun("3.one-paginate", "one paginated query a function", "paginateTwice", /paginat/i),
  overrun("3.page-whole", "of a whole number of rows", "halfAPage", /for `queryPage`/),
  overrun("3.page-whole-read", "read, too", "halfARowRead", /for `queryPage`/),
  overrun("3.operators", "a query has at most 256 operators", "operators", /256|operators/i),
];
