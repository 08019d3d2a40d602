/** Jobs with a handler that could not be begun, as their lane reports it. */
import { describe, expect, test } from "vitest";
import {
  BLOCKED_EVENT_MS,
  HANDLER_MISSING_DEFAULT_MS,
  type ClaimedJob,
  type Outcome,
} from "../../shared/index.js";
import { api, internal } from "../_generated/api.js";
import { newWorld, type World } from "../setup.test.js";

const ERROR = "Could not find function for 'emails:send'.";
const WAIT_MS = 5 * 60_000;
let workers = 0;

/** A lane reports in a step, or, after a step that was refused, apart: one job in a transaction of its own. */
type By = "lane" | "lane apart" | "worker";

/** A lane claims the job and reports that its handler could not be begun; or a worker does. */
async function block(
  world: World,
  blocked: "handlerMissing" | "noPermit" = "handlerMissing",
  by: By = "lane",
) {
  await report(world, by, { kind: "snoozed", runAfter: WAIT_MS, blocked, error: ERROR });
}

async function report(world: World, by: By, outcome: Outcome): Promise<void> {
  const worker = world.worker(`worker-${(workers += 1)}`);
  const [{ id, attempt }] = (await worker.claim()) as [ClaimedJob];
  const finished = { id, attempt, outcome };
  if (by === "worker") return void (await worker.complete([finished]));
  const { session, lane } = await turnIntoLane(world, id);
  if (by === "lane apart") {
    await world.t.mutation(internal.push.laneApart.runApart, { id, attempt, finished });
  } else {
    await world.t.mutation(internal.push.laneStep.stepLane, {
      ...{ lane, generation: 0, callSeq: 2, lastAckedCall: 1, looks: 0 },
      ...{ finished: [finished], execute: [] },
    });
  }
  // It leaves.
  await world.t.run((ctx) => ctx.db.patch("sessions", session, { state: "idle", leases: [] }));
}

/** Of the session that has the job. */
async function turnIntoLane(world: World, id: string) {
  const session = (await world.all("jobs")).find(({ _id }) => _id === id)!.session!;
  return await world.t.run(async (ctx) => {
    const lane = await ctx.db.insert("lanes", { queue: "tiles", session, cap: 1 });
    await ctx.db.patch("sessions", session, { lane });
    return { session, lane };
  });
}

const eventsOf = async (world: World) =>
  (await world.t.query(api.operate.events, { queue: "tiles" })).filter(
    ({ kind }) => kind === "handlerMissing" || kind === "noPermit",
  );
const lightOf = async (world: World) =>
  (await world.t.query(api.observe.health, { queue: "tiles" })).light;

