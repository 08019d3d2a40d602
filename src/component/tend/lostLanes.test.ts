/** Ending the leases of a lane: one that lives keeps them, and of one that has ended the platform may say why. */
import { expect, test } from "vitest";
import type { QueueConfig } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc } from "../_generated/dataModel.js";
import { gateFor, laneNow, laneOf, type Awake } from "../push/laneStepSetup.test.js";
import {
  ACTION,
  gateOf,
  inOne,
  jobsOf,
  planned,
  pushedWorld,
  wakesAmong,
} from "../push/wakeSetup.test.js";
import type { World } from "../setup.test.js";

/** A lane with two jobs, both of which it has told of. */
async function holding(config: Partial<QueueConfig> = {}) {
  const world = await pushedWorld({ fallbackAfterMs: 0, ...config });
  await jobsOf(world, 2);
  const lane = await laneOf(world, { cap: 4, holds: 2 });
  await inOne(world, ({ db }) => db.patch("sessions", lane.session, { acknowledged: true }));
  return { world, lane };
}

/** The scheduled function of the lane's process has come to this state. */
async function comeTo(world: World, { runsIn }: Awake, state: object): Promise<void> {
  await inOne(world, async ({ db }) => {
    const rows = db as unknown as { patch(id: unknown, fields: object): Promise<void> };
    await rows.patch(runsIn, { state });
  });
}

/** A sweep that comes a second after the lane's session is over. */
async function sweep(world: World, { session }: Awake): Promise<void> {
  const { expiresAt } = (await world.all("sessions")).find(({ _id }) => _id === session)!;
  const now = expiresAt + 1_000;
  await world.t.mutation(internal.tend.lostLeases.expireSession, { session, now });
}

const statuses = async (world: World) => (await world.all("jobs")).map(({ status }) => status);
const errors = async (world: World) => (await world.all("attempts")).map(({ error }) => error);

test("a lane that lives keeps its jobs, and loses alone one that has run too long", async () => {
  const { world, lane } = await holding();
  await sweep(world, lane);
  expect(await statuses(world)).toEqual(["running", "running"]);
  expect(await laneNow(world, lane)).toMatchObject({ state: "active", held: 2, cap: 4 });
  expect(await world.all("events")).toEqual([]);
  const over = (await world.all("sessions")).map(({ expiresAt }) => expiresAt);
  await sweep(world, lane);
  const [later] = (await world.all("sessions")).map(({ expiresAt }) => expiresAt);
  expect(later, "it is looked at again").toBeGreaterThan(over[0]!);
  await inOne(world, async ({ db }) => {
    const { leases } = (await db.get("sessions", lane.session))!;
    const timed = leases.map((lease, n) => (n === 0 ? { ...lease, timeoutAt: Date.now() } : lease));
    await db.patch("sessions", lane.session, { leases: timed });
  });
  await sweep(world, lane);
  expect(await statuses(world)).not.toEqual(["running", "running"]);
  expect((await statuses(world))[1]).toBe("running");
  expect(await laneNow(world, lane)).toMatchObject({ state: "active", held: 1, cap: 4 });
  expect(await world.all("events")).toMatchObject([
    { kind: "leasesEnded", details: { isLost: false } },
  ]);
});

test("a lane that has ended loses its jobs and its room, and the gate that it guarded opens", async () => {
  const { world, lane } = await holding();
  await gateOf(world, "guarded", { guard: lane.lane });
  await comeTo(world, lane, { kind: "success" });
  const before = (await planned(world)).length;
  await sweep(world, lane);
  expect(await statuses(world)).toEqual(["pending", "pending"]);
  expect(await laneNow(world, lane)).toMatchObject({ state: "gone", held: 0 });
  expect(await gateFor(world, lane)).toMatchObject({ state: "quiet", isOpen: false });
  expect(wakesAmong((await planned(world)).slice(before)).length).toBeGreaterThan(0);
  const silent = "ended while it ran the job.";
  for (const error of await errors(world)) expect(error).toContain(silent);
  expect(await world.all("events")).toMatchObject([{ details: { isLost: true } }]);
});

test("the platform's words on its end, the first line and as much as fits, are the attempt's error", async () => {
  const { world, lane } = await holding();
  const error = `Uncaught Error: ${"x".repeat(600)}\n    at handler`;
  await comeTo(world, lane, { kind: "failed", error });
  await sweep(world, lane);
  expect(await statuses(world)).toEqual(["pending", "pending"]);
  for (const said of await errors(world))
    expect(said).toMatch(/ended while it ran the job \(Uncaught Error: x{484}\)\.$/);
});

test.each<[string, string, Doc<"jobs">["status"]]>([
  ["never begun since the platform had no room", "Too many concurrent requests", "scheduled"],
  [
    "of another queue's function, which takes no lane",
    "Trying to execute app:f as Action, but it is defined as Mutation",
    "scheduled",
  ],
  [
    "of arguments that do not fit",
    "ArgumentValidationError: Object has extra field\nstart",
    "scheduled",
  ],
  [
    "whose handler names another kind",
    "Uncaught Error: Trying to execute app:f as Action, but it is defined as Mutation",
    "pending",
  ],
])("a lane %s costs its jobs no attempt that counts", async (_what, error, status) => {
  const { world, lane } = await holding();
  await comeTo(world, lane, { kind: "failed", error });
  await sweep(world, lane);
  const jobs = await world.all("jobs");
  expect(jobs.map((job) => job.status)).toEqual([status, status]);
  const resets = status === "pending" ? 1 : undefined;
  expect(jobs.map((job) => [job.resets, job.failures])).toEqual([
    [resets, undefined],
    [resets, undefined],
  ]);
  const ids = jobs.map(({ _id }) => _id);
  const ends = {
    reset: status === "pending" ? ids : [],
    released: status === "pending" ? [] : ids,
  };
  const ended = (await world.all("events")).filter(({ kind }) => kind === "leasesEnded");
  expect(ended).toMatchObject([{ details: { ...ends, failed: [], timedOut: [], canceled: [] } }]);
});

test("an inline handler that is no inline action fails its jobs for good, and an event says so once", async () => {
  const handler = { ...ACTION, kind: "inline" as const };
  const { world, lane } = await holding({
    handler,
    retry: { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 9_000 },
  });
  const error = "Trying to execute app:f as Action, but it is defined as Mutation\nsecond line";
  await comeTo(world, lane, { kind: "failed", error });
  await sweep(world, lane);
  expect(await statuses(world)).toEqual(["failed", "failed"]);
  for (const job of await world.all("jobs"))
    expect(job.error).toMatch(
      /^handlerMismatch: a job of the queue "tiles".*defined as Mutation \(not retried, since another attempt would fail as well\)$/,
    );
  const events = await world.all("events");
  expect(events.map(({ kind }) => kind).sort()).toEqual(["handlerMismatch", "leasesEnded"]);
  const failed = (await world.all("jobs")).map(({ _id }) => _id);
  const ended = events.find(({ kind }) => kind === "leasesEnded");
  expect(ended).toMatchObject({ details: { failed, released: [] } });
});

test("jobs of a lane that are out of time when it ends are ended, and not begun again", async () => {
  const { world, lane } = await holding();
  const [first] = await world.all("jobs");
  await inOne(world, ({ db }) =>
    db.patch("jobs", first!._id, { deadline: { at: Date.now(), ms: 1_000 } }),
  );
  await comeTo(world, lane, { kind: "success" });
  await sweep(world, lane);
  expect(await statuses(world)).toEqual(["timedOut", "pending"]);
});
