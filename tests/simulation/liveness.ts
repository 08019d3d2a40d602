/** After the faults: everything must come to an end within a bound, and then nothing may happen any more. */
import { isFinished, RANKED_SESSIONS_MAX, type Status } from "../../src/shared/index.js";
import { lostSchedules } from "./faults/lostSchedules.js";
import { CIRCULAR, isOf, usedQueues, type WorkerSpec } from "./plan.js";
import type { Row } from "./observed.js";
import type { Simulation } from "./simulation.js";
import { why } from "./why.js";
import { DEPLOYED, ROWS } from "./app/names.js";
import { hasCrew, SHORT_MS } from "./workloads/onCall.js";
import { hasRows, openRows } from "./workloads/rows.js";
import { CLUBS, hasScope } from "./workloads/scope.js";
import { SECOND } from "./workloads/secondMount.js";

/** More than the longest chain of waits: a lease, resets, retries with their waits, the detection of a lost timer. */
const BOUND_MS = 30 * 60_000;
/** How much longer where all jobs of a large world stand in one queue that runs one at a time. */
const BOUND_OF_A_JOB_MS = 30_000;
/** Longer than it takes until a lane that died, or a lost timer, is noticed. */
const CALM_MS = 90_000;
const IDLE_MS = 600_000;
/** Longer than the longest job runs: see `workloads/crowd.ts`. */
const LONGEST_MS = 200_000;
/** More than the five attempts of a mutation take, with the waits between them. */
const LATE_MS = 20_000;
/** Above the numbers of all workloads. */
const LAST_N = 900_000;
const DAY_MS = 24 * 60 * 60_000;
/** More than failed jobs are kept by default, which is longest. */
const RETENTION_DAYS = 9;
/** The fewest workers alike of which some stand by. */
const FLEET_MIN = RANKED_SESSIONS_MAX + 1;
/** How often it is looked whether all has ended: soon at first, since items of a ring go on until then. */
const FIRST_STEP_MS = 500;
const LAST_STEP_MS = 10_000;
/** Jobs are counted and purged, seldom, and sessions forgotten: not because anything runs. */
const UPKEEP = /^((conveyor|second)\/)?count\/(rollUp|arrivals|purge)\b/;

export async function comeToRest(simulation: Simulation): Promise<void> {
  if (simulation.violations.length > 0) return;
  await heal(simulation);
  await untilAllEnded(simulation);
  if (simulation.violations.length > 0) return;
  await stopWorkers(simulation);
  await watch(simulation);
  await untilAllTold(simulation);
  await simulation.goTo(simulation.now() + CALM_MS);
  await stayIdle(simulation);
  await untilAllCounted(simulation);
}

/** Overrides left by operators are reset, and stopped programs start again. */
async function heal(simulation: Simulation): Promise<void> {
  const { plan, world } = simulation;
  for (const link of world.network.links) link.mend();
  const deployed = plan.parts.includes("deploys") ? [DEPLOYED] : [];
  const queues = [...usedQueues(plan), ...Object.keys(plan.crowd), ...deployed];
  const paused = simulation.tables
    .all("jobs")
    .filter(({ paused }) => paused === true)
    .map(({ _id: id, queue }) => ({ id, queue: queue as string }));
  const quiet = simulation.tables
    .all("sessions")
    .filter(({ isQuiet }) => isQuiet === true)
    .map(({ _id }) => _id);
  await call(simulation, "calls:heal", {
    ...{ queues, paused },
    ...(hasScope(plan) && { groups: CLUBS }),
    ...(quiet.length > 0 && { quiet }),
  });
  for (const spec of plan.workers) {
    const program = simulation.programs.get(spec.name);
    if (program?.state === "paused") program.resume();
    if (program === undefined || program.state === "ended") await simulation.startWorker(spec);
    else program.skewMs = 0;
  }
}

