/** Whether workers outside are there for a queue: found among all other live sessions. */
import { expect, test } from "vitest";
import { SESSION_MAX_BYTES } from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import { lookServed } from "./outsideWorkers.js";
import { newWorld, type World } from "../setup.test.js";

/** So many sessions that serve another queue and have called a moment ago. */
async function plant(world: World, count: number, more: Partial<Doc<"sessions">> = {}) {
  await world.t.run(async (ctx) => {
    for (let n = 0; n < count; n += 1)
      await ctx.db.insert("sessions", {
        ...{
          sessionKey: `other-${n}`,
          name: "other",
          state: "idle",
          queues: ["other"],
          leases: [],
        },
        ...{ expiresAt: Date.now(), lastSeenAt: Date.now(), callSeq: 0, acknowledged: true },
        ...{ reply: { answers: [] }, ...more },
      });
  });
}

const served = async (world: World) =>
  await world.t.run((ctx) => lookServed(ctx as never, ["tiles"]));

test("no worker is, beside the lanes and workers of thirty other queues", async () => {
  const world = await newWorld();
  await plant(world, 240);
  expect(await served(world)).toEqual([]);
});

test("counts the worker that called last, and stops reading at the one found", async () => {
  const world = await newWorld();
  await plant(world, 240, { expiresAt: Date.now() - 20_000 });
  await world.worker("a").claim();
  expect(await served(world)).toEqual(["tiles"]);
});

test("one may be there, where there are more or larger sessions than are read", async () => {
  const world = await newWorld();
  await plant(world, 16, { name: "x".repeat(SESSION_MAX_BYTES) });
  expect(await served(world)).toEqual(["tiles"]);
});
