/** One load on one alternative, in a world of its own and in virtual time: how soon jobs ran, and the cost of that. */
import { makeFunctionReference } from "convex/server";
import type { StatsSnapshot } from "../local/stats/types.js";
import type { CostConstants } from "../local/virtual/costs.js";
import { createWorld, type World } from "../local/virtual/world.js";
import { ALTERNATIVES, type AlternativeName } from "./alternatives.js";
import { preload } from "./backlog.js";
import { breakLater } from "./faults.js";
import { msOf, type Case, type Window } from "./cases.js";
import type { Stretch } from "./figures/count.js";
import { arrivals, callAll, makeDeadPages, type Told } from "./load.js";
import { pull } from "./pull/side.js";
import { push } from "./push/side.js";
import type { Constants, Side, Workers } from "./sides.js";
import { callsOf, warmingsOf } from "./streams.js";
import { watchJobs, type Watched } from "./watch/jobs.js";
import { watchOccupancy, type Sample } from "./watch/occupancy.js";
import { WatchingStore } from "./watch/store.js";

export interface PlayOptions {
  seed?: number;
  /** Instead of the case's. */
  parallelism?: number;
  /** Of Conveyor's lanes. */
  constants?: Constants;
  /** Of the cost model. */
  costs?: Partial<CostConstants>;
  /** A job that has not ended so long after the last caller was answered counts as lost. Defaults to half an hour. */
  patienceMs?: number;
}

export interface Played {
  /** Jobs with an answered enqueue; of a backlog as many as were waited for. */
  jobs: number;
  watched: Watched;
  /** Until the last end was recorded: without later upkeep. */
  busy: StatsSnapshot;
  /** Until all was at rest again. */
  stats: StatsSnapshot;
  told: Told;
  /** Of the written bytes: payloads and results. */
  payloadBytes: number;
  /** Bytes written to keep ended jobs. */
  keptBytes: number;
  /** Jobs without a recorded end. */
  lost: number;
  workers: Pick<Workers, "errors" | "byName" | "begins">;
  occupancy: Sample[];
  windows: ({ window: Window } & Stretch)[];
  /** When the cancel of all was requested, and when it was answered. */
  canceled?: { askedAt: number; answeredAt: number };
  /** The answers of the app's own mutation. */
  bumped?: Told;
}

const SIDES: Record<"push" | "pull", Side> = { push, pull };
/**
 * So many functions may one mutation schedule: plain scheduling brings no more jobs by one, and so does no alternative.
 */
const SCHEDULED_AT_ONCE = 1_000;
/** The app's own mutation, which patches the counter. */
export const BUMP = "counter:bump";
const STEP_MS = 500;
/** Nothing is written for so long: all wait. */
const QUIET_MS = 5_000;
/** A system that is never quiet has settled by then: two minutes is longer than a lease, and than lanes linger. */
const SETTLING_MS = 120_000;
/** Longer than it takes until all is counted, and silent sessions no longer count as live. */
const FORGOTTEN_MS = 20 * 60_000;
/** More than a lease: a session that stops without a word has been noticed, and later upkeep has been done. */
const REST_MS = 90_000;
/** No end is recorded for so much longer than the longest job takes: none will be. */
const STILL_MS = 180_000;
const PATIENCE_MS = 1_800_000;

