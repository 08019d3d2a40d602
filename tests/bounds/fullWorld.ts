/**
 * The component at its documented limits, all of them at once: 1,000 queues, of which 64 are push queues and have all priorities and as many
 * shards as go with them; jobs with rows as large as they may be, in all places of some queues and thousands in one; the lanes, processes and
 * places of the largest class; thousands of sessions, callbacks, alarms, events, periods; a job with all attempts, log entries
 * and output that are kept.
 */
import {
  OUTPUT_PART_MAX_BYTES,
  ERROR_MAX_BYTES,
  TRACE_MAX_BYTES,
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  LOGS_MAX,
  NAME_MAX_LENGTH,
  ORDER_PAUSED,
  OUTPUT_MAX_BYTES,
  PAYLOAD_MAX_BYTES,
  pendingOrder,
  placeOf,
  PROGRESS_MAX_BYTES,
  PUBLISHED_BOUNDS_MAX,
  QUEUES_MAX,
  routeKey,
  ROUTES_BACK_MAX,
  STATUS_BATCH_MAX_BYTES,
} from "../../src/shared/index.js";
import {
  begunJob,
  declarationOf,
  heavyJob,
  HOUR,
  labelsOf,
  many,
  MINUTE,
  PUSH_QUEUES,
  QUEUES,
  queueName,
  SHARDS_WIDE,
  text,
  waitingJob,
} from "./fullShapes.js";
import {
  plantArrivals,
  plantCallbacks,
  plantOldEnds,
  plantPeriods,
  plantServed,
  plantTimers,
} from "./fullUpkeep.js";
import { plantLanes, plantLarge, plantSessions } from "./fullWorkers.js";
import type { LargeWorld } from "./largeWorld.js";
import { PRIORITIES } from "./largeWorld.js";

/** Queues in every place of which a job waits. */
const FILLED = 1;

export interface FullWorld {
  world: LargeWorld;
  /** Of the session that holds as many jobs as it may. */
  full: { sessionKey: string; leases: { id: string; attempt: number }[]; session: string };
  /** Of a lane that does. */
  lane: { lane: string; session: string; leases: { id: string; attempt: number }[] };
  /** The same of a queue with a mutation as its handler, and of a circular one, with payloads and results as large. */
  mutations: { lane: string; leases: { id: string; attempt: number }[] };
  ring: { sessionKey: string; leases: { id: string; attempt: number }[] };
  process: string;
  /** A job with all that may hang on it, finished; and one that waits, and one that is due. */
  long: string;
  /** Its result, and jobs with results as large as those of one `statusBatch` may be together. */
  result: object;
  results: string[];
  pending: string;
  scheduled: string;
  owed: string;
  token: string;
  tokenId: string;
  secondToken: string;
  timers: Record<string, string>;
}

export async function plantAll(world: LargeWorld): Promise<FullWorld> {
  await plantQueues(world);
  await plantArrivals(world);
  const [token] = world.line.rows("tokens");
  const tokens = await world.plant(
    "tokens",
    many(999, (n) => ({
      ...{ name: text(NAME_MAX_LENGTH), hash: `hash${n}`, createdAt: world.transactions.now },
      queues: many(QUEUES_MAX, queueName),
    })),
  );
  const waiting = await plantWaiting(world);
  await plantTimes(world);
  const { long, ...stored } = await plantLong(world);
  const full = await plantSessions(world, token!._id);
  const lanes = await plantLanes(world);
  const large = await plantLarge(world, token!._id);
  await plantPeriods(world);
  const timers = await plantTimers(world);
  timers["purgeOld"] = await plantOldEnds(world, queueName(QUEUES - 1));
  await plantServed(world);
  const owed = await plantCallbacks(world, long);
  return {
    ...{
      world,
      full,
      ...lanes,
      ...large,
      long,
      owed,
      timers,
      token: world.line.token,
      tokenId: token!._id,
    },
    ...{ ...waiting, ...stored, secondToken: tokens[0]! },
  };
}

async function plantQueues(world: LargeWorld): Promise<void> {
  const configuredAt = world.transactions.now - HOUR;
  const declared = many(QUEUES, declarationOf);
  await world.plant(
    "queues",
    declared.map(({ name, config }) => ({
      ...{ name, config, configuredAt, shardsEver: config.shards, epoch: 0 },
    })),
  );
  for (let n = 0; n < PUSH_QUEUES + QUEUES_MAX; n += 1) await plantRoutes(world, n);
  await world.plant(
    "gates",
    many(PUSH_QUEUES, (n) => ({ queue: queueName(n), state: "quiet" })),
  );
  await world.plant(
    "doors",
    many(PUSH_QUEUES, (n) => ({ queue: queueName(n), open: false })),
  );
}

/** Routes and priorities of a queue with so many shards; one more would be too many places. */
const ROUTES = 12;
const prioritiesOf = (route: number) => (route === 0 ? PRIORITIES : [0]);
/** Of every other queue: few shards, and as many routes as returned jobs may need. */
const ROUTES_ODD = ROUTES_BACK_MAX - 1;
const prioritiesOfOdd = () => [0];

async function plantRoutes(world: LargeWorld, n: number): Promise<void> {
  const queue = queueName(n);
  const isOdd = n % 2 === 1;
  const rows = many(isOdd ? ROUTES_ODD : ROUTES, (number) => {
    const labels = number === 0 ? [] : labelsOf(number);
    return {
      ...{ queue, key: routeKey({ labels }), labels, costClass: 0, number },
      priorities: isOdd ? prioritiesOfOdd() : prioritiesOf(number),
    };
  });
  await world.plant("routes", rows);
  const key = { seq: world.seqOf(MINUTE), creationTime: 1.5 };
  const bounds = many(PUBLISHED_BOUNDS_MAX, (shard) => ({ order: 21, shard, ...key }));
  await world.plant("cursors", [
    { queue, epoch: 0, publishedAt: world.transactions.now, bounds, floor: key },
  ]);
}