const boundMs = ({ plan }: Simulation): number => BOUND_MS + (plan.jobs ?? 0) * BOUND_OF_A_JOB_MS;

async function untilAllEnded(simulation: Simulation): Promise<void> {
  const { tables } = simulation;
  const open = () =>
    [...tables.all("jobs"), ...tables.all("jobs", SECOND)].filter(
      ({ status }) => !isFinished(status as Status),
    );
  const isOver = () => open().length === 0 && openRows(simulation).length === 0;
  const begunAt = simulation.now();
  const rounds = new Map(open().map(({ _id, rounds }) => [_id, (rounds ?? 0) as number]));
  let isWatched = false;
  let step = FIRST_STEP_MS;
  while (simulation.violations.length === 0) {
    if (isOver()) {
      // A refused request may still arrive a second time.
      await simulation.goTo(simulation.now() + LATE_MS);
      if (isOver()) break;
    }
    const waited = simulation.now() - begunAt;
    if (waited > boundMs(simulation)) break;
    if (!isWatched && waited > CALM_MS) {
      isWatched = true;
      await watch(simulation);
    }
    await simulation.goTo(simulation.now() + step);
    step = Math.min(step * 2, LAST_STEP_MS);
    for (const { _id: id, queue, rounds: come = 0 } of open()) {
      // Items of a ring never end: each must have come round once more, and is then taken out.
      if (!isOf(CIRCULAR, queue) || come === (rounds.get(id) ?? 0)) continue;
      simulation.ask("cancel", { queue, id });
    }
  }
  for (const job of open()) simulation.broken(why(simulation, job));
  for (const row of openRows(simulation)) simulation.broken(`${row}, has no end`);
}

/** A job with an owed callback: a plan that was lost is noticed a minute later. */
async function untilAllTold(simulation: Simulation): Promise<void> {
  const owed = () => simulation.tables.all("callbacks").filter(({ state }) => state === "owed");
  const bound = simulation.now() + boundMs(simulation);
  while (owed().length > 0 && simulation.violations.length === 0 && simulation.now() < bound) {
    await simulation.goTo(simulation.now() + LAST_STEP_MS);
  }
  for (const { job } of owed()) {
    simulation.broken(`the callback of ${simulation.nameOf(job as string)} never ran`);
  }
}

/**
 * An app's own cron calls `watch` for queues without traffic, of which scheduled functions have been canceled. Without such
 * cancels the cron stays off: it would hide a lost wake.
 */
async function watch(simulation: Simulation): Promise<void> {
  if (!simulation.plan.parts.includes(lostSchedules.name)) return;
  // A timer that was just lost is not overdue yet.
  await simulation.goTo(simulation.now() + CALM_MS);
  await call(simulation, "calls:watch");
}

/** Once no fault is left, every call must succeed. */
async function call(simulation: Simulation, what: string, args: object = {}): Promise<void> {
  try {
    await simulation.world.call(what, args);
  } catch (error) {
    simulation.broken(`${what} failed: ${String(error)}`);
  }
}

/** They end as programs do on SIGTERM; their unfinished jobs have no session any more. */
async function stopWorkers(simulation: Simulation): Promise<void> {
  for (const [name, program] of simulation.programs) {
    program.signal("SIGTERM");
    simulation.stood(name, false);
  }
  await simulation.goTo(simulation.now() + 5_000);
}

async function stayIdle(simulation: Simulation): Promise<void> {
  const { world, plan } = simulation;
  // A handler of a lost process goes on to its own end.
  if (Object.keys(plan.crowd).length > 0) await simulation.goTo(simulation.now() + LONGEST_MS);
  world.stats.reset();
  await simulation.goTo(simulation.now() + IDLE_MS);
  const called = Object.keys(world.stats.snapshot().functions);
  const idle = called.filter((name) => !UPKEEP.test(name));
  if (idle.length > 0) simulation.broken(`an idle queue calls ${idle.join(", ")}`);
}