export async function play(
  name: AlternativeName,
  one: Case,
  options: PlayOptions = {},
): Promise<Played> {
  const { seed = 1, parallelism = one.parallelism, constants = {}, costs } = options;
  const { module, ...alternative } = ALTERNATIVES[name];
  const side = SIDES[alternative.side];
  const app = await side.bundle(constants, name, one);
  const store = new WatchingStore();
  const world = await createWorld({
    ...{ seed, class: one.class, store },
    runner: { contexts: "reused" },
    variables: side.variables(one, parallelism),
    ...(costs === undefined ? {} : { costs }),
  });
  try {
    await world.push(app);
    const workers = await prepare(world, store, side, name, one);
    const watched = watchJobs(world.backend.runner, store.recorded);
    workers?.watch(watched);
    store.recorded.clear();
    store.payloadBytes = 0;
    store.keptBytes = 0;
    world.stats.reset();
    const occupancy = watchOccupancy(world);
    const windows = watchWindows(world, one.windows ?? [], watched, store);
    const bumping = bump(world, one);
    const breaking = breakLater(world, one, workers);
    const told = await bringIn(world, side.entries(module, one), one);
    const canceling = cancelLater(world, module, one);
    const bumped = await world.run(bumping);
    await world.run(breaking);
    const jobs = one.backlog === undefined ? told.jobs : Math.min(told.jobs, countOf(one));
    await recordedAll(
      world,
      watched,
      jobs,
      one,
      options.patienceMs ?? one.patienceMs ?? PATIENCE_MS,
    );
    const busy = world.stats.snapshot();
    const samples = occupancy.stop();
    if (one.backlog === undefined) await world.advance(REST_MS);
    const canceled = await canceling;
    return {
      ...{ jobs, watched, busy, told, windows, occupancy: samples },
      stats: world.stats.snapshot(),
      payloadBytes: store.payloadBytes,
      keptBytes: store.keptBytes,
      lost: Math.max(0, jobs - watched.recorded.size),
      workers: workers ?? { errors: [], byName: new Map(), begins: [] },
      ...(canceled === undefined ? {} : { canceled }),
      ...(bumped === undefined ? {} : { bumped }),
    };
  } finally {
    await world.close();
  }
}

/** All that is made once is there, workers wait, a job has been done before it counts, and all has come to rest. */
async function prepare(
  world: World,
  store: WatchingStore,
  side: Side,
  name: AlternativeName,
  one: Case,
): Promise<Workers | undefined> {
  const { module } = ALTERNATIVES[name];
  if (one.reads !== undefined) await makeDeadPages(world);
  const workers = await side.start?.(world, name, one);
  store.first.clear();
  const { one: entry } = side.entries(module, one);
  const warmings = "streams" in one.load ? warmingsOf(one.load.streams) : [argsOf(one, -1, 0)];
  // One after the other: many at once would take longer than there is time to settle.
  for (const args of warmings) {
    await world.call(entry, { ...args });
    await settle(world);
  }
  // The upkeep after the first job has been done as well.
  if ("idleMs" in one.load) await world.advance(FORGOTTEN_MS);
  if (one.waitsMs !== undefined) await world.advance(one.waitsMs);
  if (one.backlog !== undefined) await preload(world, module, one, store);
  return workers;
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
  entries: { one: string; all: string },
  one: Case,
): Promise<Told & { jobs: number }> {
  const { load } = one;
  if ("idleMs" in load) {
    await world.advance(load.idleMs);
    return { errors: [], callerMs: [], jobs: 0 };
  }
  if ("inOne" in load) {
    const works = Array.from({ length: load.inOne }, (_, n) => workOf(one, n));
    const calls = Array.from({ length: Math.ceil(works.length / SCHEDULED_AT_ONCE) }, (_, i) => ({
      at: 0,
      args: { works: works.slice(i * SCHEDULED_AT_ONCE, (i + 1) * SCHEDULED_AT_ONCE) },
    }));
    const told = await callAll(world, entries.all, calls);
    return { ...told, jobs: told.errors.length > 0 ? 0 : load.inOne };
  }
  if ("streams" in load) {
    const calls = callsOf(world, load.streams);
    const told = await callAll(world, entries.one, calls);
    return { ...told, jobs: calls.reduce((all, { args }) => all + args.works.length, 0) };
  }
  if ("burst" in load) return await bringAloneAndBurst(world, entries, one, load);
  const calls = arrivals(world, load).map((at, n) => ({ at, args: argsOf(one, n) }));
  const told = await callAll(world, entries.one, calls);
  return { ...told, jobs: told.callerMs.length - told.errors.length };
}

