/** Jobs of one mutation share a wake: none is left behind by a look that is older than they are, or by a clock. */
import { afterEach, expect, test } from "vitest";
import { startVirtualApp, type VirtualApp } from "../../harness/virtualApp.js";

/** So old is what everybody looks at: longer than a wake and its lane take together. */
const LAG_MS = 300;
/** A mutation takes longer than a scheduled function is late at its start. */
const SLOW = { readRoundTripMs: 40 };
/** Before anybody takes what waits for forgotten; where it is left to workers first, after that. */
const SOON_MS = 5_000;
const LEFT_MS = 2_000;

let app: VirtualApp;
afterEach(() => app.world.close());

async function enqueue(mutation: string, count: number): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n, ms: 0 }));
  return (await app.world.call(mutation, { payloads })) as string[];
}

async function statuses(query: string, ids: string[]): Promise<string[]> {
  const jobs = (await app.world.call(query, { ids })) as { status: string }[];
  return jobs.map(({ status }) => status);
}

test.each([2, 40])(
  "%s jobs of one mutation are all done, though their wake and its lane see one of them only",
  async (count) => {
    app = await startVirtualApp({ seed: 1, snapshotLagMs: () => LAG_MS });
    await app.world.advance(1_000);
    const ids = await enqueue("pushed:enqueueBatch", count);
    await app.world.advance(SOON_MS);
    expect(await statuses("pushed:statusBatch", ids)).toEqual(ids.map(() => "succeeded"));
  },
);

test("so are those that were left to workers first, and whose mutation took its time", async () => {
  app = await startVirtualApp({ seed: 1, costs: SLOW });
  const ids = await enqueue("pushed:enqueueMixed", 3);
  await app.world.advance(LEFT_MS + SOON_MS - 500);
  expect(await statuses("pushed:mixedStatus", ids)).toEqual(ids.map(() => "succeeded"));
});

test("also where the one that the wake was scheduled for was canceled", async () => {
  app = await startVirtualApp({ seed: 1, costs: SLOW });
  const ids = await enqueue("pushed:enqueueMixed", 3);
  await app.world.call(
    "lib:cancel",
    { id: ids[0]!, queue: "mixed" },
    { componentPath: "conveyor" },
  );
  await app.world.advance(60_000);
  expect(await statuses("pushed:mixedStatus", ids)).toEqual(["canceled", "succeeded", "succeeded"]);
});