/** A queue's last jobs are counted minutes later: no program waits for that. An alarm that was lost is overdue only then. */
async function untilAllCounted(simulation: Simulation): Promise<void> {
  const counting = () =>
    simulation.tables.all("timers").filter(({ kind }) => kind === "rollUp" || kind === "arrivals");
  const bound = simulation.now() + boundMs(simulation);
  while (counting().length > 0 && simulation.violations.length === 0 && simulation.now() < bound) {
    await watch(simulation);
    await simulation.goTo(simulation.now() + CALM_MS);
  }
  for (const { kind } of counting()) simulation.broken(`the alarm of ${kind} does not go`);
}

/**
 * Until all that is kept for a while is gone: a purge that was lost is noticed by a watch. Sessions and lanes are forgotten by
 * the first sweep that comes a day after their last call, and a sweep comes with work: so there is a job more.
 */
export async function outlastRetention(simulation: Simulation): Promise<void> {
  if (simulation.violations.length > 0) return;
  await simulation.goTo(simulation.now() + DAY_MS);
  await workOnceMore(simulation);
  for (let day = 0; day < RETENTION_DAYS && simulation.violations.length === 0; day += 1) {
    await simulation.goTo(simulation.now() + DAY_MS);
    await watch(simulation);
  }
}

/** Their workers' sessions are forgotten by a sweep that follows. */
async function workOnRowsOnceMore(simulation: Simulation): Promise<void> {
  for (const spec of simulation.plan.workers) {
    if (spec.api === "rows") await simulation.startWorker(spec);
  }
  for (const [i, table] of ROWS.entries()) {
    const row = { n: LAST_N + 1 + i, turns: [{ ms: 0, end: "returns" }] };
    simulation.ask("insertRows", { table, rows: [row] });
  }
  await simulation.goTo(simulation.now() + CALM_MS);
  for (const row of openRows(simulation)) simulation.broken(`${row}, has no end`);
}

/** Of short worlds, which cost least: another fleet. Its first call-up takes old ones with it. */
async function workOnCallOnceMore(simulation: Simulation): Promise<void> {
  const { workers } = simulation.plan;
  const [{ queues }] = workers as [WorkerSpec];
  for (const spec of workers.slice(0, FLEET_MIN))
    await simulation.startWorker({ ...spec, labels: ["late"] });
  await simulation.goTo(simulation.now() + LAST_STEP_MS);
  const jobs = Array.from({ length: 2 * FLEET_MIN }, (_, i) => ({
    payload: { n: LAST_N + 1 + i, turns: [{ ms: FIRST_STEP_MS, end: "returns" }] },
    options: {},
  }));
  simulation.ask("enqueueBatch", { queue: queues[0]!, jobs });
  await simulation.goTo(simulation.now() + CALM_MS);
  await stopWorkers(simulation);
}

async function workOnceMore(simulation: Simulation): Promise<void> {
  const { plan } = simulation;
  const worker = plan.workers.find(({ api }) => api === undefined);
  if (hasRows(plan)) await workOnRowsOnceMore(simulation);
  if (hasCrew(plan) && plan.faultsMs === SHORT_MS) await workOnCallOnceMore(simulation);
  const queue = worker?.queues[0] ?? usedQueues(plan)[0]!;
  if (worker !== undefined) await simulation.startWorker(worker);
  const payload = { n: LAST_N, turns: [{ ms: 0, end: "returns" }] };
  simulation.ask("enqueue", { queue, jobs: [{ payload, options: {} }] });
  await simulation.goTo(simulation.now() + CALM_MS);
  const isOpen = ({ status }: Row) => !isFinished(status as Status);
  for (const job of simulation.tables.all("jobs").filter(isOpen)) {
    if (isOf(CIRCULAR, queue)) simulation.ask("cancel", { queue, id: job._id });
    else simulation.broken(why(simulation, job));
  }
  await stopWorkers(simulation);
}
