/** Capacity that must come free, and wakes that must come to an end: one line of time on the local backend's own engine. */
import { expect, test } from "vitest";
import {
  LANE_CARRIES_BYTES,
  PLACES_BY_CLASS,
  type HandedOver,
  type LaneReply,
} from "../../src/shared/index.js";
import { deploymentOf } from "../races/deployment.js";
import {
  awakeLane,
  goes,
  guard,
  sessionOf,
  lanesOf,
  loses,
  named,
  processesOf,
  steps,
  type LaneRow,
  type ProcessRow,
  HANDLER,
} from "./lane.js";
import { Line, mutation, type Row } from "./line.js";
import { Transactions, type Call } from "./transactions.js";

const sound = await deploymentOf([]);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Longer than a process takes jobs that may run for so long. */
const LONG_MS = 20 * MINUTE_MS;
const OPEN_MS = 10 * MINUTE_MS;

async function newLine(maxParallelism: number): Promise<Line> {
  const line = new Line(new Transactions(sound));
  await line.open();
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism });
  return line;
}

const statuses = (line: Line) => line.rows("jobs").map(({ status }) => status);
const wakes = (line: Line) =>
  line
    .rows("_scheduled_functions")
    .filter((row) => (row["target"] as { path: string }).path === "push/wake:wake").length;

test("a full gate becomes quiet when capacity is free and nothing waits: the next job begins", async () => {
  const line = await newLine(1);
  line.declare(line.queue.name, { timeoutMs: LONG_MS });
  await line.enqueue();
  await line.pass(0);
  const lane = awakeLane(line);
  const [waiting] = await line.enqueue();
  await line.pass(0);
  expect(line.rows("gates")).toMatchObject([{ state: "full" }]);
  await line.do(line.cancels(waiting!));
  await line.pass(OPEN_MS);
  // Its time is over, and the queue was waiting for that: a wake scans for jobs for its room, and finds none.
  expect(await line.do<LaneReply>(steps(line, lane))).toMatchObject({ isOver: true });
  await line.pass(0);
  expect(line.rows("gates")).toMatchObject([{ state: "quiet" }]);
  expect(line.rows("doors")).toMatchObject([{ open: false }]);
  await line.enqueue();
  await line.pass(0);
  expect(statuses(line).sort()).toEqual(["canceled", "running", "succeeded"]);
});

test("a lane that is gone while one of its jobs runs too long goes with all that it holds, and its room is another's", async () => {
  const line = await newLine(2);
  const jobs = [{ payload: 1, options: { rules: { timeoutMs: 5_000 } } }, { payload: 2 }];
  const enqueue = mutation("lib:enqueue", { queue: line.queue, jobs });
  const [long, other] = await line.do<{ id: string }[]>(enqueue);
  await line.pass(0);
  const lane = awakeLane(line);
  expect(statuses(line)).toEqual(["running", "running"]);
  await loses(line, lane);
  await line.pass(6_000);
  expect(line.job(long!.id)).toMatchObject({ status: "timedOut" });
  expect(line.job(other!.id)).toMatchObject({ status: "running", attempt: 2 });
  expect(lanesOf(line)).toMatchObject([{ _id: lane._id, state: "awake", generation: 2 }]);
});

/** A day later all lanes are forgotten but the first, which was seen last. */
async function dayLater(): Promise<Line> {
  const line = await newLine(3);
  for (let jobs = 0; jobs < 3; jobs += 1) {
    await line.enqueue();
    await line.pass(0);
    await guardRests(line);
  }
  const lanes = lanesOf(line);
  expect(lanes).toHaveLength(3);
  const isFirst = (lane: LaneRow) => sessionOf(line, lane)["sessionKey"] === "lane:tiles:0";
  for (const lane of lanes.filter((one) => !isFirst(one))) await goes(line, lane);
  await guardRests(line);
  await line.pass(8 * MINUTE_MS);
  await goes(line, lanes.find(isFirst)!);
  await line.pass(DAY_MS - 4 * MINUTE_MS);
  return line;
}

/** From that moment on another line each time: so many tokens before the next job. */
async function withNextJob(day: Line, at: number, rolls: number): Promise<Line> {
  const line = day.after(day.point);
  line.transactions.now = at;
  for (let roll = 0; roll < rolls; roll += 1)
    await line.do(mutation("operate:createToken", { name: `token ${roll}`, queues: null }));
  await line.enqueue();
  await line.pass(MINUTE_MS);
  return line;
}

/** The guarding lane, if there is one, scans in vain until it is relied on no more. */
async function guardRests(line: Line): Promise<void> {
  for (let looks = 0; looks < 5 && line.rows("gates").some((gate) => "guard" in gate); looks += 1)
    await goes(line, guard(line), { ends: 0, looks });
}

const sessionsOf = (line: Line) => line.rows("sessions").map((row) => row["sessionKey"] as string);

test("a lane that comes after older ones were forgotten has a number of its own", async () => {
  const last = "lane:tiles:2";
  // Which spare begins the job is by lot: the third, here, so that as many lanes are left as its number says.
  const day = await dayLater();
  const at = day.now;
  let line = await withNextJob(day, at, 0);
  for (let rolls = 1; rolls < 30 && !sessionsOf(line).includes(last); rolls += 1)
    line = await withNextJob(day, at, rolls);
  expect(sessionsOf(line).sort()).toEqual(["lane:tiles:0", last]);
  for (let more = 0; more < 2; more += 1) {
    await line.enqueue();
    await line.pass(0);
  }
  expect(statuses(line).filter((status) => status === "running")).toHaveLength(3);
  expect(sessionsOf(line).sort()).toEqual(["lane:tiles:0", last, "lane:tiles:3"]);
});