async function bringAloneAndBurst(
  world: World,
  entries: { one: string; all: string },
  one: Case,
  { alone, everyMs, pauseMs, burst }: Extract<Case["load"], { burst: number }>,
): Promise<Told & { jobs: number }> {
  const singles = Array.from({ length: alone }, (_, n) => ({
    ...{ at: n * everyMs, args: argsOf(one, n) },
  }));
  const works = Array.from({ length: burst }, (_, i) => workOf(one, alone + i));
  const calls = [{ at: alone * everyMs + pauseMs, args: { works } }];
  const [first, last] = await Promise.all([
    callAll(world, entries.one, singles),
    callAll(world, entries.all, calls, "the caller of many"),
  ]);
  const errors = [...first.errors, ...last.errors];
  const callerMs = [...first.callerMs, ...last.callerMs];
  return { errors, callerMs, jobs: errors.length > 0 ? 0 : alone + burst };
}

/** How many a load brings. */
function countOf({ load }: Case): number {
  if ("inOne" in load) return load.inOne;
  if ("atOnce" in load) return load.atOnce;
  return "jobs" in load ? load.jobs : Infinity;
}

function workOf({ work }: Case, n: number, ms = msOf(work, n)) {
  return {
    ...{ n, ms },
    ...(work.payloadBytes === undefined ? {} : { pad: "x".repeat(work.payloadBytes) }),
    ...(work.failing === undefined ? {} : { failing: work.failing }),
  };
}

function argsOf(one: Case, n: number, ms?: number) {
  const isPush = one.of.some((name) => ALTERNATIVES[name].side === "push");
  const args = workOf(one, n, ms);
  if (!isPush) return args;
  return { ...args, reads: one.reads ?? 0, isUrgent: one.work.isUrgent?.(n) ?? false };
}

/** Or until no more will be. */
async function recordedAll(
  world: World,
  { recorded }: Watched,
  jobs: number,
  { work }: Case,
  patienceMs: number,
): Promise<void> {
  const stop = world.now() + patienceMs;
  const longestMs = Math.max(...Array.from({ length: 100 }, (_, n) => msOf(work, n)));
  let [size, since] = [recorded.size, world.now()];
  while (recorded.size < jobs) {
    if (world.now() >= Math.min(stop, since + longestMs + STILL_MS)) return;
    await world.advance(STEP_MS);
    if (recorded.size !== size) [size, since] = [recorded.size, world.now()];
  }
}

/** The cost of each stretch of time by itself. They follow one another. */
function watchWindows(
  world: World,
  windows: readonly Window[],
  watched: Watched,
  store: WatchingStore,
): Played["windows"] {
  const seen: Played["windows"] = [];
  const begin = world.now();
  const watch = async (): Promise<void> => {
    for (const window of windows) {
      await world.clock.sleep(begin + window.fromMs - world.now());
      world.stats.reset();
      const from = world.now();
      const { actionMs } = watched;
      const { payloadBytes, keptBytes } = store;
      await world.clock.sleep(begin + window.toMs - world.now());
      seen.push({
        ...{ window, stats: world.stats.snapshot(), from, to: world.now() },
        actionMs: watched.actionMs - actionMs,
        payloadBytes: store.payloadBytes - payloadBytes,
        keptBytes: store.keptBytes - keptBytes,
      });
    }
  };
  void watch();
  return seen;
}

/** The app patches the counter while jobs come. */
async function bump(world: World, { bumps }: Case): Promise<Told | undefined> {
  if (bumps === undefined) return undefined;
  const calls = arrivals(world, bumps).map((at) => ({ at, args: {} }));
  return await callAll(world, BUMP, calls, "the app");
}

async function cancelLater(
  world: World,
  module: string,
  { cancelAfterMs }: Case,
): Promise<Played["canceled"]> {
  if (cancelAfterMs === undefined) return undefined;
  await world.clock.sleep(cancelAfterMs);
  const askedAt = world.now();
  const client = world.httpClient("canceler");
  const cancelAll = makeFunctionReference<"mutation", Record<string, never>, { isDone: boolean }>(
    `${module}:cancelAll`,
  );
  while (!(await client.mutation(cancelAll, {}, { skipQueue: true })).isDone);
  return { askedAt, answeredAt: world.now() };
}