async function plantWaiting(world: LargeWorld) {
  for (let n = 0; n < FILLED; n += 1) {
    const rows = many(ROUTES, (route) =>
      prioritiesOf(route).flatMap((priority) =>
        [true, false].flatMap((back) =>
          many(SHARDS_WIDE, (shard) =>
            waitingJob(world, n, pendingOrder(back, priority), placeOf(route, shard), 2 * HOUR),
          ),
        ),
      ),
    );
    for (const some of rows) await world.plant("jobs", some);
  }
  // In the other push queues one in each of some places.
  for (let n = FILLED; n < PUSH_QUEUES; n += 1)
    await world.plant(
      "jobs",
      PRIORITIES.flatMap((priority) =>
        [0, 3, 7].map((shard) => waitingJob(world, n, pendingOrder(false, priority), shard, HOUR)),
      ),
    );
  // A backlog in every shard of a queue that workers serve, one in one place, and one of jobs that are too dear.
  const shards = many(8, (shard) => shard);
  for (const n of [PUSH_QUEUES, PUSH_QUEUES + 1])
    await world.plant(
      "jobs",
      shards.flatMap((shard) => many(200, () => waitingJob(world, n, 21, shard, HOUR))),
    );
  await world.plant(
    "jobs",
    many(3_000, () => waitingJob(world, PUSH_QUEUES + 2, 21, 0, HOUR)),
  );
  const [pending] = await world.plant("jobs", [waitingJob(world, 0, 21, 3, MINUTE)]);
  await world.plant(
    "jobs",
    many(200, () => ({ ...waitingJob(world, 0, ORDER_PAUSED, 0, HOUR), paused: true })),
  );
  const dueAt = world.transactions.now + HOUR;
  const due = (at: number) => ({
    ...{ ...waitingJob(world, 0, at, 0, HOUR), status: "scheduled" },
  });
  const [scheduled] = await world.plant("jobs", [due(dueAt)]);
  await world.plant(
    "jobs",
    many(1_500, (i) => due(world.transactions.now - HOUR + Math.floor(i / 500) * 1_000)),
  );
  for (const status of ["succeeded", "failed", "canceled", "timedOut"])
    await world.plant(
      "jobs",
      many(1_500, (i) => begunJob(world, queueName(0), status, 8 * HOUR - i)),
    );
  await world.plant(
    "jobs",
    many(400, () => ({
      ...{ ...begunJob(world, queueName(0), "running", HOUR), worker: `${queueName(0)}#1` },
    })),
  );
  return { pending: pending!, scheduled: scheduled! };
}

/** Keys that stay for a while, jobs that expire, marks. */
async function plantTimes(world: LargeWorld): Promise<void> {
  const queue = queueName(0);
  const [job] = world.line.rows("jobs");
  const until = world.transactions.now - MINUTE;
  await world.plant(
    "keys",
    many(1_500, (n) => ({ queue, key: `k${n}`.padEnd(256, "k"), job: job!._id, until })),
  );
  const waiting = world.line.rows("jobs").filter(({ status }) => status === "pending");
  await world.plant(
    "expiries",
    many(1_500, (n) => ({ queue, at: world.transactions.now - HOUR, job: waiting[n]!._id })),
  );
}

/** A job with all that may hang on it. */
async function plantLong(world: LargeWorld) {
  const value = text(PAYLOAD_MAX_BYTES);
  const [payload, result, context] = await world.plant("payloads", [
    { value },
    { value },
    { value },
  ]);
  const stored = (row: string | undefined) => ({ row, bytes: PAYLOAD_MAX_BYTES });
  const [job] = await world.plant("jobs", [
    {
      ...heavyJob(queueName(0)),
      ...{ status: "failed", order: 0, shard: 0, seq: world.seqOf(MINUTE), enqueuedAt: 1 },
      ...{ payload: stored(payload), result: stored(result), context: stored(context) },
      ...{ startedAt: 1, finishedAt: 2, attempt: 1_001 },
    },
  ]);
  await world.plant(
    "attempts",
    many(1_000, (n) => ({
      ...{ job, attempt: n + 1, outcome: "failed", worker: text(NAME_MAX_LENGTH), endedAt: 1 },
      ...{ error: text(ERROR_MAX_BYTES), trace: text(TRACE_MAX_BYTES) },
    })),
  );
  await world.plant(
    "logs",
    many(LOGS_MAX, (entry) => ({
      ...{ job, attempt: 1_001, entry, level: "info", at: 1, total: entry + 1 },
      ...{ message: text(LOG_MESSAGE_MAX_BYTES), data: text(LOG_DATA_MAX_BYTES) },
    })),
  );
  await world.plant(
    "chunks",
    many(OUTPUT_MAX_BYTES / OUTPUT_PART_MAX_BYTES, (index) => ({
      ...{ job, attempt: 1_001, index, text: text(OUTPUT_PART_MAX_BYTES) },
      total: (index + 1) * OUTPUT_PART_MAX_BYTES,
    })),
  );
  await world.plant("progress", [
    { job, attempt: 1_001, value: text(PROGRESS_MAX_BYTES), updatedAt: 1 },
  ]);
  const large = { ...begunJob(world, queueName(1), "succeeded", MINUTE), result: stored(result) };
  const fit = Math.floor(STATUS_BATCH_MAX_BYTES / PAYLOAD_MAX_BYTES);
  const results = await world.plant(
    "jobs",
    many(fit, () => large),
  );
  return { long: job!, results, result: stored(result) };
}
