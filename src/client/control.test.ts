/** Operating queues as an app's backend does: the component's own tests check the effects on jobs. */
import type { GenericMutationCtx } from "convex/server";
import { describe, expect, test } from "vitest";
import {
  api,
  conveyor,
  internal,
  pages,
  refusal,
  setup,
  setupSession,
  tiles,
  watching,
  type App,
} from "./setup.test.js";

/** Runs as a mutation of the app. */
async function run<Result>(
  t: App,
  call: (ctx: GenericMutationCtx<any>) => Promise<Result>,
): Promise<Result> {
  return await t.run(async (ctx) => await call(ctx as never));
}

const enqueue = async (t: App, count = 1) =>
  await t.mutation(
    ...pages.enqueueMany(
      "tiles",
      Array.from({ length: count }, (_, x) => ({ x })),
    ),
  );

describe("a queue's control", () => {
  test("pauses, drains, resumes, and tells how it stands", async () => {
    const t = setup();
    await enqueue(t);
    expect(await run(t, (ctx) => tiles.control.pause(ctx))).toEqual({ changed: true });
    expect(await run(t, (ctx) => tiles.control.drain(ctx))).toEqual({ changed: true });
    const state = await run(t, (ctx) => tiles.control.state(ctx));
    expect(state).toMatchObject({ name: "tiles", drained: false, declared: { leaseMs: 10_000 } });
    expect(state.pausedAt).toBeDefined();
    await refusal(enqueue(t), "queueDraining");
    await run(t, (ctx) => tiles.control.resume(ctx));
    await enqueue(t);
    const events = await run(t, (ctx) => tiles.control.events(ctx, { limit: 2 }));
    expect(events.map(({ kind }) => kind)).toEqual(["queueResumed", "queueDraining"]);
  });

  test("configures and resets while the queue runs", async () => {
    const t = setup();
    await enqueue(t);
    await run(t, (ctx) => tiles.control.configure(ctx, { leaseMs: 5_000, maxResets: 0 }));
    await run(t, (ctx) => tiles.control.resetConfig(ctx, ["leaseMs"]));
    expect(await run(t, (ctx) => tiles.control.state(ctx))).toMatchObject({
      overrides: { maxResets: 0 },
      inForce: { leaseMs: 10_000, maxResets: 0 },
    });
    await refusal(
      run(t, (ctx) => tiles.control.configure(ctx, { leaseMs: 1 })),
      "invalidArgument",
    );
  });

  test("pauses, resumes and deletes one job of its queue, and none of another", async () => {
    const t = setup();
    const [id] = await enqueue(t);
    expect(await run(t, (ctx) => tiles.control.pauseJob(ctx, id!))).toMatchObject({ paused: true });
    await refusal(
      run(t, (ctx) => conveyor.control("loose").resumeJob(ctx, id!)),
      "unknownJob",
    );
    expect(await run(t, (ctx) => tiles.control.resumeJob(ctx, id!))).toMatchObject({
      changed: true,
    });
    expect(await run(t, (ctx) => conveyor.control("loose").deleteJob(ctx, id!))).toMatchObject({
      deleted: false,
    });
    expect(await run(t, (ctx) => tiles.control.deleteJob(ctx, id!))).toMatchObject({
      deleted: true,
    });
    expect(await t.query(...pages.status(id!))).toBeNull();
  });

  test("changes many jobs, step by step where the caller wants to", async () => {
    const t = setup();
    await enqueue(t, 5);
    let cursor: string | undefined;
    let changed = 0;
    do {
      const options = { goOn: false, limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const reply = await run(t, (ctx) => tiles.control.cancelMany(ctx, {}, options));
      changed += reply.changed;
      cursor = reply.cursor;
    } while (cursor !== undefined);
    expect(changed).toBe(5);
    const retried = await run(t, (ctx) => tiles.control.retryMany(ctx, { statuses: ["canceled"] }));
    expect(retried).toEqual({ changed: 5, isDone: true });
    const pending = { statuses: ["pending" as const] };
    expect(await run(t, (ctx) => tiles.control.deleteMany(ctx, pending))).toMatchObject({
      changed: 5,
    });
    expect(await run(t, (ctx) => tiles.control.taskState(ctx, "nonsense"))).toBeNull();
    expect(await run(t, (ctx) => tiles.control.stopTask(ctx, "nonsense"))).toEqual({
      stopped: false,
    });
  });

  test("of a queue that no code has defined is refused, and says the way out", async () => {
    const t = setup();
    const { message } = await refusal(
      run(t, (ctx) => conveyor.control("nobody").pause(ctx)),
      "unknownQueue",
    );
    expect(message).toContain("observe:queues");
    expect(message).toContain("emails.control.pause(ctx)");
  });

  test.each(["pause", "drain"] as const)(
    "%s a defined queue before its first job, as its definition is at hand",
    async (what) => {
      const t = setup();
      expect(await run(t, (ctx) => tiles.control[what](ctx))).toEqual({ changed: true });
      const state = await run(t, (ctx) => conveyor.control("tiles").state(ctx));
      expect(state).toMatchObject({ declared: { leaseMs: 10_000 } });
      expect(state).toHaveProperty(what === "pause" ? "pausedAt" : "drainingAt");
      if (what === "drain") return void (await refusal(enqueue(t), "queueDraining"));
      await enqueue(t);
      const session = await setupSession(t);
      const args = { ...session, name: "w", callSeq: 1, queues: ["tiles"], max: 1 };
      expect((await t.mutation(api.app.claim, args)).jobs).toEqual([]);
    },
  );

  test("configures, resets and resumes a defined queue before its first job", async () => {
    const t = setup();
    const changes = [
      (ctx: GenericMutationCtx<any>) => tiles.control.configure(ctx, { leaseMs: 5_000 }),
      (ctx: GenericMutationCtx<any>) => tiles.control.resetConfig(ctx),
      (ctx: GenericMutationCtx<any>) => tiles.control.resume(ctx),
    ];
    const changed = [];
    for (const change of changes) changed.push((await run(t, change)).changed);
    expect(changed).toEqual([true, true, false]);
  });

  test("is not among the functions for browsers", () => {
    const functions = Object.keys(tiles.api({ authorize: () => false }));
    const dangerous = ["pause", "drain", "configure", "deleteJob", "cancelMany", "deleteMany"];
    expect(functions.filter((name) => dangerous.includes(name))).toEqual([]);
  });
});

test("a token is rotated by an internal function, and its old secret is refused", async () => {
  const t = setup();
  const { id, token } = await t.mutation(internal.app.createToken, { name: "gpu" });
  const rotated = await t.mutation(internal.app.rotateToken, { id });
  const watch = (secret: string) => watching(t, secret, { kind: "hasWork", queues: ["tiles"] });
  expect(await watch(rotated.token)).toBe(false);
  await refusal(watch(token), "tokenRevoked");
});
