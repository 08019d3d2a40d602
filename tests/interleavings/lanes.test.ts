/** Rare ends of lanes and wakes, one after the other on the local backend's own engine. */
import { expect, test } from "vitest";
import { cancelScheduled, type ScheduledRow } from "../../local/functions/scheduledTable.js";
import { COMPONENT, deploymentOf } from "../races/deployment.js";
import {
  apartCallOf,
  LANE_WIDTH,
  type Answer,
  type LaneReply,
  type LaneStart,
  type ProcessStart,
} from "../../src/shared/index.js";
import { HANDLER, awakeLane, guard, lanesOf, loses, steps } from "./lane.js";
import { Line, mutation } from "./line.js";
import { argsAt, Transactions } from "./transactions.js";

const sound = await deploymentOf([]);
/** Longer than the janitor leaves a lane alone. */
const WATCHED_MS = 30_000;

async function newLine(
  maxParallelism: number,
  deploymentClass: "s16" | "s256" = "s16",
): Promise<Line> {
  const line = new Line(new Transactions(sound, { class: deploymentClass }));
  await line.open();
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism });
  return line;
}

/** As in the dashboard. */
async function cancels(line: Line, id: unknown): Promise<void> {
  const transaction = line.point.begin();
  await cancelScheduled(transaction, { namespace: COMPONENT, id: id as string }, line.now);
  line.point = line.point.commit(transaction, "a cancel in the dashboard")!;
}

const statuses = (line: Line) => line.rows("jobs").map(({ status }) => status);
const scheduled = (line: Line, path: string): ScheduledRow[] =>
  (line.rows("_scheduled_functions") as unknown as ScheduledRow[]).filter(
    ({ target }) => target.path === path,
  );
const running = (line: Line) => statuses(line).filter((status) => status === "running").length;

// Rules out D1.
test("a job with a canceled wake is found by a call of watch, once it has waited for five seconds", async () => {
  const line = await newLine(2);
  await line.enqueue();
  await cancels(line, scheduled(line, "push/wake:wake")[0]!._id);
  await line.pass(4_000);
  await line.do(mutation("lib:watch"));
  await line.pass(1_000);
  expect(statuses(line)).toEqual(["pending"]);
  await line.pass(1_000);
  await line.do(mutation("lib:watch"));
  await line.pass(0);
  expect(statuses(line)).toEqual(["running"]);
});

test("a job with a canceled wake is taken by the next lane that scans", async () => {
  const line = await newLine(3);
  await line.enqueue();
  await cancels(line, scheduled(line, "push/wake:wake")[0]!._id);
  await line.pass(1_000);
  await line.enqueue(2);
  await line.pass(0);
  expect(statuses(line)).toEqual(["running", "running", "running"]);
});

test("where the next job comes alone, its lane sees the lost job when it leaves, and lets the sweep come", async () => {
  const line = await newLine(2);
  const [lost] = await line.enqueue();
  await cancels(line, scheduled(line, "push/wake:wake")[0]!._id);
  await line.pass(6_000);
  await line.enqueue();
  await line.pass(0);
  expect(line.job(lost!)).toMatchObject({ status: "pending" });
  await line.do(steps(line, awakeLane(line)));
  await line.pass(WATCHED_MS);
  expect(line.job(lost!)).toMatchObject({ status: "running" });
});

test("a wake leaves nothing behind that lies in one place, though jobs are as a rule spread over many", async () => {
  const line = await newLine(5);
  line.declare(line.queue.name, { shards: 8 });
  await line.enqueue();
  await line.pass(11_000);
  line.declare(line.queue.name, { shards: 1 });
  await line.enqueue(4);
  await line.pass(0);
  expect(statuses(line)).toEqual(Array(5).fill("running"));
});

test("a lane without its function loses its job to another of a later generation, and its late word changes nothing", async () => {
  const line = await newLine(1);
  await line.enqueue();
  await line.pass(0);
  const lane = awakeLane(line);
  const late = steps(line, lane);
  await cancels(line, lane.runsIn);
  await line.pass(WATCHED_MS);
  expect(awakeLane(line)).toMatchObject({ generation: 2 });
  expect(line.rows("jobs")).toMatchObject([{ status: "running", attempt: 2, resets: 1 }]);
  const { answers, isOver } = await line.do<LaneReply>(late);
  expect({ answers, isOver }).toMatchObject({ answers: [{ answer: "leaseLost" }], isOver: true });
  expect(running(line)).toBe(1);
});

/** A queue with a mutation as its handler, and the wake of its one job. */
async function bookedLine(): Promise<{ line: Line; wake: () => Promise<unknown> }> {
  const line = await newLine(2);
  const handle = await line.app<string>("handler");
  line.declare(line.queue.name, { handler: { kind: "mutation", handle, takes: "job" } });
  await line.enqueue();
  const [first] = line.transactions.due(line.point);
  return { line, wake: () => line.do(first!) };
}

