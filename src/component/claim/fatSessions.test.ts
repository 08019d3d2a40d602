/** Rows of sessions are read by sweeps and by other workers' claims: a caller cannot make one expensive. */
import { getDocumentSize } from "convex/values";
import { describe, expect, test } from "vitest";
import {
  CURSOR_KEPT_BYTES,
  CURSOR_MAX_BYTES,
  SESSION_MAX_BYTES,
  OFFER_MAX_BYTES,
  type Conditions,
} from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { failed, newWorld, refusal, type World, type Worker } from "../setup.test.js";

async function claim(world: World, args: Conditions & { cursor?: string; callSeq?: number }) {
  const { token, sessionKey } = world.worker("fat");
  const of = { token, sessionKey, callSeq: 1, name: "fat" };
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
      const row = (await world.all("sessions")).find(({ name }) => name === "fat")!;
      expect(getDocumentSize(row as never)).toBeLessThan(2_000);
    },
  );
});

/** Bounds in the world's own queue, one of its shards after another, of at least so many bytes. */
function ownCursor(bytes: number, queue = "tiles"): string {
  const alike: unknown[] = [];
  for (;;) {
    alike.push([`${10n ** 18n + BigInt(alike.length)}`, 1_767_225_600_000.25, [0, alike.length]]);
    const cursor = JSON.stringify({ [queue]: [0, ...alike] });
    if (cursor.length >= bytes) return cursor;
  }
}

describe("the cursor that a session's row keeps for a repeat of the call", () => {
  test("is the one that the call returned", async () => {
    const world = await newWorld();
    const reply = await claim(world, { cursor: ownCursor(CURSOR_KEPT_BYTES - 100) });
    expect(reply.cursor.length).toBeGreaterThan(CURSOR_KEPT_BYTES - 200);
    expect((await claim(world, {})).cursor).toBe(reply.cursor);
  });

  test("is none where that is large: the call's answer has it, and its repeat starts from the beginning", async () => {
    const world = await newWorld();
    const reply = await claim(world, { cursor: ownCursor(CURSOR_KEPT_BYTES + 100) });
    expect(reply.cursor.length).toBeGreaterThan(CURSOR_KEPT_BYTES);
    const [row] = await world.all("sessions");
    expect(row!.reply.cursor).toBeUndefined();
    expect((await claim(world, {})).cursor).toBe("{}");
  });
});

test("labels and groups are bounded together", async () => {
  const world = await newWorld();
  const many = (letter: string) =>
    Array.from({ length: 64 }, (_, i) => `${letter.repeat(30)}${i + 10}`);
  const fits = { labels: many("a"), groups: many("b") };
  const refused = await refusal(
    claim(world, { ...fits, labels: [...fits.labels.slice(1), "a".repeat(33)] }),
  );
  expect(refused).toMatchObject({
    code: "invalidArgument",
    max: OFFER_MAX_BYTES,
    bytes: OFFER_MAX_BYTES + 1,
  });
  expect(refused.message).toContain("Give it shorter ones, or fewer.");
  await claim(world, fits);
  // A third of the bytes in characters.
  const wide = Array.from({ length: 7 }, (_, i) => `${"漢".repeat(200)}${i}`);
  expect(await refusal(claim(world, { callSeq: 2, groups: wide }))).toMatchObject({
    max: OFFER_MAX_BYTES,
  });
});

test("an id that a worker names is bounded in bytes: its answer lies in the row", async () => {
  const world = await newWorld();
  const worker = world.worker("a");
  const wide = await refusal(worker.complete([failed({ id: "漢".repeat(22), attempt: 1 })]));
  expect(wide).toMatchObject({ code: "invalidArgument", argument: "id" });
  await worker.complete([failed({ id: "x".repeat(64), attempt: 1 })]);
});

/** The largest arguments that a call may have, and as many leases as a session may have. */
async function fattest(world: World): Promise<Worker> {
  const worker = world.worker("w".repeat(50));
  const long = (i: number) => `${"q".repeat(61)}${i + 100}`;
  const queues = Array.from({ length: 31 }, (_, i) => ({ ...world.queue, name: long(i) }));
  const served = [world.queue, ...queues];
  const groups = Array.from({ length: 64 }, (_, i) => `${"g".repeat(30)}${i + 10}`);
  const labels = Array.from({ length: 64 }, (_, i) => `${"l".repeat(30)}${i + 10}`);
  world.queue.name = "t".repeat(64);
  world.queue.config.timeoutMs = 60_000;
  for (const group of groups) await world.enqueue("a", { group });
  const { token, sessionKey, name } = worker;
  const offer = { labels, groups, maxCost: 1_000_000 };
  // A cursor is of one set of groups.
  const cursor = ownCursor(
    CURSOR_KEPT_BYTES - 9 - JSON.stringify(groups).length - 20,
    world.queue.name,
  );
  await world.t.mutation(api.lib.claim, {
    ...{ token, sessionKey, callSeq: 1, name, queues: served, max: 64, ...offer },
  });
  const finished = Array.from({ length: 64 }, (_, i) =>
    failed({ id: `${"x".repeat(62)}${i + 10}`, attempt: 10 ** 9 }),
  );
  const ask = { queues: served, max: 1, ...offer, cursor };
  await world.t.mutation(api.lib.complete, { token, sessionKey, callSeq: 2, finished, claim: ask });
  return worker;
}

test("a row is never larger than the bound that readers of many rows assume", async () => {
  const world = await newWorld();
  const worker = await fattest(world);
  const row = await worker.session();
  expect(row.leases).toHaveLength(64);
  expect(row.reply.answers).toHaveLength(64);
  expect(row.groups).toHaveLength(64);
  const bytes = getDocumentSize(row);
  expect(bytes).toBeGreaterThan(SESSION_MAX_BYTES / 2);
  expect(bytes).toBeLessThan(SESSION_MAX_BYTES);
});
