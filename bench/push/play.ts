/** One load on one alternative, in a world of its own and in virtual time: how soon jobs ran, and what that cost. */
import type { StatsSnapshot } from "../../local/stats/types.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { arrivals, callAll, makeDeadPages, type Told } from "../load.js";
import type { Alternative, Scenario } from "./scenarios.js";
import { WatchingStore } from "./store.js";
import { benchApp, type Constants } from "./variant.js";
import { watchJobs, type Watched } from "./watch.js";

/** Of a caller's own read, so that it takes about 5 ms: 4 round trips, at 8 dead entries each. */
const DEAD_PAGES = 28;
/** Until all that was called for jobs has ended, and what is told of them behind. */
const REST_MS = 30_000;
const STEP_MS = 1_000;
/** Longer than any load here takes to be worked off. */
const PATIENCE_MS = 600_000;

export interface Played {
  jobs: number;
  watched: Watched;
  stats: StatsSnapshot;
  told: Told;
  /** Of what was written: payloads and results. */
  payloadBytes: number;
}

export async function play(
  alternative: Alternative,
  scenario: Scenario,
  options: { seed?: number; parallelism?: number; constants?: Constants } = {},
): Promise<Played> {
  const { seed = 1, parallelism = scenario.parallelism, constants = {} } = options;
  const app = await benchApp(constants);
  const store = new WatchingStore();
  const world = await createWorld({
    seed,
    class: scenario.class,
    runner: { contexts: "reused" },
    variables: { PARALLELISM: String(parallelism) },
    store,
  });
  try {
    await world.push(app);
    await prepare(world, alternative, scenario);
    const watched = watchJobs(world.backend.runner, store.recorded);
    world.stats.reset();
    store.payloadBytes = 0;
    const told = await bringIn(world, alternative, scenario);
    const { load } = scenario;
    const jobs = "inOne" in load ? load.inOne : told.callerMs.length - told.errors.length;
    const deadline = world.now() + PATIENCE_MS;
    while (watched.ended.size < jobs) {
      if (world.now() > deadline)
        throw new Error(`${watched.ended.size} of ${jobs} jobs have ended.`);
      await world.advance(STEP_MS);
    }
    await world.advance(REST_MS);
    const { payloadBytes } = store;
    return { jobs, watched, stats: world.stats.snapshot(), told, payloadBytes };
  } finally {
    await world.close();
  }
}

/** One job before it counts: rows that are made once are there, and all has come to rest. */
async function prepare(world: World, alternative: Alternative, { kind }: Scenario): Promise<void> {
  await makeDeadPages(world, DEAD_PAGES);
  await world.call(`${alternative}:${kind}`, { n: -1, ms: 0, reads: 0 });
  await world.advance(2 * 60_000);
}

async function bringIn(
  world: World,
  alternative: Alternative,
  { kind, load, workMs, reads = 0 }: Scenario,
): Promise<Told> {
  const one = `${alternative}:${kind}`;
  if ("inOne" in load) {
    const works = Array.from({ length: load.inOne }, (_, n) => ({ n, ms: workMs }));
    return await callAll(world, `${one}All`, [{ at: 0, args: { works } }]);
  }
  const calls = arrivals(world, load).map((at, n) => ({ at, args: { n, ms: workMs, reads } }));
  return await callAll(world, one, calls);
}
