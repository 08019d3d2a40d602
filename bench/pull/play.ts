/**
 * One load on one way to pull, in a world of its own and in virtual time: programs outside of Convex, each with a client of
 * its own, work off what comes.
 */
import path from "node:path";
import { linkPackage } from "../../harness/link.js";
import { root } from "../../harness/paths.js";
import type { DeploymentClass } from "../../local/functions/classes.js";
import type { StatsSnapshot } from "../../local/stats/types.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import type { CostConstants } from "../../local/virtual/costs.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { arrivals, callAll, type Arrivals, type Told } from "../load.js";
import { watchJobs, type Watched } from "../push/watch.js";
import { WatchingStore } from "./store.js";

/** By the module of the app, and the program that works for it. */
export const ALTERNATIVES = {
  conveyor: "conveyor",
  farm: "llama farm",
  ring: "circular queue",
} as const;
export type Alternative = keyof typeof ALTERNATIVES;

export interface Pulled {
  class: DeploymentClass;
  /** Programs. */
  workers: number;
  /** How many jobs each of them does at once. */
  concurrency: number;
  /** How jobs come: all by one mutation, or by a mutation each. */
  load: { inOne: number } | Arrivals;
  workMs: number;
  seed?: number;
  /** Of the cost model. */
  constants?: Partial<CostConstants>;
  /** Of Conveyor's queue, where it is not to be the default. */
  shards?: number;
  /** What has not ended so long after the last caller was answered counts as lost. Defaults to half an hour. */
  patienceMs?: number;
}

export interface Played {
  /** That callers were told to be there. */
  jobs: number;
  watched: Watched;
  /** Until all was at rest again. */
  stats: StatsSnapshot;
  /** Until the last end was recorded: without what comes behind. */
  busy: StatsSnapshot;
  told: Told;
  /** Of what was written: payloads and results. */
  payloadBytes: number;
  /** Jobs whose end was never recorded. */
  lost: number;
  /** What programs were told instead of an answer: `claim: …`. */
  workerErrors: string[];
  /** How many jobs each program began. */
  byWorker: Map<string, number>;
}

const PULL = path.join(root, "bench/pull");
const SECRET = "a secret";
/** Programs start one after the other, so that what is measured is not their arrival. */
const START_GAP_MS = 5;
const STEP_MS = 500;
/** Nothing is written for so long: all wait. */
const QUIET_MS = 5_000;
/** Whoever is never quiet has had time to come to its ways. */
const SETTLING_MS = 60_000;
/** More than a lease: whoever stops without a word has been noticed, and what is told behind has been told. */
const REST_MS = 90_000;
/** No end is recorded for so much longer than a job takes: none will be. */
const STILL_MS = 180_000;
const PATIENCE_MS = 1_800_000;

export async function play(alternative: Alternative, pulled: Pulled): Promise<Played> {
  const { class: of, seed = 1, constants, shards, load } = pulled;
  linkPackage(PULL);
  const app = await bundleApp(path.join(PULL, "app"), { inputs: [path.join(root, "dist")] });
  const store = new WatchingStore();
  const world = await createWorld({
    ...{ seed, class: of, store },
    runner: { contexts: "reused" },
    variables: {
      WORKER_SECRET: SECRET,
      ...(shards === undefined ? {} : { SHARDS: String(shards) }),
    },
    ...(constants === undefined ? {} : { costs: constants }),
  });
  try {
    await world.push(app);
    const fleet = await startFleet(world, alternative, pulled);
    // One job before it counts: rows that are made once are there.
    await world.call(`${alternative}:enqueue`, { n: 0, ms: 0 });
    await settle(world);
    const watched = watchJobs(world.backend.runner, store.recorded);
    fleet.watch(watched);
    store.recorded.clear();
    store.payloadBytes = 0;
    world.stats.reset();
    const told = await bringIn(world, alternative, pulled);
    const jobs = "inOne" in load ? load.inOne : told.callerMs.length - told.errors.length;
    await recordedAll(world, watched, jobs, pulled);
    const busy = world.stats.snapshot();
    await world.advance(REST_MS);
    const { payloadBytes } = store;
    return {
      ...{ jobs, watched, busy, told, payloadBytes },
      stats: world.stats.snapshot(),
      lost: jobs - watched.recorded.size,
      ...{ workerErrors: fleet.errors, byWorker: fleet.byWorker },
    };
  } finally {
    await world.close();
  }
}

