import { expect, test } from "vitest";
import { newWorld } from "../setup.test.js";
import { claimBehind, tooDear } from "./conditions.test.js";

test("with more jobs that are too dear than one scan reads, the cursor moves on, only for budgets up to its own", async () => {
  const world = await newWorld();
  for (let i = 0; i < 3; i += 1) await world.enqueueJobs(tooDear(1_000));
  await world.enqueue("fits", { cost: 5 });
  const worker = world.worker("w");
  expect(await worker.claim(9, { maxCost: 5 })).toEqual([]);
  await claimBehind(world, worker);
});
