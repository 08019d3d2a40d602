import { expect, test } from "vitest";
import {
  EVENTS_RETENTION_MS,
  PERIOD_MS,
  PERIODS_RETENTION_MS,
  periodOf,
  Tallies,
} from "../../shared/index.js";
import { newWorld, type World } from "../setup.test.js";
import { addTallies } from "./periodRows.js";

const MINUTE = PERIOD_MS.minute;

/** New jobs of a queue, one at each of these instants. */
function newJobs(...instants: number[]) {
  const tallies = new Tallies();
  for (const at of instants) tallies.countNew(at);
  return tallies.all();
}

async function add(world: World, queues: Record<string, ReturnType<typeof newJobs>>) {
  await world.t.run((ctx) => addTallies(ctx as never, new Map(Object.entries(queues))));
}

async function rowsOf(world: World, of: string, kind: string): Promise<[number, number][]> {
  const rows = (await world.all("periods")).filter(
    ({ queue, per }) => queue === of && per === kind,
  );
  return rows.map(({ at, enqueued }): [number, number] => [at, enqueued]).sort(([a], [b]) => a - b);
}

test("each row of each queue has its own counts, whichever of them was there", async () => {
  const world = await newWorld();
  const now = Date.now();
  await add(world, { tiles: newJobs(now) });
  await add(world, { tiles: newJobs(now, now, now - MINUTE), maps: newJobs(now) });
  const minute = periodOf(now, "minute");
  expect(await rowsOf(world, "tiles", "minute")).toEqual([
    [minute - MINUTE, 1],
    [minute, 3],
  ]);
  expect(await rowsOf(world, "tiles", "ever")).toEqual([[0, 4]]);
  expect(await rowsOf(world, "maps", "minute")).toEqual([[minute, 1]]);
});

test("minutes that begin together delete old ones once: two for each, of each queue", async () => {
  const world = await newWorld();
  const now = Date.now();
  const oldest = periodOf(now - PERIODS_RETENTION_MS.minute, "minute") - 10 * MINUTE;
  await world.t.run(async ({ db }) => {
    for (const queue of ["tiles", "maps"]) {
      const minutes = newJobs(...Array.from({ length: 5 }, (_, i) => oldest + i * MINUTE));
      for (const row of minutes)
        if (row.per === "minute") await db.insert("periods", { queue, ...row });
    }
  });
  await add(world, { tiles: newJobs(now, now - MINUTE), maps: newJobs(now) });
  const old = async (queue: string) =>
    (await rowsOf(world, queue, "minute")).map(([at]) => at).filter((at) => at < now - MINUTE * 60);
  expect(await old("tiles")).toEqual([oldest + 4 * MINUTE]);
  expect(await old("maps")).toEqual([2, 3, 4].map((i) => oldest + i * MINUTE));
});

test("the first jobs of a day in three queues delete six old events", async () => {
  const world = await newWorld();
  const at = Date.now() - EVENTS_RETENTION_MS - 1;
  await world.t.run(async ({ db }) => {
    for (let i = 0; i < 10; i += 1) await db.insert("events", { kind: "old", at, message: "" });
  });
  const now = Date.now();
  await add(world, { a: newJobs(now), b: newJobs(now), c: newJobs(now) });
  expect(await world.all("events")).toHaveLength(4);
  await add(world, { a: newJobs(now) });
  expect(await world.all("events"), "and later jobs of that day none").toHaveLength(4);
});
