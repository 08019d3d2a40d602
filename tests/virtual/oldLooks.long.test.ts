/** Jobs of one mutation share a wake: none is missed because of a snapshot that is older than they are, or of a clock. */
import { afterEach, expect, test } from "vitest";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";
import { WAKE_AGAIN_MS } from "../../src/shared/index.js";

/** The age of all snapshot reads: longer than a wake and its lane take together. */
const LAG_MS = 300;
/** A mutation takes longer than a scheduled function is late at its start. */
const SLOW = { readRoundTripMs: 40 };
/** Before any repair takes a pending job for forgotten; where it is left to workers first, after that. */
const SOON_MS = 5_000;
const LEFT_MS = 2_000;

let app: VirtualApp;
afterEach(() => app.world.close());

async function enqueue(to: object, count: number, firstMs = 0): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n, ms: n === 0 ? firstMs : 0 }));
  const mutation = "queue" in to ? "pushed:enqueue" : "pushed:enqueueMixed";
  return (await app.world.call(mutation, { ...to, payloads })) as string[];
}
const PUSHED = { queue: "pushed" };
const MIXED = {};

async function statuses(query: string, ids: string[]): Promise<string[]> {
  const jobs = (await app.world.call(query, { ids })) as { status: string }[];
  return jobs.map(({ status }) => status);
}

// Rules out P6.
test.each([2, 40])(
  "%s jobs of one mutation are all done, though their wake and its lane see one of them only",
  async (count) => {
    app = await startVirtualApp({ seed: 1, snapshotLagMs: () => LAG_MS });
    await app.world.advance(1_000);
    const ids = await enqueue(PUSHED, count);
    await app.world.advance(SOON_MS);
    expect(await statuses("pushed:status", ids)).toEqual(ids.map(() => "succeeded"));
  },
);

// Rules out P6.
test("also where a later snapshot is as old as they are, and shows only the one that has been taken since", async () => {
  let cameAt = -Infinity;
  const snapshotLagMs = () => {
    // The world asks before it is there.
    const ms = cameAt === -Infinity ? Infinity : Math.floor(app.world.now() - cameAt);
    if (ms > LAG_MS) return 0;
    // Their wake sees nothing of them; the one that comes again sees them all as they came.
    return ms < WAKE_AGAIN_MS ? LAG_MS : ms;
  };
  app = await startVirtualApp({ seed: 1, snapshotLagMs });
  await enqueue(PUSHED, 1);
  await app.world.advance(60_000);
  // Room for one beside the running one, which is the first of the line for every scan.
  await app.world.call(
    "operate:configureQueue",
    { queue: "pushed", overrides: { maxParallelism: 2, shards: 1 } },
    { componentPath: "conveyor" },
  );
  const ids = await enqueue(PUSHED, 4, 2 * SOON_MS);
  cameAt = app.world.now();
  await app.world.advance(SOON_MS - 1_000);
  const [first, ...others] = await statuses("pushed:status", ids);
  expect([first, others]).toEqual(["running", others.map(() => "succeeded")]);
});

// Rules out P6.
test("so are jobs that were left to workers first, after a slow mutation", async () => {
  app = await startVirtualApp({ seed: 1, costs: SLOW });
  const ids = await enqueue(MIXED, 3);
  await app.world.advance(LEFT_MS + SOON_MS - 500);
  expect(await statuses("pushed:mixedStatus", ids)).toEqual(ids.map(() => "succeeded"));
});

test("also where the one that the wake was scheduled for was canceled", async () => {
  app = await startVirtualApp({ seed: 1, costs: SLOW });
  const ids = await enqueue(MIXED, 3);
  await app.world.call(
    "operate:cancelJob",
    { id: ids[0]!, queue: "mixed" },
    { componentPath: "conveyor" },
  );
  await app.world.advance(60_000);
  expect(await statuses("pushed:mixedStatus", ids)).toEqual(["canceled", "succeeded", "succeeded"]);
});
