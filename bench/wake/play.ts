/** One load in one way, in virtual time: conflicts, waits of callers and jobs, cost. */
import path from "node:path";
import { root } from "../../tests/support/paths.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { arrivals, callAll, makeDeadPages, type Arrivals } from "../load.js";
import { WAYS, type Own, type Way } from "./scenarios.js";

const APP = path.join(root, "bench/wake/app");
const OWN_WORK = path.join(root, "bench/ownWork.ts");
/**
 * Rows up to which the batches of a read grow. The platform's 8 would make scans dearer from job to job: the product
 * skips dead entries with cursors, which this app has not. With 256 they grow by a round trip each time that the dead
 * double.
 */
const LARGEST_GROWN_BATCH = 256;
/** Longer than any load here takes to be drained. */
const PATIENCE_MS = 180_000;
const STEP_MS = 500;

export interface Scenario {
  way: Way;
  load: Arrivals;
  own: Own;
  /** How many jobs each lane runs at once. */
  caps: number[];
}

export interface Played {
  callers: number;
  /** How often a caller's mutation ran in vain, by the winner of the conflict. */
  conflicts: { callers: number; wakes: number; turns: number };
  /** Callers that got an error: after five conflicts, */
  gaveUp: number;
  /** or without a permit for 5 s. */
  refused: number;
  /** From call to answer, the network included. */
  callerMs: number[];
  /** From the enqueue's commit to the handler's first line. */
  startMs: number[];
  jobs: number;
  /** Billed. */
  calls: { wakes: number; lanes: number; handlers: number; turns: number };
  /** Attempts of wakes and turns that lost to another commit. */
  behind: number;
}

export async function play({ way, load, own, caps }: Scenario): Promise<Played> {
  const world = await startWorld();
  try {
    await prepare(world, caps);
    const args = { reads: own.reads, lanes: caps.length };
    const calls = arrivals(world, load).map((at) => ({ at, args }));
    const { callerMs, errors } = await callAll(world, WAYS[way], calls);
    const startMs = await comeToRest(world, callerMs.length - errors.length);
    const { functions, conflicts: pairs } = world.stats.snapshot();
    const billed = (name: string) => functions[name]?.billed ?? 0;
    const lost = (name: string) => functions[name]?.conflicts ?? 0;
    const lostTo = (name: string) =>
      pairs
        .filter(({ loser, winner }) => loser === WAYS[way] && winner === name)
        .reduce((sum, { count }) => sum + count, 0);
    const refused = errors.filter((error) => error.includes("TooManyConcurrentRequests")).length;
    return {
      callers: callerMs.length,
      conflicts: {
        callers: lostTo(WAYS[way]),
        wakes: lostTo("wake:run"),
        turns: lostTo("turn:run"),
      },
      gaveUp: errors.length - refused,
      refused,
      callerMs,
      startMs,
      jobs: startMs.length,
      calls: {
        wakes: billed("wake:run"),
        lanes: billed("lane:run"),
        handlers: billed("lane:handle"),
        turns: billed("turn:run"),
      },
      behind: lost("wake:run") + lost("turn:run"),
    };
  } finally {
    await world.close();
  }
}

/** How long the callers' own work takes on average, alone. */
export async function ownMs(own: Own, calls: number): Promise<number> {
  const world = await startWorld();
  try {
    await prepare(world, []);
    let spent = 0;
    for (const reads of [0, own.reads]) {
      const from = world.now();
      for (let i = 0; i < calls; i++) await world.call("own:alone", { reads });
      spent = world.now() - from - spent;
    }
    return spent / calls;
  } finally {
    await world.close();
  }
}

async function startWorld(): Promise<World> {
  const world = await createWorld({
    seed: 1,
    class: "s16",
    runner: { contexts: "reused" },
    costs: { largestGrownBatch: LARGEST_GROWN_BATCH },
  });
  await world.push(await bundleApp(APP, { inputs: [OWN_WORK] }));
  return world;
}

async function prepare(world: World, caps: number[]): Promise<void> {
  await world.call("setup:queue", { caps });
  await makeDeadPages(world);
  world.stats.reset();
}

/** Until all is done and all sleep: each handshake exists for that. Returns the waits of the jobs. */
async function comeToRest(world: World, made: number): Promise<number[]> {
  const deadline = world.now() + PATIENCE_MS;
  let rest = await world.call("setup:rest");
  while (rest.pending || rest.awake > 0 || rest.gate !== "quiet") {
    if (world.now() > deadline)
      throw new Error(`It does not come to rest: ${JSON.stringify(rest)}`);
    await world.advance(STEP_MS);
    rest = await world.call("setup:rest");
  }
  const { done, waitsMs } = await world.call("setup:result");
  if (done !== made) throw new Error(`${made} jobs were enqueued, ${done} are done.`);
  return waitsMs;
}
