/** The ring that fails jobs which were not begun in time depends on no job that was. */
import { expect, test } from "vitest";
import { Line } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";

const deployment = await deploymentOf([]);

test("the expiry of a job that never began commits while another of its segment completes", async () => {
  const line = new Line(new Transactions(deployment));
  await line.open();
  const begun = await line.enqueueOne({ expiresAfterMs: 2_000 });
  const worker = new Worker(line, "w");
  const jobs = await worker.claim();
  expect(jobs.map(({ id }) => id)).toEqual([begun]);
  const late = await line.enqueueOne({ expiresAfterMs: 2_000 });
  const [alarm] = line.rows("timers").filter(({ kind }) => kind === "expiry");
  await line.pass((alarm!["dueAt"] as number) - line.now - 1);
  line.transactions.now += 1;
  const ring = line.transactions
    .due(line.point)
    .find(({ row }) => row!.target.path.startsWith("edges/startDeadlines"))!;
  const rung = await line.transactions.run(line.point, ring);
  await worker.complete(jobs);
  const after = line.point.commit(rung.transaction, "expiry");
  expect(after).not.toBeNull();
  line.point = after!;
  expect(line.job(late)["status"]).toBe("failed");
  expect(line.job(begun)["status"]).toBe("succeeded");
  expect(line.rows("expiries")).toEqual([]);
});

test("a job that is given back just before its deadline, by a transaction that commits after the alarm's, is ended all the same", async () => {
  const line = new Line(new Transactions(deployment));
  await line.open();
  const id = await line.enqueueOne({ deadlineMs: 1_990 - (line.now % 1_000) });
  const deadline = line.job(id)["deadline"] as { at: number };
  const worker = new Worker(line, "w");
  const jobs = await worker.claim();
  await line.pass(deadline.at - 1 - line.now);
  const givesBack = worker.completes(jobs, { outcome: { kind: "released" } });
  const before = line.point;
  const { transaction } = await line.transactions.run(before, givesBack);
  const [alarm] = line.rows("timers").filter(({ kind }) => kind === "expiry");
  line.transactions.now = alarm!["dueAt"] as number;
  const ring = line.transactions
    .due(line.point)
    .find(({ row }) => row!.target.path.startsWith("edges/startDeadlines"))!;
  const rung = await line.transactions.run(line.point, ring);
  line.point = line.point.commit(rung.transaction, "expiry")!;
  expect(line.job(id)["status"]).toBe("running");
  expect(line.point.commit(transaction, "complete")).toBeNull();
  await line.do(givesBack);
  expect(line.job(id)).toMatchObject({ status: "timedOut", code: "deadlineExceeded" });
});