interface Fleet {
  errors: string[];
  byWorker: Map<string, number>;
  /** From now on, what its programs print counts. */
  watch: (watched: Watched) => void;
}

async function startFleet(
  world: World,
  alternative: Alternative,
  { workers, concurrency }: Pulled,
): Promise<Fleet> {
  const names = Array.from({ length: workers }, (_, n) => `worker ${n}`);
  const key = await admit(world, alternative, names);
  let into: Watched | null = null;
  const fleet: Fleet = {
    ...{ errors: [], byWorker: new Map() },
    watch: (watched) => (into = watched),
  };
  const read = (name: string, line: string): void => {
    if (into === null) return;
    const [, what, said] = /^(began|ended|error) (.*)/.exec(line) ?? ["", "error", line];
    const n = Number(said);
    if (what === "began") {
      if (into.began.has(n)) into.again += 1;
      into.began.set(n, world.now());
      fleet.byWorker.set(name, (fleet.byWorker.get(name) ?? 0) + 1);
    } else if (what === "ended") into.ended.set(n, world.now());
    else fleet.errors.push(said);
  };
  for (const name of names) {
    await world.program(path.join(PULL, `workers/${alternative}.ts`), {
      name,
      env: {
        CONVEX_URL: world.url,
        WORKER_NAME: name,
        WORKER_KEY: key,
        WORKER_CONCURRENCY: String(concurrency),
      },
      onLine: (line) => read(name, line),
    });
    await world.advance(START_GAP_MS);
  }
  await settle(world);
  return fleet;
}

/** What a worker shows to be one. */
async function admit(world: World, alternative: Alternative, names: string[]): Promise<string> {
  if (alternative === "farm") await world.call("farm:admit", { apiKeys: names });
  if (alternative !== "conveyor") return SECRET;
  const { token } = await world.call("conveyor:create", { name: "fleet", queues: null });
  return token as string;
}

/** Until all wait for work. */
async function settle(world: World): Promise<void> {
  const stop = world.now() + SETTLING_MS;
  let [written, since] = [-1, world.now()];
  while (world.now() < stop && world.now() - since < QUIET_MS) {
    await world.advance(STEP_MS);
    const { documentsWritten } = world.stats.snapshot().total.io;
    if (documentsWritten !== written) [written, since] = [documentsWritten, world.now()];
  }
}

async function bringIn(
  world: World,
  alternative: Alternative,
  { load, workMs }: Pulled,
): Promise<Told> {
  if ("inOne" in load) {
    const works = Array.from({ length: load.inOne }, (_, n) => ({ n, ms: workMs }));
    return await callAll(world, `${alternative}:enqueueAll`, [{ at: 0, args: { works } }]);
  }
  const calls = arrivals(world, load).map((at, n) => ({ at, args: { n, ms: workMs } }));
  return await callAll(world, `${alternative}:enqueue`, calls);
}

/** Or until no more will be. */
async function recordedAll(
  world: World,
  { recorded }: Watched,
  jobs: number,
  { workMs, patienceMs = PATIENCE_MS }: Pulled,
): Promise<void> {
  const stop = world.now() + patienceMs;
  let [size, since] = [recorded.size, world.now()];
  while (recorded.size < jobs) {
    if (world.now() >= Math.min(stop, since + workMs + STILL_MS)) return;
    await world.advance(STEP_MS);
    if (recorded.size !== size) [size, since] = [recorded.size, world.now()];
  }
}
