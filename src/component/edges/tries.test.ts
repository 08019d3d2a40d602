/**
 * Callbacks that are owed, tried by late, repeated or forgotten calls: each is delivered once, and holds up no other.
 */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { CALLBACK_WAIT_MAX_MS } from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { replan } from "./callbacks.js";
import { app, failed, newToldWorld, succeeded, type World } from "../setup.test.js";

let broken = true;

beforeEach(() => {
  broken = true;
  app.onComplete = () => {
    if (broken) throw new Error("not yet");
  };
});

async function owed(world: World): Promise<Doc<"callbacks">[]> {
  return await world.all("callbacks");
}

async function told(world: World): Promise<string[]> {
  return (await world.all("told")).map(({ status }) => status);
}

/** A job that is canceled while the app is broken: its end is owed, and no try has been made alone. */
async function owing(): Promise<{ world: World; job: Id<"jobs">; row: Doc<"callbacks"> }> {
  const world = await newToldWorld();
  const job = await world.enqueue();
  await world.cancel(job);
  return { world, job, row: (await owed(world))[0]! };
}

const plan = async (world: World, id: Id<"callbacks">, tries: number) =>
  await world.t.mutation(internal.edges.callbacks.planCallback, { id, tries });
const attempt = async (world: World, id: Id<"callbacks">) =>
  await world.t.mutation(internal.edges.callbacks.tryCallback, { id });

/** Scheduled calls that have not begun. */
async function pending(world: World, name: string): Promise<number> {
  const scheduled = await world.t.run(({ db }) =>
    db.system.query("_scheduled_functions").collect(),
  );
  return scheduled.filter((one) => one.state.kind === "pending" && one.name.includes(name)).length;
}

describe("a plan", () => {
  test("of an earlier try does nothing", async () => {
    const { world, row } = await owing();
    await plan(world, row._id, 0);
    const planned = await owed(world);
    expect(planned).toMatchObject([{ tries: 1 }]);
    await plan(world, row._id, 0);
    expect(await owed(world)).toEqual(planned);
    expect(await pending(world, "tryCallback")).toBe(1);
  });

  test("of an end that was delivered, or given up, does nothing", async () => {
    const { world, row } = await owing();
    await world.t.run(({ db }) => db.patch("callbacks", row._id, { state: "dead" }));
    await plan(world, row._id, 0);
    expect(await owed(world)).toMatchObject([{ state: "dead", tries: 0 }]);
    await world.t.run(({ db }) => db.delete("callbacks", row._id));
    expect(await plan(world, row._id, 0)).toBeNull();
  });

  test("waits for a try that has not ended, and makes no other; the last error stays", async () => {
    const { world, row } = await owing();
    await plan(world, row._id, 0);
    await plan(world, row._id, 1);
    expect(await owed(world)).toMatchObject([{ tries: 1, error: row.error }]);
    expect(row.error).toContain("not yet");
    expect(await pending(world, "tryCallback")).toBe(1);
  });

  test("that comes late, as after an outage, does not give up the first end of a job for that", async () => {
    const { world, row } = await owing();
    await plan(world, row._id, 0);
    await world.settle();
    vi.setSystemTime(Date.now() + 2 * CALLBACK_WAIT_MAX_MS);
    await plan(world, row._id, 1);
    expect(await owed(world)).toMatchObject([{ state: "owed", tries: 2 }]);
  });

  test("of a later end that has not waited tries it more than once", async () => {
    const { world, job } = await owing();
    broken = false;
    await world.advance(2_000);
    await world.t.mutation(api.operate.retryJob, { id: job });
    broken = true;
    await world.cancel(job);
    await world.advance(2_500);
    expect(await owed(world)).toMatchObject([{ state: "owed", again: true }]);
    broken = false;
    await world.advance(10_000);
    expect(await told(world)).toEqual(["canceled", "canceled"]);
  });

  test("by the janitor skips ends that were delivered by then, or given up", async () => {
    const { world, row } = await owing();
    await world.t.run(({ db }) => db.patch("callbacks", row._id, { state: "dead", dueAt: 7 }));
    await world.t.run(async (ctx) => await replan(ctx as never, row._id));
    expect(await owed(world)).toMatchObject([{ dueAt: 7 }]);
    await world.t.run(({ db }) => db.delete("callbacks", row._id));
    await world.t.run(async (ctx) => await replan(ctx as never, row._id));
  });
});

