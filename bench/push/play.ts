/** One load on one alternative, in a world of its own and in virtual time: how soon jobs ran, and what that cost. */
import path from "node:path";
import { makeFunctionReference } from "convex/server";
import { linkPackage } from "../../harness/link.js";
import { root } from "../../harness/paths.js";
import type { StatsSnapshot } from "../../local/stats/types.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import type { Alternative, Load, Scenario } from "./scenarios.js";
import { watchJobs, type Watched } from "./watch.js";

const APP = path.join(root, "bench/push/app");
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
  /** What callers were told. */
  errors: string[];
  callerMs: number[];
}

export async function play(
  alternative: Alternative,
  scenario: Scenario,
  options: { seed?: number; parallelism?: number } = {},
): Promise<Played> {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  const { seed = 1, parallelism = scenario.parallelism } = options;
  const world = await createWorld({
    seed,
    class: scenario.class,
    runner: { contexts: "reused" },
    variables: { PARALLELISM: String(parallelism) },
  });
  try {
    await world.push(app);
    await prepare(world, alternative, scenario);
    const watched = watchJobs(world.backend.runner);
    world.stats.reset();
    const { errors, callerMs } = await callAll(world, alternative, scenario);
    const { load } = scenario;
    const jobs = "inOne" in load ? load.inOne : callerMs.length - errors.length;
    const deadline = world.now() + PATIENCE_MS;
    while (watched.ended.size < jobs) {
      if (world.now() > deadline)
        throw new Error(`${watched.ended.size} of ${jobs} jobs have ended.`);
      await world.advance(STEP_MS);
    }
    await world.advance(REST_MS);
    return { jobs, watched, stats: world.stats.snapshot(), errors, callerMs };
  } finally {
    await world.close();
  }
}

/** One job before it counts: rows that are made once are there, and all has come to rest. */
async function prepare(world: World, alternative: Alternative, { kind }: Scenario): Promise<void> {
  await world.call("own:writePages", { pages: DEAD_PAGES });
  await world.call("own:deletePages");
  await world.call(`${alternative}:${kind}`, { n: -1, ms: 0, reads: 0 });
  await world.advance(2 * 60_000);
}

async function callAll(
  world: World,
  alternative: Alternative,
  { kind, load, workMs, reads = 0 }: Scenario,
): Promise<{ errors: string[]; callerMs: number[] }> {
  const client = world.httpClient("callers");
  const callerMs: number[] = [];
  const errors: string[] = [];
  const call = async (afterMs: number, name: string, args: object): Promise<void> => {
    await world.clock.sleep(afterMs);
    const from = world.now();
    try {
      await client.mutation(makeFunctionReference<"mutation">(name), args, { skipQueue: true });
    } catch (error) {
      errors.push(String(error));
    }
    callerMs.push(world.now() - from);
  };
  const one = `${alternative}:${kind}`;
  const calls =
    "inOne" in load
      ? [
          call(0, `${one}All`, {
            works: Array.from({ length: load.inOne }, (_, n) => ({ n, ms: workMs })),
          }),
        ]
      : arrivals(world, load).map((at, n) => call(at, one, { n, ms: workMs, reads }));
  await world.run(Promise.all(calls));
  return { errors, callerMs };
}

/** When each caller comes, from now. */
function arrivals({ random }: World, load: Exclude<Load, { inOne: number }>): number[] {
  if ("atOnce" in load) return Array.from({ length: load.atOnce }, () => 0);
  if ("everyMs" in load) return Array.from({ length: load.jobs }, (_, n) => n * load.everyMs);
  const times: number[] = [];
  for (let at = 0; ; times.push(at)) {
    at += (-Math.log(1 - random.next()) * 1_000) / load.perSecond;
    if (at > load.seconds * 1_000) return times;
  }
}
