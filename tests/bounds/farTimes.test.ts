/** Times at the limits of a job's options lie further ahead than the platform schedules functions. */
import { expect, test } from "vitest";
import { EXPIRES_MAX_MS, RUN_AT_FUTURE_MAX_MS } from "../../src/shared/index.js";
import { Line } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { deploymentOf } from "../races/deployment.js";

const deployment = await deploymentOf([]);

test("a job due in four years that may wait for four years more is enqueued, and expires to the second", async () => {
  const line = new Line(new Transactions(deployment));
  await line.open();
  const id = await line.enqueueOne({
    runAfter: RUN_AT_FUTURE_MAX_MS,
    expiresAfterMs: EXPIRES_MAX_MS,
  });
  await line.pass(RUN_AT_FUTURE_MAX_MS + 1_000);
  expect(line.job(id)).toMatchObject({ status: "pending" });
  await line.pass(EXPIRES_MAX_MS - 2_000);
  expect(line.job(id)).toMatchObject({ status: "pending" });
  await line.pass(3_000);
  expect(line.job(id)).toMatchObject({ status: "failed" });
  expect(line.rows("expiries")).toEqual([]);
});
