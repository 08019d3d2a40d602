/** Enqueueing with options, as an app's backend and its browsers do. */
import { describe, expect, expectTypeOf, test } from "vitest";
import type { EnqueueOptions, HandlerOption, UniqueReply } from "./index.js";
import type { AnyQueue } from "./types.js";
import { anything, api, mails, perJob, script, setup, told, type App } from "./enqueueApp.test.js";
import { refusal } from "./setup.test.js";

const mail = { to: "ann" };

/** As a mutation of the app: one transaction. */
function inMutation<T>(t: App, act: (ctx: any) => Promise<T>): Promise<T> {
  return t.run(act);
}

function inAction(t: App, act: (ctx: any) => Promise<unknown>): Promise<any> {
  script.action = act;
  return t.action(api.act, {});
}

describe("options", () => {
  test("all of them reach the job, short forms written out", async () => {
    const t = setup();
    const id = await inMutation(t, (ctx) =>
      mails.enqueue(ctx, mail, {
        ...{ name: "Welcome", priority: 7, key: "ann", group: "acme", cost: 5 },
        ...{ tags: ["x"], labels: ["b", "a"], expiresAfterMs: 60_000, timeoutMs: undefined },
        deadlineMs: 90_000,
        ...{ retry: { maxAttempts: 2 }, maxResets: 0, leaseMs: 5_000, runAfter: 1_000 },
        ...{ context: { tenant: "acme" }, onComplete: told, onCompleteExclude: ["canceled"] },
      }),
    );
    const job = await inMutation(t, (ctx) => mails.status(ctx, id));
    expect(job).toMatchObject({
      ...{ status: "scheduled", name: "Welcome", priority: 7, key: "ann", group: "acme", cost: 5 },
      ...{ tags: ["x"], labels: ["a", "b"] },
    });
    const { enqueuedAt, deadlineAt } = job!;
    expect(deadlineAt).toBe(enqueuedAt + 90_000);
  });

  test("a job with a handler of its own may lose as many workers as its queue says, or else as its handler's kind may", async () => {
    const handle = "function://h";
    const resetsOf = async (queue: AnyQueue, handler: HandlerOption, own: EnqueueOptions = {}) =>
      (await queue.newJob({}, { ...own, handler })).options?.rules?.maxResets;
    const { said, unsaid } = perJob;
    expect(await resetsOf(unsaid, { action: handle } as never)).toBe(0);
    expect(await resetsOf(unsaid, { mutation: handle } as never)).toBe(3);
    expect(await resetsOf(said, { action: handle } as never)).toBeUndefined();
    expect(await resetsOf(said, { mutation: handle } as never)).toBeUndefined();
    expect(await resetsOf(said, { action: handle } as never, { maxResets: 1 })).toBe(1);
  });

  // Shows WP-17, A2.
  test("from an action they do the same", async () => {
    const t = setup();
    const id = await inAction(t, (ctx) => mails.enqueue(ctx, mail, { key: "k", onComplete: told }));
    const again = await inAction(t, (ctx) => mails.enqueueUnique(ctx, mail, { key: "k" }));
    expect(again).toEqual({ id, isNew: false });
  });

  test("one job's own onComplete receives the job's name and context", async () => {
    const t = setup();
    const id = await inMutation(t, (ctx) =>
      mails.enqueue(ctx, mail, { onComplete: told, name: "Hi", context: { tenant: "acme" } }),
    );
    await inMutation(t, (ctx) => mails.cancel(ctx, id));
    const [row] = await t.run((ctx) => ctx.db.query("told").collect());
    expect(row).toMatchObject({
      id,
      args: {
        ...{ payload: mail, name: "Hi", context: { tenant: "acme" } },
        outcome: { status: "canceled" },
      },
    });
  });

  test.each<[string, string, EnqueueOptions]>([
    ["a misspelt one", "prioritee", { prioritee: 1 } as never],
    ["a priority that is a word", "priority", { priority: "high" as never }],
    ["a name that is a number", "The name of a job", { name: 5 as never }],
    ["two times", "runAt", { runAt: 1, runAfter: 1 }],
    ["attempts out of bounds", "maxAttempts of retry", { retry: { maxAttempts: 0 } }],
  ])("%s is refused before the component is called", async (_, argument, options) => {
    const t = setup();
    const call = inMutation(t, (ctx) => mails.enqueue(ctx, mail, options as never));
    expect(await refusal(call, "invalidArgument")).toMatchObject({ argument });
  });

  test("a context that does not fit the queue's validator is refused with its path", async () => {
    const t = setup();
    const context = { tenant: 5 } as never;
    const call = inMutation(t, (ctx) => mails.enqueue(ctx, mail, { context }));
    const refused = await refusal(call, "invalidPayload");
    expect(refused).toMatchObject({ path: "context.tenant", expected: "string", got: "number" });
  });

  test.each([[undefined], [new Date(0)], [() => 1]])(
    "a payload that is no value is refused by a code: %o",
    async (payload) => {
      const t = setup();
      const call = inMutation(t, (ctx) => anything.enqueueBatch(ctx, [payload]));
      await refusal(call, "invalidPayload");
    },
  );
});

