/** A deploy after the host's clock was ahead, and was set back. */
import { expect, test, vi } from "vitest";
import { newWorld, T0 } from "../setup.test.js";

test("a deploy is in force although the queue was last declared by a clock that was a day ahead", async () => {
  const world = await newWorld();
  vi.setSystemTime(T0 + 86_400_000);
  await world.enqueue();
  vi.setSystemTime(T0);
  world.queue.config = { ...world.queue.config, maxResets: 5 };
  await world.enqueue();
  expect(await world.all("queues")).toMatchObject([{ config: { maxResets: 5 }, configuredAt: T0 }]);
});
