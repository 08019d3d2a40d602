/** The functions for workers: names become declarations, results are checked, tokens are asked for. */
import { readFileSync } from "node:fs";
import { anyApi, mutationGeneric, type FunctionReference } from "convex/server";
import { v } from "convex/values";
import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { readLine } from "../component/claim/lines.test.js";
import { WORKER_PROTOCOL, type Outcome } from "../shared/index.js";
import {
  api,
  conveyor,
  exportsOfRows,
  internal,
  pages,
  refusal,
  setup,
  setupSession,
  tiles,
  watching,
  type App,
} from "./setup.test.js";

async function claimed(t: App, payloads: { x: number; label?: string }[]) {
  const ids = await t.mutation(...pages.enqueueMany("tiles", payloads));
  const session = await setupSession(t);
  const { jobs } = await t.mutation(api.app.claim, {
    ...session,
    name: "w",
    callSeq: 1,
    queues: ["tiles"],
    max: 10,
  });
  expect(jobs.map(({ id }) => id).sort()).toEqual([...ids].sort());
  const report = (index: number, outcome: Outcome, queue?: string) => {
    const job = jobs.find(({ id }) => id === ids[index])!;
    return { id: job.id, attempt: job.attempt, outcome, ...(queue === undefined ? {} : { queue }) };
  };
  return { ids, jobs, sessionKey: session, report };
}

const good: Outcome = { kind: "succeeded", result: { pixels: "abc" } };

