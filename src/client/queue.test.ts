/** Queues as an app's backend and its browsers use them. */
import { componentsGeneric } from "convex/server";
import { v } from "convex/values";
import { describe, expect, expectTypeOf, test } from "vitest";
import { Conveyor, type ComponentApi, type JobId, type JobStatus } from "./index.js";
import { api, loose, pages, refusal, setup, setupSession, tiles } from "./setup.test.js";

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;

test("the job of a function that is declared by hand takes progress that fits the queue, and no other", async () => {
  const shown = new Conveyor(component).queue("shown", { progress: v.object({ at: v.number() }) });
  const ctx = { runQuery: async () => [], runMutation: async () => ({ answers: [] }) };
  const facts = { id: "a", queue: "shown", attempt: 1, failures: 0, resets: 0, enqueuedAt: 0 };
  const job: any = shown.job(ctx as never, facts as never);
  job.progress({ at: 1 });
  const { path } = await refusal((async () => job.progress({ at: "half" }))(), "invalidPayload");
  expect(path).toBe("progress.at");
});

describe("defining", () => {
  test.each([
    ["an empty name", "", {}],
    ["a name with a space", "my tiles", {}],
    ["a name that is too long", "x".repeat(65), {}],
    ["a lease of no time", "q", { leaseMs: 0 }],
    ["a lease of half a millisecond", "q", { leaseMs: 1000.5 }],
    ["a lease of a week", "q", { leaseMs: 7 * 24 * 3_600_000 }],
    ["resets below zero", "q", { maxResets: -1 }],
    ["no shard", "q", { shards: 0 }],
    ["a thousand shards", "q", { shards: 1_000 }],
    ["a number that is none", "q", { shards: Number.NaN }],
  ])(
    "%s is refused when the app is loaded, with the rule and the value",
    async (_, name, options) => {
      const define = async () => new Conveyor(component).queue(name, options);
      expect((await refusal(define(), "invalidArgument")).message).toMatch(/must be/);
    },
  );

  test("a name that is taken is refused: two definitions would undo each other's configuration", async () => {
    const conveyor = new Conveyor(component);
    conveyor.queue("tiles");
    await refusal((async () => conveyor.queue("tiles"))(), "invalidArgument");
  });

  test("a reference in place of a function that returns it is refused, with the right form", async () => {
    const reference: any = {};
    for (const option of ["action", "mutation", "query", "inline", "onComplete"]) {
      const define = async () => new Conveyor(component).queue("q", { [option]: reference });
      const { message } = await refusal(define(), "invalidArgument");
      expect(message).toContain(`Write \`${option}: () => internal.…\``);
    }
  });

  test("a queue has one handler", async () => {
    const two = { action: () => null, mutation: () => null };
    const define = async () => new Conveyor(component).queue("q", two);
    const { message } = await refusal(define(), "invalidArgument");
    expect(message).toContain("names `action` and `mutation`");
  });

  test("without a component the message names the line for convex.config.ts", async () => {
    const make = async () => new Conveyor(undefined as unknown as ComponentApi);
    expect((await refusal(make(), "componentNotMounted")).message).toContain("app.use(conveyor)");
  });
});

