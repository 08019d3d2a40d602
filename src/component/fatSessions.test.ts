/** Rows of sessions are read by sweeps and by other workers' claims: a caller cannot make one expensive. */
import { getDocumentSize } from "convex/values";
import { describe, expect, test } from "vitest";
import { CURSOR_MAX_BYTES, OFFER_MAX_BYTES, RANGE_ROWS, type Conditions } from "../shared/index.js";
import { api } from "./_generated/api.js";
import { newWorld, refusal, type World } from "./setup.test.js";

const PLATFORM_BYTES = 16 * 2 ** 20;

async function claim(world: World, args: Conditions & { cursor?: string }) {
  const { token, session } = world.worker("fat");
  const of = { token, session, n: 1, name: "fat" };
  return await world.t.mutation(api.lib.claim, {
    ...of,
    ...{ queues: [world.queue], max: 1 },
    ...args,
  });
}

/** A cursor of bounds in queues of this name, as large as it may be. */
function cursorOf(nameOf: (i: number) => string, bytes: number): string {
  const wire: Record<string, unknown> = {};
  for (let i = 0; ; i += 1) {
    wire[nameOf(i)] = [0, ["5", 1, [1, 0]]];
    const cursor = JSON.stringify(wire);
    if (new TextEncoder().encode(cursor).length > bytes) {
      delete wire[nameOf(i)];
      return JSON.stringify(wire);
    }
  }
}
const wide = (i: number) => `${"漢".repeat(60)}${i}`;

describe("the cursor that a claim is given", () => {
  test("is bounded in bytes, not in characters", async () => {
    const world = await newWorld();
    const cursor = cursorOf(wide, 3 * CURSOR_MAX_BYTES);
    expect(cursor.length).toBeLessThan(2 * CURSOR_MAX_BYTES);
    expect(await refusal(claim(world, { cursor }))).toMatchObject({ code: "invalidArgument" });
    const just = cursorOf(wide, CURSOR_MAX_BYTES - 8);
    await claim(world, { cursor: just });
  });

  test.each(["with nothing to claim", "with a job", "of a queue that is paused"])(
    "is kept of the queues alone that the call names, %s",
    async (how) => {
      const world = await newWorld();
      await world.enqueue("a");
      if (how === "with nothing to claim") await world.worker("other").claim(64);
      if (how === "of a queue that is paused")
        await world.t.mutation(api.operate.pauseQueue, { queue: "tiles" });
      const own = JSON.stringify({ tiles: [0, ["5", 1, [1, 0]]] }).slice(1);
      const cursor = `${cursorOf(wide, CURSOR_MAX_BYTES - 100).slice(0, -1)},${own}`;
      const reply = await claim(world, { cursor });
      expect(reply.cursor).not.toContain("漢");
      const row = (await world.all("holders")).find(({ name }) => name === "fat")!;
      expect(getDocumentSize(row as never)).toBeLessThan(2_000);
    },
  );
});

test("labels and groups are bounded together", async () => {
  const world = await newWorld();
  const many = (letter: string) =>
    Array.from({ length: 64 }, (_, i) => `${letter.repeat(200)}${i}`);
  const refused = await refusal(claim(world, { labels: many("a"), groups: many("b") }));
  expect(refused).toMatchObject({ code: "invalidArgument", max: OFFER_MAX_BYTES });
  const groups = [`${"漢".repeat(OFFER_MAX_BYTES / 3 / 16)}`.slice(0, 250)];
  await claim(world, { groups });
});

test("as many of the largest rows as a sweep looks at are less than half of what it may read", () => {
  const largest = CURSOR_MAX_BYTES + OFFER_MAX_BYTES + 8 * 2 ** 10;
  expect(2 * RANGE_ROWS * largest).toBeLessThan(PLATFORM_BYTES / 2);
});
