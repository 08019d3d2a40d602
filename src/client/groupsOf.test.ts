/** Tokens made with `byQuery`: their workers have the jobs of the groups that the app's `groupsOf` answers at each call. */
import type { TestConvex } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  internalQueryGeneric,
  mutationGeneric,
} from "convex/server";
import { v } from "convex/values";
import { beforeEach, describe, expect, test } from "vitest";
import { Conveyor, type ComponentApi, type WorkerCall } from "./index.js";
import { refusal } from "./setup.test.js";
import { suiteOf } from "./suite.test.js";

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const functions: Record<string, any> = anyApi["app"] as never;
const renders = conveyor.queue("renders", { payload: v.string() });
const schema = defineSchema({
  members: defineTable({ token: v.string(), group: v.string() }).index("token", ["token"]),
});

const calls: WorkerCall[] = [];
/** Calls of the app's query. */
let asked: { id: string; name: string }[] = [];
beforeEach(() => {
  calls.length = 0;
  asked = [];
});

const app = {
  ...conveyor.workerApi({
    queues: [renders],
    continueWith: [renders],
    groupsOf: () => functions["groupsOf"],
    authorize: (_ctx, call) => calls.push(call) > 0,
  }),
  groupsOf: internalQueryGeneric({
    args: { id: v.string(), name: v.string() },
    handler: async ({ db }, args) => {
      asked.push(args);
      const rows = await db
        .query("members")
        .withIndex("token", (q) => q.eq("token", args.id))
        .collect();
      return rows.map(({ group }) => group as string);
    },
  }),
  enqueue: mutationGeneric({
    args: { group: v.string() },
    handler: (ctx, { group }) => renders.enqueue(ctx, group, { group }),
  }),
  enqueueLast: mutationGeneric({
    args: {},
    handler: (ctx) =>
      renders.enqueue(ctx, "last", { group: "a", priority: 5, onComplete: functions["ended"] }),
  }),
  ended: internalMutationGeneric({
    args: renders.onCompleteArgs,
    handler: async ({ db }) => {
      for (const row of await db.query("members").collect()) await db.delete("members", row._id);
    },
  }),
  status: conveyor.api({ queues: [renders], authorize: "public" }).status,
  create: conveyor.tokenApi().create,
};
const without = conveyor.workerApi({ queues: [renders] });
let answer: unknown;
const badly = internalQueryGeneric({
  args: { id: v.string(), name: v.string() },
  handler: () => answer as never,
});

const lists = {
  ...conveyor.workerApi({
    queues: [renders],
    groupsOf: () => (anyApi as any)["lists"]["badly"],
  }),
  badly,
};

type App = TestConvex<typeof schema>;

class Machine {
  n = 0;
  constructor(
    readonly t: App,
    readonly id: string,
    readonly token: string,
    readonly module = "app",
  ) {}

  private call(name: string): any {
    return (anyApi as any)[this.module][name];
  }
  watch(call: object): Promise<any> {
    return this.t.query(this.call("watch"), { token: this.token, call });
  }
  async claim(more: object = {}): Promise<any[]> {
    this.n += 1;
    const { token, n } = this;
    const args = {
      token,
      sessionKey: "s",
      name: "w",
      callSeq: n,
      queues: ["renders"],
      max: 9,
      ...more,
    };
    return (await this.t.mutation(this.call("claim"), args)).jobs;
  }
  async complete(finished: object[], more: object = {}): Promise<any> {
    this.n += 1;
    const args = { token: this.token, sessionKey: "s", callSeq: this.n, finished, ...more };
    return await this.t.mutation(this.call("complete"), args);
  }
  report(job: any): Promise<any> {
    const updates = [{ id: job.id, attempt: job.attempt, value: 1 }];
    return this.t.mutation(this.call("report"), { token: this.token, sessionKey: "s", updates });
  }
  beat(job: any): Promise<any> {
    const leases = [{ id: job.id, attempt: job.attempt }];
    return this.t.mutation(this.call("heartbeat"), { token: this.token, sessionKey: "s", leases });
  }
  async join(...groups: string[]): Promise<void> {
    await this.t.run(async ({ db }) => {
      for (const group of groups) await db.insert("members", { token: this.id, group });
    });
  }
  async leave(group: string): Promise<void> {
    await this.t.run(async ({ db }) => {
      for (const row of await db.query("members").collect())
        if (row.group === group) await db.delete("members", row._id);
    });
  }
}