describe("a try", () => {
  test("that runs twice delivers once", async () => {
    const { world, row } = await owing();
    broken = false;
    await attempt(world, row._id);
    await attempt(world, row._id);
    expect(await told(world)).toEqual(["canceled"]);
  });

  test("that comes when it has been given up delivers nothing", async () => {
    const { world, row } = await owing();
    broken = false;
    await world.t.run(({ db }) => db.patch("callbacks", row._id, { state: "dead" }));
    await attempt(world, row._id);
    expect([await told(world), (await owed(world)).length]).toEqual([[], 1]);
  });

  test("of a deleted job, as one with rows that go in parts, delivers nothing and ends the debt", async () => {
    const { world, job, row } = await owing();
    broken = false;
    await world.t.run(({ db }) => db.delete("jobs", job));
    await attempt(world, row._id);
    expect([await told(world), await owed(world)]).toEqual([[], []]);
  });

  test("with a next end that is gone is not held up by that", async () => {
    const { world, job, row } = await owing();
    await world.t.mutation(api.operate.retryJob, { id: job });
    await world.cancel(job);
    const [, next] = await owed(world);
    await world.t.run(({ db }) => db.delete("callbacks", next!._id));
    broken = false;
    await attempt(world, row._id);
    expect([await told(world), await owed(world)]).toEqual([["canceled"], []]);
  });
});

test("an end that is owed from the first waits behind an earlier one of its job too", async () => {
  const world = await newToldWorld();
  app.onComplete = (_ctx, args) => {
    if (broken && args.attempt === 1) throw new Error("not yet");
  };
  const id = await world.enqueue();
  const worker = world.worker("a");
  const [first] = await worker.claim();
  await worker.complete([failed(first!)]);
  await world.t.mutation(api.operate.retryJob, { id });
  const [second] = await worker.claim();
  await worker.complete([succeeded(second!)], { deferCallbacks: true });
  await world.settle();
  expect(await told(world)).toEqual([]);
  broken = false;
  await world.advance(5_000);
  expect(await told(world)).toEqual(["failed", "succeeded"]);
});

test("a callback that deletes its very job, with a result of its own row, takes nothing down", async () => {
  const world = await newToldWorld();
  app.onComplete = async (ctx, { id }) => {
    await ctx.runMutation(api.operate.deleteJob, { id });
  };
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  const { words } = await worker.complete([succeeded(job!, "x".repeat(600))]);
  expect(words).toEqual(["ok"]);
  expect([await told(world), await owed(world)]).toEqual([["succeeded"], []]);
  expect([await world.all("jobs"), await world.all("payloads")]).toEqual([[], []]);
});

test("a result that is still to be delivered outlasts a retry by another's callback in the same call", async () => {
  const world = await newToldWorld();
  const heard: unknown[] = [];
  await world.enqueueBatch(["retried", "retries"]);
  const worker = world.worker("a");
  const [retried, retries] = await worker.claim(2);
  app.onComplete = async (ctx, { payload, outcome }) => {
    if (payload === "retries") await ctx.runMutation(api.operate.retryJob, { id: retried!.id });
    else if (broken) throw new Error("not yet");
    else heard.push(outcome);
  };
  const result = "x".repeat(600);
  await worker.complete([succeeded(retried!, result), succeeded(retries!)]);
  broken = false;
  await world.advance(2_000);
  expect(heard).toEqual([{ status: "succeeded", result }]);
  expect(await world.all("payloads")).toEqual([]);
});
