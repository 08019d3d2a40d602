/** A change of many jobs is shown a snapshot from before the last of them: the platform may choose an older one. */
import { expect, test } from "vitest";
import { deploymentOf } from "../races/deployment.js";
import { Line, mutation } from "./line.js";
import { Transactions } from "./transactions.js";

const sound = await deploymentOf([]);

/** A job that the latest commit has moved, and that the call means. Returns its status in the end. */
async function after(action: "cancelMany" | "deleteMany", move: "enqueue" | "cancel") {
  const line = new Line(new Transactions(sound));
  await line.open();
  const [id] = await line.enqueue();
  if (move === "cancel") await line.do(line.cancels(id!));
  const call = mutation(`operate:${action}`, { queue: line.queue.name, filter: {} });
  const { transaction } = await line.transactions.run(line.point, call, "old");
  line.point = line.point.commit(transaction, call.path)!;
  await line.pass(1_000);
  return line.rows("jobs").map(({ status }) => status);
}

test("a cancel ends the job that was enqueued before the call", async () => {
  expect(await after("cancelMany", "enqueue")).toEqual(["canceled"]);
});

test("a deletion takes the job that had ended before the call", async () => {
  expect(await after("deleteMany", "cancel")).toEqual([]);
});
