/** Only `true` opens the functions of a queue and the functions of workers. */
import { ConvexError, v } from "convex/values";
import { describe, expect, test } from "vitest";
import { Conveyor } from "./index.js";

/** A component of which each function is there. */
const part = new Proxy({}, { get: () => "a function" });
const conveyor = new Conveyor(new Proxy({}, { get: () => part }) as never);
const tiles = conveyor.queue("tiles", { payload: v.any() });
const unread = () => expect.fail("the component was called");
const ctx = { db: {}, runQuery: unread, runMutation: unread };

type Handler = { _handler: (ctx: unknown, args: unknown) => Promise<unknown> };
const call = (made: unknown, args: unknown, of: object = ctx) =>
  (made as Handler)._handler(of, args);

/** Answers of untyped code that are no yes. */
const NO: [string, unknown][] = [
  ["false", () => false],
  ["false, later", async () => await Promise.resolve(false)],
  ["nothing", () => undefined],
  ["nothing, later", async () => {}],
  ["a word", () => "yes"],
  ["one", () => 1],
  ["an object", () => ({})],
  ["null", () => null],
  ["no function", undefined],
  ["another word for public", "Public"],
];
const refused = { data: { code: "forbidden" } };

describe("the functions of a queue, where authorize answers", () => {
  const ARGS: Record<string, unknown> = {
    enqueue: { payload: 1 },
    enqueueBatch: { payloads: [1] },
    status: { id: "a" },
    statusBatch: { ids: ["a"] },
    attempts: { id: "a" },
    logs: { id: "a" },
    output: { id: "a" },
    cancel: { id: "a" },
    retry: { id: "a" },
    list: {},
    byKey: { key: "k" },
    position: { id: "a" },
    why: { id: "a" },
    counts: {},
    stats: { per: "hour" },
    gauge: {},
    health: {},
  };

  test.for(NO)("%s: each refuses, and says so", async ([, authorize]) => {
    const functions = { ...tiles.api({ authorize: authorize as never }) } as Record<
      string,
      unknown
    >;
    expect(Object.keys(functions).sort()).toEqual(Object.keys(ARGS).sort());
    for (const [name, made] of Object.entries(functions)) {
      const error = await call(made, ARGS[name]).then(
        () => expect.fail(`${name} answered`),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ConvexError);
      expect(error).toMatchObject(refused);
      expect((error as ConvexError<{ message: string }>).data.message).toContain("authorize");
    }
  });

  test("true, at once or later, or the word public: they go on", async () => {
    for (const authorize of [() => true, async () => await Promise.resolve(true), "public"]) {
      const { status } = tiles.api({ authorize: authorize as never });
      let reads = 0;
      const runQuery = () => Promise.resolve(((reads += 1), null));
      expect(await call(status, { id: "a" }, { ...ctx, runQuery })).toBeNull();
      expect(reads).toBe(1);
    }
  });
});

test("an authorize that answers nothing does not compile", () => {
  // @ts-expect-error An empty function is no yes.
  tiles.api({ authorize: async () => {} });
  // @ts-expect-error Nor is one that forgets its answer.
  tiles.api({ authorize: (ctx) => void ctx.auth.getUserIdentity() });
  // @ts-expect-error Workers' functions keep the same rule.
  conveyor.workerApi({ queues: [tiles], authorize: () => {} });
  // @ts-expect-error They are open to no one without a token.
  conveyor.workerApi({ queues: [tiles], authorize: "public" });
  // @ts-expect-error The dashboard's keep it.
  conveyor.dashboardApi({ authorize: async () => {} });
  // @ts-expect-error Another name is no leave.
  conveyor.dashboardApi({ maySee: () => true, mayAct: () => true });
  // @ts-expect-error Nor is none.
  conveyor.dashboardApi({});
  // @ts-expect-error Metrics keep it too.
  conveyor.metrics({ authorize: (_ctx, request) => void request.headers });
  conveyor.dashboardApi({ authorize: (_ctx, call) => !call.changes || call.queue === "tiles" });
  conveyor.dashboardApi({ authorize: "public" });
  conveyor.metrics({ authorize: "public" });
});

describe("the functions of workers, where authorize answers", () => {
  const of = { token: "t", session: "s" };
  const ARGS: Record<string, unknown> = {
    watch: { token: "t", call: { kind: "hello", queues: ["tiles"] } },
    claim: { ...of, name: "w", n: 1, queues: ["tiles"], max: 1 },
    complete: { ...of, n: 1, finished: [] },
    heartbeat: { ...of, leases: [] },
    report: of,
  };

  /** The token is a worker's; nothing is written. */
  const token = { id: "t", name: "gpu", queues: null, groups: null };
  const known = { ...ctx, runQuery: () => Promise.resolve(token) };

  test.for(NO.filter(([, authorize]) => authorize !== undefined))(
    "%s: each refuses, and says so",
    async ([, authorize]) => {
      const functions = conveyor.workerApi({ queues: [tiles], authorize: authorize as never });
      for (const [name, made] of Object.entries(functions)) {
        await expect(call(made, ARGS[name], known), name).rejects.toMatchObject(refused);
      }
      const looks = ["hasWork", "peek"].map((kind) => ({ kind, queues: ["tiles"] }));
      for (const one of [...looks, { kind: "cancellations", session: "s" }]) {
        const watched = call(functions.watch, { token: "t", call: one }, known);
        await expect(watched, one.kind).rejects.toMatchObject(refused);
      }
      const last = { id: "a", attempt: 1, outcome: { kind: "succeeded" } };
      const later = call(functions.complete, { ...of, finished: [last], later: true }, known);
      await expect(later).rejects.toMatchObject(refused);
    },
  );
});
