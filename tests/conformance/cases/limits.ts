/** §3 and §1.9: limits that a function can run into, each with its error. */
import { expect } from "vitest";
import { api } from "../app/convex/_generated/api.js";
import { newGroup, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";

const make = (target: Target, what: string, size: number) =>
  target.mutation(api.values.make, { group: newGroup(), what, size });

function size(id: string, says: string, what: string, largest: number): Case {
  return {
    id,
    says,
    run: async (target) => {
      await make(target, what, largest);
      await refusal(make(target, what, largest + 1));
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
    convexTest: "it counts, and enforces only when asked to",
  };
}

export const limits: Case[] = [
  {
    id: "3.document-size",
    says: "a document holds 1 MiB, and not more",
    run: async (target) => {
      await make(target, "string", (1 << 20) - 400);
      await refusal(make(target, "string", (1 << 20) + 1));
    },
    convexTest: { differs: "it has no such limit" },
  },
  size("3.array-length", "an array has at most 8,192 elements", "array", 8192),
  size("3.fields", "an object has at most 1,024 fields", "object", 1024),
  {
    id: "3.nesting",
    says: "a document nests 16 levels deep, and no deeper",
    run: async (target) => {
      await make(target, "nested", 14);
      await refusal(make(target, "nested", 17));
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
      await refusal(target.mutation(api.jobs.many, { group, count: 18, chars: 1 << 20 }));
    },
    convexTest: { differs: "it has no such limit" },
  },
  overrun("3.one-paginate", "one paginated query a function", "paginateTwice", /paginat/i),
  overrun("3.operators", "a query has at most 256 operators", "operators", /256|operators/i),
];
