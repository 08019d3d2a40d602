/** One sweep is due at a time, with any number of calls that ask for one: repairs leave the scheduler free. */
import { expect, test } from "vitest";
import { Line } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";

const deployment = await deploymentOf([]);

async function newLine(): Promise<Line> {
  const line = new Line(new Transactions(deployment));
  await line.open();
  return line;
}

const sweeps = (line: Line) => line.rows("timers").filter(({ kind }) => kind === "janitor").length;

test("a worker with an overdue attempt that goes on with other jobs adds one sweep, not one with each call", async () => {
  const line = await newLine();
  const long = line.declare("long", { timeoutMs: 5_000, leaseMs: 60_000 });
  const short = line.declare("tiles", { leaseMs: 60_000 });
  const others = Array.from({ length: 16 }, (_, i) =>
    line.declare(`other${i}`, { leaseMs: 60_000 }),
  );
  for (const queue of [long, ...others]) await line.do(line.enqueues(1, queue));
  // Claims that overlap where there is no timer make one each: some are of later ends, and come first among them.
  const worker = new Worker(line, "hangs");
  const far = others.map((queue, i) => new Worker(line, `far${i}`).claims(1, [queue]));
  await line.meet(...far, worker.claims(1, [long]));
  await line.pass(4_000);
  await line.enqueue(40);
  // No sweep has run yet when the attempt becomes overdue.
  line.transactions.now += 1_050;
  const before = sweeps(line);
  for (let step = 0; step < 10; step += 1) {
    const jobs = await worker.claim(1, [short]);
    await worker.complete(jobs);
  }
  expect(sweeps(line)).toBeLessThanOrEqual(before + 1);
  await line.pass(1_000);
  expect(
    line.rows("jobs").filter(({ queue, status }) => queue === "long" && status === "running"),
  ).toEqual([]);
});

test("of the sweeps of a fleet that was killed one goes on, and the rest leave at once", async () => {
  const line = await newLine();
  const queues = Array.from({ length: 20 }, (_, i) => line.declare(`queue${i}`, {}));
  for (const queue of queues) await line.do(line.enqueues(8, queue));
  // Claims that overlap where there is no timer make one each.
  await line.meet(...queues.map((queue, i) => new Worker(line, `dead${i}`).claims(8, [queue])));
  expect(sweeps(line)).toBe(20);
  await line.untilSweep();
  for (const sweep of line.transactions.due(line.point)) await line.do(sweep);
  const sweepsLeft = (untilMs = 200) => line.transactions.due(line.point, line.now + untilMs);
  let more = 0;
  for (; sweepsLeft().length > 0; more += 1) {
    expect(sweepsLeft()).toHaveLength(1);
    const [next] = sweepsLeft();
    line.transactions.now = Math.max(line.now, next!.row!.due!);
    await line.do(next!);
  }
  expect(more).toBeGreaterThan(0);
  expect(line.rows("jobs").filter(({ status }) => status === "running")).toEqual([]);
});