describe("enqueueing", () => {
  // Shows DE-01, DE-05, A2, A3.
  test("a job is pending, with the given values", async () => {
    const t = setup();
    const id = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
    expect(await t.query(...pages.status(id))).toMatchObject({
      id,
      queue: "tiles",
      status: "pending",
      attempt: 0,
    });
  });

  // Shows LF-05, SG-49, A1.
  test("a job belongs to its transaction: if that throws, there is none", async () => {
    const t = setup();
    await expect(t.mutation(api.app.enqueueAndThrow, {})).rejects.toThrow("Changed my mind");
    expect((await t.query(api.app.stats, { queue: "tiles" })).counts).toMatchObject({
      pending: { count: 0 },
    });
  });

  test("a batch is enqueued in order", async () => {
    const t = setup();
    const ids = await t.mutation(...pages.enqueueMany("tiles", [{ x: 1 }, { x: 2 }]));
    expect(new Set(ids).size).toBe(2);
    expect((await t.query(api.app.stats, { queue: "tiles" })).counts).toMatchObject({
      pending: { count: 2, more: false },
    });
  });

  // Shows DE-24, A6.
  test("a payload that does not fit is refused with path, expectation and value", async () => {
    const t = setup();
    const payload = { x: "one" } as unknown as { x: number };
    expect(
      await refusal(t.mutation(...pages.enqueue("tiles", payload)), "invalidPayload"),
    ).toMatchObject({
      queue: "tiles",
      path: "payload.x",
      expected: "number",
      got: "string",
    });
  });

  test("a field that the validator does not know is refused: it would be lost unnoticed", async () => {
    const t = setup();
    const payload = { x: 1, y: 2 } as { x: number };
    const data = await refusal(t.mutation(...pages.enqueue("tiles", payload)), "invalidPayload");
    expect(data).toMatchObject({ path: "payload.y" });
  });

  test("one bad payload refuses its whole batch, and the message says which", async () => {
    const t = setup();
    const payloads = [{ x: 1 }, { x: null }] as { x: number }[];
    const data = await refusal(
      t.mutation(...pages.enqueueMany("tiles", payloads)),
      "invalidPayload",
    );
    expect(data).toMatchObject({ path: "payloads[1].x", got: "null" });
    expect(data.message).toContain("payloads[1].x must be number, got null.");
    expect((await t.query(api.app.stats, { queue: "tiles" })).counts).toMatchObject({
      pending: { count: 0 },
    });
  });

  // Shows A10.
  test("a payload larger than a document is refused with its size", async () => {
    const t = setup();
    const payload = { x: 1, label: "x".repeat(2 ** 20) };
    const { message } = await refusal(
      t.mutation(...pages.enqueue("tiles", payload)),
      "payloadTooLarge",
    );
    expect(message).toMatch(/up to 1044480 bytes; this one is 10\d{5}/);
  });

  test("an empty batch is refused", async () => {
    await refusal(setup().mutation(...pages.enqueueMany("tiles", [])), "invalidArgument");
  });

  test("where the component is not mounted, the error names the line to add", async () => {
    const t = setup({ mounted: false });
    const call = t.mutation(...pages.enqueue("tiles", { x: 1 }));
    expect((await refusal(call, "componentNotMounted")).message).toContain("convex.config.ts");
  });
});