async function machine(groups: unknown = "byQuery", module = "app"): Promise<Machine> {
  const t = suiteOf(app, schema, { without, lists });
  const { id, token } = await t.mutation(functions["create"], { name: "laptop", groups });
  for (const group of ["a", "b", "c"]) await t.mutation(functions["enqueue"], { group });
  return new Machine(t, id, token, module);
}

const look = { queues: ["renders"] };
const payloads = (jobs: { payload: string }[]) => jobs.map(({ payload }) => payload).sort();
const succeeded = ({ id, attempt }: any, more: object = {}) => ({
  ...{ id, attempt, outcome: { kind: "succeeded", result: null } },
  ...more,
});

describe("a token with byQuery", () => {
  // Shows LF-07, LF-08.
  test("peeks at, is notified of, and claims jobs of the groups that the app answers, and no other", async () => {
    const one = await machine();
    await one.join("a", "b");
    expect(payloads(await one.watch({ kind: "peek", ...look }))).toEqual(["a", "b"]);
    expect(await one.watch({ kind: "hasWork", ...look })).toBe(true);
    expect((await one.watch({ kind: "hasWork", naming: true, ...look })).jobs).toHaveLength(2);
    expect(payloads(await one.claim())).toEqual(["a", "b"]);
    expect(asked).toEqual(Array.from({ length: 4 }, () => ({ id: one.id, name: "laptop" })));
  });

  // Shows LF-06, C20.
  test("follows the app's rows from one call to the next: nothing of a group that it has left, at once what it has joined", async () => {
    const one = await machine();
    expect(await one.watch({ kind: "hasWork", ...look })).toBe(false);
    expect(await one.watch({ kind: "hasWork", naming: true, ...look })).toEqual({
      ...{ jobs: [], more: false },
    });
    expect(await one.watch({ kind: "peek", ...look })).toEqual([]);
    expect(await one.claim()).toEqual([]);
    await one.join("a", "b");
    const [first] = await one.claim({ max: 1 });
    const [left, kept] = first.payload === "a" ? ["a", "b"] : ["b", "a"];
    await one.leave(kept);
    expect(await one.watch({ kind: "hasWork", ...look })).toBe(false);
    const claim = { queues: ["renders"], max: 9 };
    expect((await one.complete([succeeded(first)], { claim })).jobs).toEqual([]);
    await one.join(kept);
    expect(payloads(await one.claim())).toEqual([kept]);
    expect(left).not.toBe(kept);
  });

  test("claims nothing of a group that the callback of an outcome in the same call has taken from it", async () => {
    const one = await machine();
    await one.join("a", "b");
    await one.t.mutation(functions["enqueueLast"], {});
    const [last] = await one.claim({ max: 1 });
    expect(last).toMatchObject({ payload: "last" });
    const claim = { queues: ["renders"], max: 9 };
    const done = await one.complete([succeeded(last)], { claim });
    expect(done.answers).toMatchObject([{ answer: "ok" }]);
    expect(done.jobs).toEqual([]);
    await one.join("b");
    const next = await one.claim();
    expect(payloads(next)).toEqual(["b"]);
  });

  test("of the groups that its worker names has the answered ones alone, also by name", async () => {
    const one = await machine();
    await one.join("a", "b");
    expect(payloads(await one.watch({ kind: "peek", ...look, groups: ["b", "c"] }))).toEqual(["b"]);
    expect(await one.watch({ kind: "hasWork", ...look, groups: ["c"] })).toBe(false);
    expect(await one.claim({ groups: ["c"] })).toEqual([]);
    const jobs = await one.watch({ kind: "peek", ...look });
    await one.leave("a");
    const named = jobs.map(({ id }: { id: string }) => id);
    expect(payloads(await one.claim({ named, lookIn: [] }))).toEqual(["b"]);
  });

  test("keeps the job that it runs when it leaves the group: beats, reports, its outcome, and jobs to follow in that job's group", async () => {
    const one = await machine();
    await one.join("a");
    const [job] = await one.claim();
    await one.leave("a");
    expect((await one.beat(job)).answers).toMatchObject([{ answer: "ok" }]);
    expect((await one.report(job)).answers).toMatchObject([{ answer: "ok" }]);
    const follow = (group?: string) => [
      { queue: "renders", payload: "next", ...(group === undefined ? {} : { options: { group } }) },
    ];
    const done = await one.complete([succeeded(job, { continued: follow() })]);
    expect(done.answers).toMatchObject([{ answer: "ok" }]);
    expect(await one.claim()).toEqual([]);
    await one.join("a");
    const [next] = await one.claim();
    expect(next).toMatchObject({ payload: "next", group: "a" });
    await one.complete([succeeded(next, { continued: follow("b") })]);
    const { status, error } = await one.t.query(functions["status"], { id: next.id });
    expect([status, error]).toEqual(["failed", expect.stringContaining('not of the group "b"')]);
  });

  test("is shown to authorize as it was made, with the groups that its worker names", async () => {
    const one = await machine();
    await one.watch({ kind: "hasWork", ...look });
    await one.claim({ groups: ["a"] });
    expect(calls).toMatchObject([
      { kind: "hasWork", token: { id: one.id, groups: "byQuery" }, groups: "byQuery" },
      { kind: "claim", token: { groups: "byQuery" }, groups: ["a"] },
    ]);
  });

  test("is refused where the app names no query, and lets a repeat of its first call have the first answer", async () => {
    const one = await machine("byQuery", "without");
    for (const call of [
      one.watch({ kind: "hasWork", ...look }),
      one.watch({ kind: "peek", ...look }),
      one.claim(),
    ])
      expect((await refusal(call, "groupForbidden")).message).toContain("Give `groupsOf`");
    const other = await machine();
    await other.join("a");
    const first = await other.claim();
    await other.leave("a");
    other.n = 0;
    expect(await other.claim()).toEqual(first);
  });
});