test("a wake that is shown an old snapshot, and finds nothing there, comes once more, and then is sure", async () => {
  const line = await newLine(1);
  await line.enqueue();
  await line.pass(0);
  await line.do(steps(line, awakeLane(line)));
  await line.pass(MINUTE_MS);
  const before = wakes(line);
  // Something else has just been committed, which an older snapshot does not show.
  await line.do(mutation("operate:createToken", { name: "another", queues: null }));
  const wake = mutation("push/wake:wake", { queue: line.queue.name });
  const begun = await line.transactions.run(line.point, wake, "old");
  line.point = line.point.commit(begun.transaction, wake.path)!;
  await line.pass(MINUTE_MS);
  expect(wakes(line) - before).toBe(1);
});

test("a lane that grows begins no more than the class has places for, counting all queues", async () => {
  const line = await newLine(100);
  const other = { ...line.queue, name: "other" };
  await line.enqueue();
  await line.pass(0);
  const first = awakeLane(line);
  await line.enqueue(2);
  await line.pass(0);
  const lane = guard(line);
  await goes(line, first);
  await line.do(line.enqueues(1, other));
  await line.pass(0);
  await line.enqueue(80);
  for (let calls = 0; calls < 10; calls += 1) await line.do(steps(line, lane, { ends: 0 }));
  expect(lanesOf(line).filter(({ state }) => state === "awake")).toHaveLength(2);
  const running = line.rows("jobs").filter(({ status }) => status === "running");
  const own = running.filter(({ queue }) => queue === line.queue.name);
  const { any, all } = PLACES_BY_CLASS["s16"]!;
  expect(own.length).toBeLessThanOrEqual(any);
  expect(running.length).toBeLessThanOrEqual(all);
  expect(own.length).toBeGreaterThan(40);
});

test("a large job that is deleted before its lane fetches it keeps no room, and the lane ends", async () => {
  const line = await newLine(2);
  const jobs = [{ payload: "x".repeat(LANE_CARRIES_BYTES) }];
  const [large] = await line.do<{ id: string }[]>(
    mutation("lib:enqueue", { queue: line.queue, jobs }),
  );
  await line.pass(0);
  const lane = awakeLane(line);
  await line.do(mutation("operate:deleteJob", { id: large!.id }));
  expect(heldBy(line, lane)).toHaveLength(1);
  expect(await line.do<LaneReply>(fetches(line, lane))).toMatchObject({ isOver: true, jobs: [] });
  expect(heldBy(line, lane)).toEqual([]);
  expect(lanesOf(line).every(({ state }) => state === "asleep")).toBe(true);
});

test("a lane that fetches a large payload takes nothing besides: one answer carries no more than one claim", async () => {
  const line = await newLine(4);
  const large = (count: number) => {
    const jobs = Array.from({ length: count }, () => ({ payload: "x".repeat(LANE_CARRIES_BYTES) }));
    return mutation("lib:enqueue", { queue: line.queue, jobs });
  };
  await line.enqueue();
  await line.pass(0);
  await line.do(large(2));
  await line.pass(0);
  const lane = guard(line);
  await line.do(large(1));
  const brought = await line.do<LaneReply>(fetches(line, lane));
  expect(brought.jobs).toHaveLength(2);
  expect(brought.lookAfterMs).toBeGreaterThan(0);
  expect(await line.do<LaneReply>(steps(line, lane, { ends: 0 }))).toMatchObject({
    jobs: [{ job: { attempt: 1 } }],
  });
});

const heldBy = (line: Line, { session }: Row) =>
  line.rows("sessions").find(({ _id }) => _id === session)!["leases"] as unknown[];

/** A lane's first call, where its jobs were not carried to it: it has not received its start's claim. */
function fetches(line: Line, lane: Row): Call {
  const call = steps(line, lane, { ends: 0 });
  const { lastAckedCall } = call.args as { lastAckedCall: number };
  return { ...call, args: { ...call.args, lastAckedCall: lastAckedCall - 1 } };
}

test("a process with a canceled function receives no lane that is handed to its successor in the same slot", async () => {
  const line = new Line(new Transactions(sound));
  await line.open();
  const push = (name: string) =>
    line.declare(name, { push: true, handler: HANDLER, maxParallelism: 4, schedulerShare: 0.125 });
  const first = push(line.queue.name);
  await line.do(line.enqueues(1, first));
  await line.pass(0);
  const older = processesOf(line).find(({ state }) => state === "receiving")!;
  await loses(line, awakeLane(line, first));
  await line.pass(MINUTE_MS);
  const newer = processesOf(line).find(({ state }) => state === "receiving")!;
  expect(newer).toMatchObject({ _id: older._id, generation: older.generation + 1 });
  await line.do(line.enqueues(1, push("other")));
  await line.pass(0);
  const looks = async (process: ProcessRow) => {
    const call = mutation("push/mainLoop:readProcesses", { ...named(process), upTo: 0n });
    return await line.do<HandedOver>({ ...call, kind: "query" });
  };
  expect((await looks(older)).lanes).toEqual([]);
  expect((await looks(newer)).lanes).toHaveLength(1);
});
