/** Only `true` opens the functions for pages and the functions of workers. */
import { ConvexError, v } from "convex/values";
import { describe, expect, test } from "vitest";
import { Conveyor } from "./index.js";

/** A component of which each function is there. */
const part = new Proxy({}, { get: () => "a function" });
const conveyor = new Conveyor(new Proxy({}, { get: () => part }) as never);
const tiles = conveyor.queue("tiles", { payload: v.any() });
const others = conveyor.queue("others", { payload: v.any() });
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
const refused = { data: { code: "forbidden", message: expect.stringContaining("authorize") } };

describe("the functions for pages, where authorize answers", () => {
  const ARGS: Record<string, object> = {
    enqueue: { queue: "tiles", payload: 1 },
    status: { id: "a" },
    list: { queue: "tiles" },
    stats: { queue: "tiles" },
    logs: { id: "a" },
    output: { id: "a" },
    cancel: { id: "a" },
    retry: { id: "a" },
  };
  const MORE: [string, object][] = [
    ["enqueue", { queue: "tiles", payloads: [1, 2] }],
    ["status", { ids: ["a", "b"] }],
    ["status", { queue: "tiles", key: "k" }],
  ];

  /** The answer of any query: the job is one of `tiles`. Nothing is written. */
  const job = { id: "a", queue: "tiles", status: "pending", ...{ at: 0, why: null } };
  const told = (args: { ids?: string[] }) => args.ids?.map((id) => ({ ...job, id })) ?? job;
  let asked: unknown[] = [];
  const found = {
    ...ctx,
    runQuery: (_query: unknown, args: object) => Promise.resolve(told(args)),
  };
  /** `queueOf` answers with a name. */
  const named = { ...ctx, runQuery: () => Promise.resolve("tiles") };
  const ctxOf = (name: string) => (name === "cancel" || name === "retry" ? named : found);

  const built = (authorize: unknown) => ({
    "conveyor.api": conveyor.api({
      queues: [tiles, others],
      authorize: authorize as never,
      enqueue: { tiles: true },
    }),
    "queue.api": tiles.api({ authorize: authorize as never, enqueue: true }),
  });

  // Shows DE-09.
  test.for(NO)("%s: each refuses, and says so", async ([, authorize]) => {
    for (const functions of Object.values(built(authorize))) {
      expect(Object.keys(functions).sort()).toEqual(Object.keys(ARGS).sort());
      for (const [name, args] of [...Object.entries(ARGS), ...MORE]) {
        const error = await call((functions as any)[name], args, ctxOf(name)).then(
          () => expect.fail(`${name} answered`),
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(ConvexError);
        expect(error).toMatchObject(refused);
      }
    }
  });

  test("it receives the operation, the queue in the job's row and the job, and of several jobs one by one", async () => {
    const told = ({ kind: _, ...call }: { kind: string }) => call;
    const authorize = (_ctx: unknown, call: { kind: string }) => (asked.push(call), true);
    for (const functions of Object.values(built(authorize))) {
      asked = [];
      const requests = { why: true, attempts: 3, options: true };
      await call(functions.status, { id: "a", ...requests }, found).catch(() => undefined);
      const about = { queue: "tiles", id: "a" };
      expect(asked[0]).toEqual({ kind: "status", ...about });
      expect(asked[1]).toEqual({ kind: "why", ...about });
      asked = [];
      await call(functions.status, { ids: ["a", "b", "a"] }, found);
      expect(asked).toEqual(["a", "b"].map((id) => ({ kind: "status", ...about, id })));
      for (const name of ["logs", "output", "cancel", "retry"] as const) {
        asked = [];
        await call(functions[name], { id: "a" }, ctxOf(name)).catch(() => undefined);
        expect(asked).toEqual([{ kind: name, ...about }]);
      }
      asked = [];
      const looks = [
        [functions.list, { queue: "tiles", filter: { status: "failed" }, paginationOpts: {} }],
        [functions.stats, { queue: "tiles", per: "hour" }],
        [functions.status, { queue: "tiles", key: "k" }],
        [functions.enqueue, { queue: "tiles", payload: 7 }],
      ] as const;
      for (const [made, args] of looks) await call(made, args, found).catch(() => undefined);
      expect(asked.map((one) => told(one as { kind: string }))).toEqual([
        { queue: "tiles", filter: { status: "failed" } },
        { queue: "tiles" },
        { queue: "tiles", key: "k" },
        { queue: "tiles", payloads: [7] },
      ]);
    }
  });

  test("a key is not read, nor anything of a queue, before it has answered", async () => {
    const { list, stats, status } = built(() => false)["conveyor.api"];
    const keyed = { queue: "tiles", key: "k" };
    for (const [made, args] of [
      [list, ARGS["list"]],
      [stats, ARGS["stats"]],
      [status, keyed],
    ] as const) {
      await expect(call(made, args)).rejects.toMatchObject(refused);
    }
  });

  test("true, at once or later, or the word public: they go on", async () => {
    for (const authorize of [() => true, async () => await Promise.resolve(true), "public"]) {
      for (const { status } of Object.values(built(authorize))) {
        expect(await call(status, { id: "a" }, found)).toMatchObject({ status: "pending" });
      }
    }
  });
});

test("an authorize that answers nothing does not compile", () => {
  // @ts-expect-error An empty function is no yes.
  tiles.api({ authorize: async () => {} });
  // @ts-expect-error Nor is one that forgets its answer.
  tiles.api({ authorize: (ctx) => void ctx.auth.getUserIdentity() });
  // @ts-expect-error Nor for all queues at once.
  conveyor.api({ queues: [tiles], authorize: async () => {} });
  // @ts-expect-error Nor is none.
  conveyor.api({ queues: [tiles] });
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
  const of = { token: "t", sessionKey: "s" };
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
      for (const one of [...looks, { kind: "cancellations", sessionKey: "s" }]) {
        const watched = call(functions.watch, { token: "t", call: one }, known);
        await expect(watched, one.kind).rejects.toMatchObject(refused);
      }
      const last = { id: "a", attempt: 1, outcome: { kind: "succeeded" } };
      const later = call(functions.complete, { ...of, finished: [last], later: true }, known);
      await expect(later).rejects.toMatchObject(refused);
    },
  );
});