test("a job that came alone, with a mutation as its handler, is run by a call that no action makes", async () => {
  const { line, wake } = await bookedLine();
  await wake();
  await line.pass(0);
  expect(statuses(line)).toEqual(["succeeded"]);
  expect(scheduled(line, "push/laneOnce:runSingle")).toHaveLength(1);
  expect(scheduled(line, "push/laneAction:laneProcess")).toHaveLength(0);
  expect(lanesOf(line).every(({ state }) => state === "asleep")).toBe(true);
});

test("if that call fails as a whole, its lane is missed, and the next attempt is an action's, which can say so", async () => {
  const { line, wake } = await bookedLine();
  await wake();
  await loses(line, awakeLane(line));
  await line.pass(WATCHED_MS);
  expect(line.rows("jobs")).toMatchObject([{ status: "running", attempt: 2, resets: 1 }]);
  expect(scheduled(line, "push/laneOnce:runSingle")).toHaveLength(1);
  expect(scheduled(line, "push/laneAction:laneProcess")).toHaveLength(1);
});

test("a mutation that is run apart is told the same of its job as the first time, and one of a foreign attempt is not run", async () => {
  const told: Record<string, unknown>[] = [];
  for (const isApart of [false, true]) {
    const line = await newLine(2);
    const handle = await line.app<string>("teller");
    const handler = { kind: "mutation", handle, takes: "job" } as const;
    line.declare(line.queue.name, { handler, timeoutMs: 90_000 });
    const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
    await line.do(line.enqueuesOne({ traceparent }));
    const [wake] = line.transactions.due(line.point);
    await line.do(wake!);
    const [{ _id: id, attempt }] = line.rows("jobs") as [{ _id: string; attempt: number }];
    if (isApart) {
      const apart = (args: object) => line.do<Answer>(mutation("push/laneApart:runApart", args));
      expect(await apart({ id, attempt: attempt + 1 })).toMatchObject({ answer: "leaseLost" });
      expect(statuses(line)).toEqual(["running"]);
      const [once] = scheduled(line, "push/laneOnce:runSingle");
      const { jobs } = argsAt(line.point, COMPONENT, once!) as LaneStart;
      const call = apartCallOf(jobs[0]!.job);
      expect(await apart(call)).toMatchObject({ answer: "ok" });
    } else {
      await line.pass(0);
    }
    expect(statuses(line)).toEqual(["succeeded"]);
    const { result } = line.rows("jobs")[0] as { result?: { inline: Record<string, unknown> } };
    told.push({ ...result!.inline, id: "its own" });
  }
  expect(told[0]).toMatchObject({ timeoutMs: 90_000, claimableAt: expect.any(Number) });
  expect(told[1]).toEqual(told[0]);
});

test("such a call takes nothing besides: a wake begins the jobs for its room, in an action", async () => {
  const { line, wake } = await bookedLine();
  await wake();
  const lane = awakeLane(line);
  // No more may run than run already: from now on any freed capacity schedules a wake.
  await line.do(
    mutation("operate:configureQueue", {
      queue: line.queue.name,
      overrides: { maxParallelism: 1 },
    }),
  );
  await line.enqueue(2);
  const wakes = line.transactions.due(line.point).filter(({ path }) => path === "push/wake:wake");
  for (const one of wakes) await line.do(one);
  expect(line.rows("gates")).toMatchObject([{ state: "full" }]);
  await line.pass(0);
  expect(statuses(line).sort()).toEqual(["pending", "running", "succeeded"]);
  const [action] = scheduled(line, "push/laneAction:laneProcess");
  expect(lanesOf(line).find(({ _id }) => _id === lane._id)).toMatchObject({
    ...{ state: "awake", generation: 2, runsIn: action!._id },
  });
});

// Rules out D1.
test("a lane that guards and holds nothing is missed, too: no lane is relied on any more", async () => {
  const line = await newLine(4);
  await line.enqueue();
  await line.pass(0);
  await line.enqueue(2);
  await line.pass(0);
  const lane = guard(line);
  await line.do(steps(line, lane));
  await cancels(line, lane.runsIn);
  await line.pass(WATCHED_MS);
  expect(lanesOf(line).find(({ _id }) => _id === lane._id)).toMatchObject({ state: "asleep" });
  expect(line.rows("gates")).toMatchObject([{ state: "quiet" }]);
  expect(line.rows("doors")).toMatchObject([{ open: false }]);
});

test("a lane that was canceled while it runs reports ended jobs, and takes nothing more: its scheduled functions would be canceled at birth", async () => {
  const line = await newLine(1);
  await line.enqueue(2);
  await line.pass(0);
  const lane = awakeLane(line);
  await cancels(line, lane.runsIn);
  const { jobs, isOver } = await line.do<LaneReply>(steps(line, lane));
  expect({ jobs, isOver }).toEqual({ jobs: [], isOver: true });
  expect(statuses(line).sort()).toEqual(["pending", "succeeded"]);
  await line.pass(WATCHED_MS);
  expect(statuses(line).sort()).toEqual(["running", "succeeded"]);
});

