/** Related data and `authorize`, on an app of its own: the app's data for each job at its claim. */
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalQueryGeneric,
  type ApiFromModules,
  type FilterApi,
  type FunctionReference,
} from "convex/server";
import { ConvexError, v } from "convex/values";
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import type { Handlers, QueuesOf } from "../worker/types.js";
import { Conveyor, jobCalls, type ComponentApi } from "./index.js";
import { suiteOf } from "./suite.test.js";

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const tiles = conveyor.queue("tiles", { payload: v.object({ picture: v.string() }), shards: 1 });
const loose = conveyor.queue("loose", { payload: v.any() });
/** Every object has something of this name. */
const inherited = conveyor.queue("constructor" as "inherited", { payload: v.any() });

const vAsked = {
  id: v.string(),
  queue: v.string(),
  payload: v.object({ picture: v.string() }),
  attempt: v.number(),
};
const pictures = {
  ofTile: internalQueryGeneric({
    args: vAsked,
    handler: async (ctx, { queue, payload, attempt }): Promise<{ title: string; of: string }> => {
      const row = await ctx.db
        .query("pictures")
        .filter((q) => q.eq(q.field("name"), payload.picture))
        .first();
      if (row === null) throw new ConvexError("There is no such picture.");
      return { title: (row as unknown as { title: string }).title, of: `${queue} ${attempt}` };
    },
  }),
};
const internal = anyApi as unknown as FilterApi<
  ApiFromModules<{ pictures: typeof pictures }>,
  FunctionReference<any, "internal">
>;

let refuses: string | null = null;
const functions = {
  ...conveyor.workerApi({
    queues: [tiles, loose, inherited],
    related: { tiles: internal.pictures.ofTile },
    authorize: async (_ctx, call) => {
      if (call.kind === refuses) throw new ConvexError(`No ${call.kind} now.`);
      return await Promise.resolve(true);
    },
  }),
  ...conveyor.api({
    queues: [tiles, loose, inherited],
    authorize: "public",
    enqueue: { tiles: true, loose: true, ["constructor" as "inherited"]: true },
  }),
  createToken: conveyor.tokenApi().create,
};
type Modules = ApiFromModules<{ app: typeof functions }>;
const api = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "public">>;
const own = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "internal">>;
const pages = jobCalls(api.app);

const schema = defineSchema({
  pictures: defineTable({ name: v.string(), title: v.string() }),
});

async function setup() {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  const t = suiteOf(functions, schema, { pictures });
  const { token } = await t.mutation(own.app.createToken, { name: "w" });
  await t.run(async (ctx) => await ctx.db.insert("pictures", { name: "sea", title: "The sea" }));
  const call = { token, sessionKey: "s" };
  const claim = async (n: number, max = 10) =>
    await t.mutation(api.app.claim, {
      ...call,
      name: "w",
      callSeq: n,
      queues: ["tiles", "loose"],
      max,
    });
  const enqueue = async (picture: string) =>
    await t.mutation(...pages.enqueue("tiles", { picture }));
  return { t, call, claim, enqueue };
}

afterEach(() => void vi.useRealTimers());

describe("related data", () => {
  test("are read by no query that the app has not named, for a queue of any name", async () => {
    const { t, call } = await setup();
    await t.mutation(...pages.enqueue("constructor" as "inherited", 1));
    const of = { name: "w", callSeq: 1, queues: ["constructor"], max: 1 };
    expect((await t.mutation(api.app.claim, { ...call, ...of })).jobs).toHaveLength(1);
  });

  // Shows LF-13, SG-23, SG-24, C3.
  test("come with each job of the queue that has a query, typed to the worker's handler", async () => {
    const { t, claim, enqueue } = await setup();
    await enqueue("sea");
    await t.mutation(...pages.enqueue("loose", 5));
    const { jobs } = await claim(1);
    const tile = jobs.find((job) => job.queue === "tiles")!;
    expect(tile.related).toEqual({ title: "The sea", of: "tiles 1" });
    expect(jobs.find((job) => job.queue === "loose")).not.toHaveProperty("related");
    expectTypeOf(tile.related).toEqualTypeOf<{ title: string; of: string }>();
    type Queues = QueuesOf<(typeof api)["app"]>;
    type Given = Parameters<Extract<Handlers<Queues>["tiles"], (job: never) => unknown>>[0];
    expectTypeOf<Given["related"]>().toEqualTypeOf<{ title: string; of: string }>();
    type Bare = Parameters<Extract<Handlers<Queues>["loose"], (job: never) => unknown>>[0];
    expectTypeOf<Bare["related"]>().toEqualTypeOf<undefined>();
  });

  test("a query that throws fails that attempt, and the other jobs of the claim stand", async () => {
    const { t, claim, enqueue } = await setup();
    const [bad, good] = [await enqueue("nowhere"), await enqueue("sea")];
    const { jobs } = await claim(1);
    expect(jobs.map(({ id }) => id)).toEqual([good]);
    const status = await t.query(...pages.status(bad));
    expect(status).toMatchObject({
      status: "failed",
      error: expect.stringContaining("There is no such picture.") as string,
    });
  });

  test("a repeated call computes them anew, for the jobs that it is answered with", async () => {
    const { t, claim, enqueue } = await setup();
    await enqueue("nowhere");
    await enqueue("sea");
    await claim(1);
    await t.run(async (ctx) => {
      const [row] = await ctx.db.query("pictures").collect();
      await ctx.db.patch(row!._id, { title: "The sea at night" });
    });
    const { jobs } = await claim(1);
    expect(jobs).toMatchObject([{ related: { title: "The sea at night" } }]);
  });

  test("come with the jobs that a completion claims, too", async () => {
    const { t, call, claim, enqueue } = await setup();
    await enqueue("sea");
    await enqueue("sea");
    const { jobs } = await claim(1, 1);
    const { id, attempt } = jobs[0]!;
    const reply = await t.mutation(api.app.complete, {
      ...{ ...call, callSeq: 2, finished: [{ id, attempt, outcome: { kind: "succeeded" } }] },
      claim: { queues: ["tiles"], max: 1 },
    });
    expect(reply.jobs).toMatchObject([{ related: { title: "The sea" } }]);
  });

  test("of a queue that is not served are refused when the functions are built", () => {
    const related = { elsewhere: internal.pictures.ofTile };
    expect(() => conveyor.workerApi({ queues: [tiles], related: related as never })).toThrow(
      /elsewhere/,
    );
  });
});

describe("authorize", () => {
  // Shows O3.
  test("may refuse any call of a worker, before anything is read or written", async () => {
    const { t, call, claim, enqueue } = await setup();
    await enqueue("sea");
    refuses = "claim";
    await expect(claim(1)).rejects.toThrow("No claim now.");
    refuses = "hasWork";
    const look = (kind: "hasWork" | "peek") =>
      t.query(api.app.watch, { token: call.token, call: { kind, queues: ["tiles"] } });
    await expect(look("hasWork")).rejects.toThrow("No hasWork now.");
    expect(await look("peek")).toMatchObject([{ payload: { picture: "sea" } }]);
    refuses = null;
    expect((await claim(1)).jobs).toHaveLength(1);
  });
});