describe("results", () => {
  // Shows LF-24, D2.
  test("one that fits is kept, and passed to onComplete in the same transaction", async () => {
    const t = setup();
    const { ids, sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
    const finished = [report(0, good, "tiles")];
    const reply = await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    expect(reply.answers).toMatchObject([{ id: ids[0], answer: "ok" }]);
    expect(await t.query(...pages.status(ids[0]!))).toMatchObject({
      status: "succeeded",
      worker: "w",
      result: { pixels: "abc" },
    });
    const rows = await t.run((ctx) => ctx.db.query("done").collect());
    expect(rows).toMatchObject([{ job: ids[0], outcome: { status: "succeeded" } }]);
  });

  const bad: Outcome = { kind: "succeeded", result: { pixels: 7 } };

  // Shows D17.
  test("one that does not fit fails its own job with the reason, also in the log, and the rest of the batch stands", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const t = setup();
    const { ids, sessionKey: session, report } = await claimed(t, [{ x: 1 }, { x: 2 }]);
    const finished = [report(0, bad, "tiles"), report(1, good, "tiles")];
    const { answers, refused } = await t.mutation(api.app.complete, {
      ...session,
      callSeq: 2,
      finished,
    });
    expect(answers.map(({ answer }) => answer)).toEqual(["ok", "ok"]);
    expect(refused).toEqual([
      { id: ids[0], attempt: 1, error: expect.stringContaining("result.pixels must be string") },
    ]);
    const first = await t.query(...pages.status(ids[0]!));
    expect(first).toMatchObject({
      status: "failed",
      error: expect.stringContaining("result.pixels must be string, got number"),
    });
    expect(warn.mock.calls.map(([line]) => readLine(line))).toContainEqual({
      ...{ conveyor: "resultRefused", level: "warn", job: ids[0], attempt: 1 },
      error: expect.stringContaining("result.pixels must be string"),
    });
    warn.mockRestore();
    expect(await t.query(...pages.status(ids[1]!))).toMatchObject({ status: "succeeded" });
  });

  test("no result where the validator wants one fails the job", async () => {
    const t = setup();
    const { ids, sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
    const finished = [report(0, { kind: "succeeded" }, "tiles")];
    await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    expect(await t.query(...pages.status(ids[0]!))).toMatchObject({ status: "failed" });
  });

  test("one with an id that is none of its table fails its job: no callback would take it", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const stored = conveyor.queue("stored", { result: v.object({ row: v.id("done") }) });
    const worker = conveyor.workerApi({ queues: [stored] });
    const enqueue = mutationGeneric({ args: {}, handler: (ctx) => stored.enqueue(ctx) });
    const t = setup({ modules: { worker: { ...worker, enqueue } } });
    const call: Record<string, any> = anyApi["worker"] as never;
    const row = await t.run((ctx) =>
      ctx.db.insert("done", { job: "" as never, x: 1, outcome: null }),
    );
    const session = await setupSession(t);
    for (const _ of [1, 2]) await t.mutation(call["enqueue"], {});
    const claim = { ...session, name: "w", callSeq: 1, queues: ["stored"], max: 2 };
    const { jobs } = await t.mutation(call["claim"], claim);
    const finished = ["nonsense", row].map((row, i) => ({
      ...{ id: jobs[i].id, attempt: 1, queue: "stored" },
      outcome: { kind: "succeeded", result: { row } },
    }));
    const reply = await t.mutation(call["complete"], { ...session, callSeq: 2, finished });
    vi.restoreAllMocks();
    const error = expect.stringContaining("result.row must be Id<done>, got string");
    expect(reply.refused).toEqual([{ id: jobs[0].id, attempt: 1, error }]);
  });

  // Shows C26.
  test("outcomes and the next claim go in one call", async () => {
    const t = setup();
    const { sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
    const next = await t.mutation(...pages.enqueue("tiles", { x: 2 }));
    const { answers, jobs } = await t.mutation(api.app.complete, {
      ...session,
      callSeq: 2,
      finished: [report(0, good, "tiles")],
      claim: { queues: ["tiles"], max: 5 },
    });
    expect(answers).toHaveLength(1);
    expect(jobs.map(({ id }) => id)).toEqual([next]);
  });
});

describe("jobs that follow", () => {
  const follow = async (queue: string, payload: unknown, options: object = {}) => {
    const t = setup();
    const { ids, sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
    const continued = [{ queue, payload, options }];
    const finished = [{ ...report(0, good, "tiles"), continued }];
    const reply = await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    const again = await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    expect(again.refused).toEqual(reply.refused);
    const row = await t.run((ctx) => ctx.db.query("done").first());
    const { counts } = await t.query(api.app.stats, { queue: "exports" });
    return { refused: reply.refused, outcome: row!.outcome, id: ids[0], counts };
  };

  test("are enqueued with the result, once, though the call is repeated", async () => {
    const { refused, outcome, counts } = await follow("exports", { row: "x", copies: 1 });
    expect(refused).toBeUndefined();
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(counts.pending.count).toBe(1);
  });

  test.each<[string, string, object, object, RegExp]>([
    ["of a queue that workers may not continue with", "tiles", { x: 1 }, {}, /may not continue/],
    ["of no queue", "nope", {}, {}, /may not continue/],
    ["that do not fit", "exports", { row: 5, copies: 1 }, {}, /payload.row must be/],
    [
      "with a key that replaces another job",
      "exports",
      { row: "x", copies: 1 },
      { key: { value: "k", onConflict: "replace" } },
      /may not replace/,
    ],
    ["with options out of bounds", "exports", { row: "x", copies: 1 }, { priority: 99 }, /riority/],
  ])(
    "%s fail the one that they follow, and the worker gets the reason",
    async (_, queue, payload, options, message) => {
      vi.spyOn(console, "warn").mockImplementation(() => {});
      const { refused, outcome, id, counts } = await follow(queue, payload, options);
      vi.restoreAllMocks();
      expect(refused).toEqual([{ id, attempt: 1, error: expect.stringMatching(message) }]);
      expect(outcome).toMatchObject({ status: "failed", error: expect.stringMatching(message) });
      expect(counts.pending.count).toBe(0);
    },
  );
});

test("a job that follows cancels none of the app's that has its key", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const key = { value: "user-1", onConflict: "replace" as const };
  const module = {
    enqueueKeyed: mutationGeneric({
      args: {},
      handler: async (ctx) => {
        const row = await ctx.db.insert("done", { job: "", x: 1, outcome: null });
        await exportsOfRows.enqueue(ctx, { row: row, copies: 1 }, { key: "user-1" });
      },
    }),
  };
  const t = setup({ modules: { keyed: module } });
  const { enqueueKeyed } = anyApi["keyed"] as unknown as Record<
    string,
    FunctionReference<"mutation">
  >;
  await t.mutation(enqueueKeyed!, {});
  const { sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
  const continued = [{ queue: "exports", payload: { row: "x", copies: 2 }, options: { key } }];
  const finished = [{ ...report(0, good, "tiles"), continued }];
  await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
  vi.restoreAllMocks();
  const { counts } = await t.query(api.app.stats, { queue: "exports" });
  expect(counts.pending.count).toBe(1);
  expect(counts.canceled.count).toBe(0);
});

test("an outcome that is handed over is recorded by itself, and a complete finds it so", async () => {
  vi.useFakeTimers();
  const t = setup();
  const { ids, sessionKey: session, report } = await claimed(t, [{ x: 1 }]);
  const finished = report(0, good, "tiles");
  const later = await t.mutation(api.app.complete, {
    ...session,
    finished: [finished],
    later: true,
  });
  expect(later).toEqual({ answers: [], jobs: [] });
  await t.finishAllScheduledFunctions(() => vi.advanceTimersByTime(1));
  vi.useRealTimers();
  expect(await t.query(...pages.status(ids[0]!))).toMatchObject({ status: "succeeded" });
  const reply = await t.mutation(api.app.complete, {
    ...session,
    callSeq: 2,
    finished: [finished],
  });
  expect(reply.answers).toMatchObject([{ answer: "recorded" }]);
});

describe("hello", () => {
  test("says of which release the deployment is, the same to all workers of a token", async () => {
    const t = setup();
    const { token } = await setupSession(t, ["tiles"]);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    const hello = { kind: "hello" as const, queues: ["tiles"] };
    expect(await watching(t, token, hello)).toEqual({ protocol: WORKER_PROTOCOL, version });
    await refusal(watching(t, token, { ...hello, queues: ["nope"] }), "unknownQueue");
  });

  test("names the queues of the token that are not served here", async () => {
    const t = setup();
    const { token } = await setupSession(t, ["tiles", "tyles"]);
    const hello = await watching(t, token, { kind: "hello", queues: ["tiles"] });
    expect(hello).toMatchObject({ notServed: ["tyles"] });
  });
});

test.each([
  ["no outcome", [], {}],
  ["two outcomes", ["a", "b"], {}],
  ["a claim", ["a"], { claim: { queues: ["tiles"], max: 1 } }],
])("an outcome handed over with %s is refused with the rule", async (_, ids, more) => {
  const t = setup();
  const session = await setupSession(t);
  const finished = ids.map((id) => ({ id, attempt: 1, outcome: { kind: "released" as const } }));
  const call = t.mutation(api.app.complete, { ...session, finished, later: true, ...more });
  expect(await refusal(call, "invalidArgument")).toMatchObject({
    argument: "later",
    message: expect.stringContaining("a call hands over one outcome, and claims nothing; got"),
  });
});

test("a complete that is not numbered is refused with the rule", async () => {
  const t = setup();
  const call = t.mutation(api.app.complete, { ...(await setupSession(t)), finished: [] });
  expect(await refusal(call, "invalidArgument")).toMatchObject({
    argument: "callSeq",
    message: expect.stringContaining("one more than the last"),
  });
});

test("an app exports five functions for workers", () => {
  const five = ["claim", "complete", "heartbeat", "report", "watch"];
  expect(Object.keys(conveyor.workerApi({ queues: [tiles] })).sort()).toEqual(five);
});

describe("refusals", () => {
  test.each(["claim", "hasWork"] as const)(
    "%s of a queue that is not served is refused, naming the served ones",
    async (call) => {
      const t = setup();
      const session = await setupSession(t);
      const asked =
        call === "claim"
          ? t.mutation(api.app.claim, {
              ...session,
              name: "w",
              callSeq: 1,
              queues: ["nope"],
              max: 1,
            })
          : watching(t, session.token, { kind: "hasWork", queues: ["nope"] });
      const data = await refusal(asked, "unknownQueue");
      expect(data).toMatchObject({ served: ["tiles", "loose"] });
    },
  );

  test("a queue outside the token's scope", async () => {
    const t = setup();
    const session = await setupSession(t, ["loose"]);
    const claim = { ...session, name: "w", callSeq: 1, queues: ["tiles"], max: 1 };
    await refusal(t.mutation(api.app.claim, claim), "queueForbidden");
  });

  test("a revoked token", async () => {
    const t = setup();
    const session = await setupSession(t);
    const [token] = await t.query(internal.app.listTokens, {});
    expect(token).toMatchObject({ name: "test", queues: null });
    await t.mutation(internal.app.revokeToken, { id: token!.id });
    await refusal(t.mutation(api.app.heartbeat, { ...session, leases: [] }), "tokenRevoked");
  });

  test("a queue that workerApi lists twice", async () => {
    const build = async () => conveyor.workerApi({ queues: [tiles, tiles] });
    await refusal(build(), "invalidArgument");
  });
});

test("the claimed jobs are a union on the queue, each with its payload", () => {
  type Jobs = (typeof api.app.claim)["_returnType"]["jobs"];
  type Tile = Extract<Jobs[number], { queue: "tiles" }>;
  expectTypeOf<Tile["payload"]>().toEqualTypeOf<{ x: number; label?: string }>();
  expectTypeOf<Jobs[number]["queue"]>().toEqualTypeOf<"tiles" | "loose">();
});
