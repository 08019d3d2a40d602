/** Where an item of a ring stands when it has waited. */
import { expect, test } from "vitest";
import { RETRY_DEFAULT } from "../../shared/index.js";
import { failed, newWorld, succeeded } from "../setup.test.js";

test("an item with a failed round, which rests, goes behind items that have not been worked on for longer", async () => {
  const world = await newWorld({ circular: true, restMs: 1_000 });
  await world.enqueueBatch(["good", "bad"]);
  const worker = world.worker("a");
  const [good, bad] = await worker.claim(2);
  await worker.complete([succeeded(good!)]);
  await worker.complete([failed(bad!)]);
  await world.advance(4_000);
  const jobs = await world.worker("b").claim(2);
  expect(jobs.map((job) => job.payload)).toEqual(["good", "bad"]);
});

test("an item with an attempt still to be repeated goes before them: its round is not over", async () => {
  const retry = { ...RETRY_DEFAULT, initialBackoffMs: 1 };
  const world = await newWorld({ circular: true, restMs: 1_000, retry });
  await world.enqueueBatch(["good", "bad"]);
  const worker = world.worker("a");
  const [good, bad] = await worker.claim(2);
  await worker.complete([succeeded(good!), failed(bad!)]);
  await world.advance(4_000);
  const jobs = await world.worker("b").claim(2);
  expect(jobs.map((job) => job.payload)).toEqual(["bad", "good"]);
});