test("with a lower maxParallelism running jobs go on, and nothing is begun until fewer run than may", async () => {
  const line = await newLine(3);
  await line.enqueue(5);
  await line.pass(0);
  const lane = awakeLane(line);
  const lower = { queue: line.queue.name, overrides: { maxParallelism: 1 } };
  await line.do(mutation("operate:configureQueue", lower));
  expect(running(line)).toBe(3);
  const ran: number[] = [];
  for (let i = 0; i < 4; i += 1) {
    await line.do(steps(line, lane, { ends: 1 }));
    await line.pass(100);
    ran.push(running(line));
  }
  expect(ran).toEqual([2, 1, 1, 1]);
});

test("raised again, and at 0 as a pause, it begins as many as may be", async () => {
  const line = await newLine(0);
  const to = (maxParallelism: number) =>
    line.do(
      mutation("operate:configureQueue", { queue: line.queue.name, overrides: { maxParallelism } }),
    );
  await line.enqueue(4);
  await line.pass(1_000);
  expect(running(line)).toBe(0);
  await to(2);
  await line.pass(100);
  expect(running(line)).toBe(2);
  await to(3);
  await line.pass(100);
  expect(running(line)).toBe(3);
});

test("a declaration that allows more is followed by a wake, too", async () => {
  const line = await newLine(1);
  await line.enqueue(3);
  await line.pass(11_000);
  expect(running(line)).toBe(1);
  line.declare(line.queue.name, { push: true, handler: HANDLER, maxParallelism: 4 });
  await line.enqueue();
  await line.pass(100);
  expect(running(line)).toBe(4);
});

test("a lane that wakes rely on scans for more though its first job has not ended", async () => {
  const line = await newLine(4);
  await line.enqueue();
  await line.pass(0);
  await line.enqueue(2);
  await line.pass(0);
  const started = scheduled(line, "push/laneAction:laneProcess").map(
    (row) => (argsAt(line.point, COMPONENT, row) as ProcessStart).lanes[0],
  );
  expect(started.map((lane) => lane?.lookAfterMs).sort()).toEqual([100, undefined]);
});

// Rules out D18.
test("a lane with all that a lane can have gives it up when maxParallelism is lowered beside another", async () => {
  const line = await newLine(LANE_WIDTH + 8, "s256");
  await line.enqueue(LANE_WIDTH + 32);
  await line.pass(0);
  const [wide, other] = lanesOf(line).sort((a, b) => Number(b["cap"]) - Number(a["cap"]));
  expect([wide, other]).toMatchObject([{ cap: LANE_WIDTH }, { cap: 8 }]);
  const lower = { queue: line.queue.name, overrides: { maxParallelism: 10 } };
  await line.do(mutation("operate:configureQueue", lower));
  const ran: number[] = [];
  for (const [lane, ends] of [
    [wide!, 0],
    [wide!, LANE_WIDTH - 10],
    [wide!, 2],
    [other!, 8],
    [wide!, 8],
  ] as const) {
    await line.do(steps(line, lane, { ends }));
    await line.pass(0);
    ran.push(running(line));
  }
  expect(ran).toEqual([LANE_WIDTH + 8, 18, 16, 10, 10]);
});

test("while one lane guards, another takes only jobs that have waited so long that the first must have died", async () => {
  const line = await newLine(64, "s256");
  await line.enqueue(3);
  await line.pass(0);
  const busy = awakeLane(line);
  await line.enqueue(2);
  await line.pass(0);
  expect(guard(line)._id).not.toBe(busy._id);
  await line.enqueue();
  await line.pass(1_000);
  await line.do(steps(line, busy, { ends: 1 }));
  expect(statuses(line).filter((status) => status === "pending")).toHaveLength(1);
  await line.pass(2_001);
  await line.do(steps(line, busy, { ends: 0 }));
  expect(statuses(line).filter((status) => status === "pending")).toHaveLength(0);
});

test("a scan in vain writes nothing, until the lane has to show that it lives", async () => {
  const line = await newLine(4);
  await line.enqueue();
  await line.pass(0);
  await line.enqueue(2);
  await line.pass(0);
  const lane = guard(line);
  const written = () => [line.rows("sessions"), line.rows("lanes"), line.rows("gates")];
  // It gives itself the room for its scan.
  await line.do(steps(line, lane, { ends: 0 }));
  const before = written();
  await line.do(steps(line, lane, { ends: 0 }));
  expect(written()).toEqual(before);
  await line.pass(11_000);
  await line.do(steps(line, lane, { ends: 0 }));
  expect(written()).not.toEqual(before);
});