test("of other tokens the app's query is not asked", async () => {
  for (const groups of [["a"], { prefix: "a" }, null]) {
    const one = await machine(groups);
    expect(payloads(await one.claim())).toEqual(groups === null ? ["a", "b", "c"] : ["a"]);
    expect(await one.watch({ kind: "hasWork", ...look })).toBe(false);
  }
  expect(asked).toEqual([]);
});

test.each([
  ["no list", "a"],
  ["nothing", null],
  ["a list of other things", [1]],
  ["more than 64", Array.from({ length: 65 }, (_none, i) => `g${i}`)],
  ["one that is too long", ["g".repeat(129)]],
  ["a blank one", [" "]],
  [
    "more bytes than a session's row can hold",
    Array.from({ length: 40 }, (_n, i) => `漢${i}`.repeat(30)),
  ],
])("an answer that is %s is refused, and nothing is claimed", async (_name, given) => {
  const one = await machine("byQuery", "lists");
  answer = given;
  await refusal(one.claim(), "invalidArgument");
  await refusal(one.watch({ kind: "hasWork", ...look }), "invalidArgument");
});

test("groupsOf is a function that returns the reference", () => {
  const make = () => conveyor.workerApi({ queues: [renders], groupsOf: functions["x"] as never });
  expect(make).toThrow(/Write `groupsOf: \(\) => internal/);
});