describe("functions for browsers", () => {
  // Shows A25, O3.
  test("the caller gets the error of `authorize`, and nothing happens", async () => {
    const t = setup();
    const call = t.mutation(...pages.enqueue("tiles", { x: 1, label: "forbidden" }));
    await expect(call).rejects.toThrow("Not you.");
    expect((await t.query(api.app.stats, { queue: "tiles" })).counts).toMatchObject({
      pending: { count: 0 },
    });
  });

  test("an id from the internet must be one of its table: onComplete, which declares it so, could never run", async () => {
    const t = setup();
    const payload = { row: "nonsense" as never, copies: 1 };
    const refused = await refusal(
      t.mutation(...pages.enqueue("exports", payload)),
      "invalidPayload",
    );
    expect(refused).toMatchObject({ path: "payload.row" });
  });

  test("a missing number and a wrong one are asked for by the same word", async () => {
    const t = setup();
    const expected = async (payload: unknown) =>
      (await refusal(t.mutation(...pages.enqueue("tiles", payload as never)), "invalidPayload"))[
        "expected"
      ];
    expect(await expected({})).toBe("number");
    expect(await expected({ x: "1" })).toBe("number");
  });

  test("nor does it for the app's own code: a queue cancels and retries its own jobs only", async () => {
    const t = setup();
    const id = await t.mutation(...pages.enqueue("loose", "other"));
    await refusal(
      t.run((ctx) => tiles.cancel(ctx, id as string)),
      "unknownJob",
    );
    expect(await t.run((ctx) => loose.cancel(ctx, id))).toMatchObject({ canceled: true });
    await refusal(
      t.run((ctx) => tiles.retry(ctx, id as string)),
      "unknownJob",
    );
    expect(await t.run((ctx) => loose.retry(ctx, id))).toMatchObject({ retried: true });
  });

  // Shows DE-09.
  test("any number of callers read one job by its id, and none has to have enqueued it", async () => {
    const t = setup();
    const id = await t.mutation(...pages.enqueue("tiles", { x: 7 }));
    const callers = [t, ...["ann", "bob"].map((subject) => t.withIdentity({ subject }))];
    const seen = await Promise.all(callers.map((caller) => caller.query(...pages.status(id))));
    expect(seen).toMatchObject(callers.map(() => ({ id, status: "pending" })));
  });

  // Shows DE-13, F11.
  test("a pending job is canceled and passed to onComplete; retry brings it back", async () => {
    const t = setup();
    const id = await t.mutation(...pages.enqueue("tiles", { x: 7 }));
    expect(await t.mutation(api.app.cancel, { id })).toEqual({
      canceled: true,
      requested: false,
      status: "canceled",
    });
    const [row] = await t.run((ctx) => ctx.db.query("done").collect());
    expect(row).toMatchObject({ job: id, x: 7, outcome: { status: "canceled" } });
    expect(await t.mutation(api.app.cancel, { id })).toEqual({
      canceled: false,
      requested: false,
      status: "canceled",
    });
    expect(await t.mutation(api.app.retry, { id })).toEqual({ retried: true, status: "pending" });
    expect(await t.mutation(api.app.retry, { id })).toEqual({ retried: false, status: "pending" });
  });

  test("a running job is left to its worker by cancel, and says so", async () => {
    const t = setup();
    const id = await t.mutation(...pages.enqueue("tiles", { x: 1 }));
    const session = await setupSession(t);
    const claim = { ...session, name: "w", callSeq: 1, queues: ["tiles"], max: 1 };
    // The first claim of a session that owns every shard finds the job wherever it lies.
    expect((await t.mutation(api.app.claim, claim)).jobs).toHaveLength(1);
    expect(await t.mutation(api.app.cancel, { id })).toEqual({
      canceled: false,
      requested: true,
      status: "running",
    });
  });
});

describe("types", () => {
  // Shows DE-02, A6, N8.
  test("ids, payloads and results carry their queue's types", () => {
    type Tile = Awaited<ReturnType<typeof tiles.status>>;
    expectTypeOf<Tile>().toEqualTypeOf<JobStatus<{ pixels: string }, "tiles"> | null>();
    type Succeeded = Extract<Tile, { status: "succeeded" }>;
    expectTypeOf<Succeeded["result"]>().toEqualTypeOf<{ pixels: string }>();
    expectTypeOf<Awaited<ReturnType<typeof tiles.enqueue>>>().toEqualTypeOf<JobId<"tiles">>();
    expectTypeOf<Parameters<typeof tiles.enqueue>[1]>().toEqualTypeOf<{
      x: number;
      label?: string;
    }>();
    expectTypeOf<Parameters<typeof loose.enqueue>[1]>().toBeAny();
  });

  test("another queue's id is refused by the compiler, a plain string is not", () => {
    const check = (ctx: Parameters<typeof tiles.status>[0], other: JobId<"loose">) => {
      void tiles.status(ctx, "any string");
      // @ts-expect-error an id of the queue `loose`
      void tiles.status(ctx, other);
      // @ts-expect-error a payload that does not fit
      void tiles.enqueue(ctx as never, { x: "one" });
    };
    expect(check).toBeTypeOf("function");
  });

  test("the argument of `completed` has the types of the queue", () => {
    type Told = Parameters<Parameters<typeof tiles.completed>[0]>[1];
    expectTypeOf<Told["payload"]>().toEqualTypeOf<{ x: number; label?: string }>();
    expectTypeOf<Extract<Told["outcome"], { status: "succeeded" }>["result"]>().toEqualTypeOf<{
      pixels: string;
    }>();
    // @ts-expect-error the validators have exact keys
    void v.object({ ...tiles.onCompleteArgs.fields }).fields.nothing;
  });
});