describe("a unique job", () => {
  test("is new once, and the other way round it returns the id of the job with the key", async () => {
    const t = setup();
    const first = await inMutation(t, (ctx) => mails.enqueueUnique(ctx, mail, { key: "k" }));
    expect(first.isNew).toBe(true);
    const second = await inMutation(t, (ctx) => mails.enqueueUnique(ctx, mail, { key: "k" }));
    expect(second).toEqual({ id: first.id, isNew: false });
    const key = { value: "k", onConflict: "refuse" as const };
    const third = inMutation(t, (ctx) => mails.enqueue(ctx, mail, { key }));
    expect(await refusal(third, "duplicateKey")).toMatchObject({ id: first.id });
  });

  // Shows A5.
  test("two tenants with one key of their own never conflict, where the key has the caller in it", async () => {
    const t = setup();
    const ann = t.withIdentity({ subject: "ann" });
    const bob = t.withIdentity({ subject: "bob" });
    const first = await ann.mutation(api.enqueue, { queue: "mails", payload: mail });
    expect(await ann.mutation(api.enqueue, { queue: "mails", payload: mail })).toBe(first);
    expect(await bob.mutation(api.enqueue, { queue: "mails", payload: mail })).not.toBe(first);
  });
});

describe("functions for browsers", () => {
  // Shows A25.
  test("take a payload and nothing else: the job's options are the app's choice", async () => {
    const t = setup();
    const ann = t.withIdentity({ subject: "ann" });
    const ids = await ann.mutation(api.enqueue, {
      queue: "mails",
      payloads: [mail, { to: "bob" }],
    });
    const jobs = await inMutation(t, (ctx) =>
      Promise.all(ids.map((id: string) => mails.status(ctx, id))),
    );
    expect(jobs).toMatchObject([
      { key: "ann:ann", group: "ann", priority: 3 },
      { key: "ann:bob", group: "ann", priority: 3 },
    ]);
    await expect(
      ann.mutation(api.enqueue, { queue: "mails", payload: mail, options: { priority: 10 } }),
    ).rejects.toThrow(/options/);
  });

  test("where the hook says nothing, the job has nothing of its own", async () => {
    const t = setup();
    const id = await t.mutation(api.enqueue, { queue: "mails", payload: mail });
    expect(await inMutation(t, (ctx) => mails.status(ctx, id))).not.toHaveProperty("key");
  });
});

describe("replace", () => {
  test("cancels and enqueues if no worker has begun, and returns which", async () => {
    const t = setup();
    const id = await inMutation(t, (ctx) => mails.enqueue(ctx, mail));
    const reply = await inAction(t, (ctx) =>
      mails.replace(ctx, id, { to: "bob" }, { priority: 2 }),
    );
    expect(reply).toMatchObject({ replaced: true, status: "canceled" });
    expect(await inMutation(t, (ctx) => mails.status(ctx, reply.id))).toMatchObject({
      priority: 2,
    });
    const again = await inMutation(t, (ctx) => mails.replace(ctx, id, { to: "cid" }));
    expect(again).toEqual({ replaced: false, id, status: "canceled" });
    const foreign = inMutation(t, (ctx) => anything.replace(ctx, id as string, 1));
    await refusal(foreign, "unknownJob");
  });

  test("in a transaction that throws changes nothing", async () => {
    const t = setup();
    const id = await inMutation(t, (ctx) => mails.enqueue(ctx, mail));
    const call = inMutation(t, async (ctx) => {
      await mails.replace(ctx, id, { to: "bob" });
      throw new Error("Changed my mind.");
    });
    await expect(call).rejects.toThrow("Changed my mind");
    expect(await inMutation(t, (ctx) => mails.status(ctx, id))).toMatchObject({
      status: "pending",
    });
    expect(await inMutation(t, (ctx) => mails.counts(ctx))).toMatchObject({
      pending: { count: 1 },
    });
  });
});

test("types: context, callback and reply follow the queue", () => {
  const check = (ctx: Parameters<typeof mails.enqueue>[0]) => {
    // @ts-expect-error a context that does not fit
    void mails.enqueue(ctx, mail, { context: { tenant: 5 } });
    // @ts-expect-error a unique job needs a key
    void mails.enqueueUnique(ctx, mail, { priority: 1 });
    void mails.enqueueBatch(ctx, [mail], (payload, index) => ({ key: `${payload.to}${index}` }));
  };
  expect(check).toBeTypeOf("function");
  expectTypeOf<Awaited<ReturnType<typeof mails.enqueueUnique>>>().toEqualTypeOf<
    UniqueReply<"mails">
  >();
  expectTypeOf<(typeof mails.onCompleteArgs)["type"]["context"]>().toEqualTypeOf<
    { tenant: string } | undefined
  >();
});
