/** Ending the leases of one holder, called as the loser of a race would call it. */
import { expect, test } from "vitest";
import { internal } from "./_generated/api.js";
import { app, newToldWorld, newWorld } from "./setup.test.js";

test("a holder that has beaten since it was found expired keeps its leases: its row is read for real", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  const { _id } = await worker.holder();
  const args = { holder: _id, now: Date.now() };
  expect(await world.t.mutation(internal.expire.expireHolder, args)).toEqual([]);
  expect(await worker.heartbeat([job!])).toEqual(["ok"]);
});

test("nobody is told in the transaction that ends leases: a callback must not keep jobs from coming back", async () => {
  const world = await newToldWorld({ maxResets: 0 });
  await world.enqueueBatch([1, 2]);
  const worker = world.worker("a");
  await worker.heartbeat(await worker.claim(2));
  let told = 0;
  app.onComplete = () => void (told += 1);
  const { _id, expiresAt } = await worker.holder();
  await world.t.mutation(internal.expire.expireHolder, { holder: _id, now: expiresAt + 1 });
  expect(told).toBe(0);
  expect(await world.all("callbacks")).toHaveLength(2);
  await world.settle();
  expect(told).toBe(2);
});