describe("a job with a handler that could not be begun", () => {
  // Shows K21.
  test.each([
    ["handlerMissing", "lane"],
    ["handlerMissing", "lane apart"],
    ["noPermit", "lane"],
    ["noPermit", "lane apart"],
  ] as const)(
    "says so in why, in an event and in its queue's health: %s, by a %s",
    async (kind, by) => {
      const world = await newWorld();
      const id = await world.enqueue();
      expect(await lightOf(world)).toBe("green");
      await block(world, kind, by);
      const answer = await world.t.query(api.observe.why, { id });
      expect(answer!.reasons).toMatchObject([{ kind }]);
      expect(answer!.reasons[0]!.text).toMatch(/fails after/);
      expect(await eventsOf(world)).toMatchObject([{ kind, details: { job: id, attempt: 1 } }]);
      expect(await lightOf(world)).toBe("yellow");
      const [attempt] = await world.all("attempts");
      expect(attempt).toMatchObject({ outcome: "snoozed", error: ERROR, blocked: { kind } });
    },
  );

  test("is a lane's to speak of: a worker's word for it is a snooze like any other", async () => {
    const world = await newWorld({ handlerMissingAfterMs: 0 });
    const id = await world.enqueue();
    await block(world, "handlerMissing", "worker");
    expect(await world.status(id)).toMatchObject({ status: "scheduled" });
    expect(await eventsOf(world)).toEqual([]);
    expect((await world.all("attempts"))[0]).not.toHaveProperty("blocked");
  });

  test("has one event in ten minutes, however many of its queue there are", async () => {
    const world = await newWorld();
    for (let n = 0; n < 3; n += 1) {
      await world.enqueue();
      await block(world);
    }
    expect(await eventsOf(world)).toHaveLength(1);
    await world.skipTo(Date.now() + BLOCKED_EVENT_MS);
    await block(world);
    expect(await eventsOf(world)).toHaveLength(2);
  });

  test.each(["lane", "lane apart"] as const)(
    "fails when that has gone on for a day, by default, and not before: the second report by a %s",
    async (by) => {
      const world = await newWorld();
      const id = await world.enqueue();
      const began = Date.now();
      await block(world);
      await world.skipTo(began + HANDLER_MISSING_DEFAULT_MS - 60_000);
      await block(world, "handlerMissing", by);
      expect(await world.status(id)).toMatchObject({ status: "scheduled", failures: 0 });
      await world.skipTo(Date.now() + WAIT_MS + 2_000);
      await block(world);
      const ended = await world.status(id);
      expect(ended).toMatchObject({ status: "failed", failures: 1 });
      expect((ended as { error?: string }).error).toMatch(/handlerMissingAfterMs.*Could not find/);
    },
  );

  test.each(["canceled", "failed"])(
    "that ended as %s is tried for as long again once it is retried",
    async (end) => {
      const handlerMissingAfterMs = WAIT_MS;
      const world = await newWorld({ handlerMissingAfterMs });
      const id = await world.enqueue();
      await block(world);
      if (end === "canceled") await world.cancel(id);
      await world.skipTo(Date.now() + handlerMissingAfterMs + 2_000);
      if (end === "failed") await block(world);
      expect(await world.status(id)).toMatchObject({ status: end });
      await world.t.mutation(api.operate.retryJob, { id });
      await block(world);
      expect(await world.status(id)).toMatchObject({ status: "scheduled" });
      await world.skipTo(Date.now() + handlerMissingAfterMs + 2_000);
      await block(world);
      expect(await world.status(id)).toMatchObject({ status: "failed" });
    },
  );

  test("fails at once where its queue says so, and is counted anew after an attempt that was begun", async () => {
    const world = await newWorld({ handlerMissingAfterMs: 0 });
    const id = await world.enqueue();
    await block(world);
    expect(await world.status(id)).toMatchObject({ status: "failed" });

    const other = await newWorld({ handlerMissingAfterMs: 60_000 });
    const second = await other.enqueue();
    await block(other);
    await other.skipTo(Date.now() + WAIT_MS + 2_000);
    const worker = other.worker("a");
    const [job] = await worker.claim();
    const outcome = { kind: "snoozed" as const, runAfter: WAIT_MS };
    await worker.complete([{ id: job!.id, attempt: job!.attempt, outcome }]);
    await other.skipTo(Date.now() + WAIT_MS + 2_000);
    await block(other);
    expect(await other.status(second)).toMatchObject({ status: "scheduled", failures: 0 });
  });
});

describe("a handler that is not its queue's", () => {
  const error = "handlerMismatch: a job was given to another queue's handler.";
  async function mismatch(world: World, by: By) {
    const id = await world.enqueue();
    await report(world, by, { kind: "failed", error, retryable: false });
    return id;
  }
  const mismatches = async (world: World) =>
    (await world.t.query(api.operate.events, { queue: "tiles" })).filter(
      ({ kind }) => kind === "handlerMismatch",
    );

  test.each(["lane", "lane apart"] as const)(
    "fails its job, and is seen: by why, by one event in ten minutes, by the light: by a %s",
    async (by) => {
      const world = await newWorld();
      const id = await mismatch(world, by);
      await mismatch(world, "lane");
      expect(await world.status(id)).toMatchObject({ status: "failed", attempt: 1 });
      const why = await world.t.query(api.observe.why, { id });
      expect(why!.reasons).toMatchObject([{ kind: "handlerMismatch" }]);
      expect(await mismatches(world)).toMatchObject([
        { message: error, details: { job: id, attempt: 1 } },
      ]);
      expect(await world.t.query(api.observe.health, { queue: "tiles" })).toMatchObject({
        ...{ light: "yellow", reason: expect.stringMatching(/made by another queue/) },
      });
    },
  );

  test("is a lane's to speak of", async () => {
    const world = await newWorld();
    await mismatch(world, "worker");
    expect(await mismatches(world)).toEqual([]);
    expect(await lightOf(world)).toBe("green");
  });
});
