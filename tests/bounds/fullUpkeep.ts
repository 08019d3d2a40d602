/** Statistics, events, alarms and callbacks of the full world. */
import {
  ARRIVALS_JOBS,
  ERROR_MAX_BYTES,
  FINISHED_STATUSES,
  LEASES_MAX,
  NAME_MAX_LENGTH,
  OUTPUT_PART_MAX_BYTES,
  PAYLOAD_MAX_BYTES,
  PUBLISHED_BOUNDS_MAX,
  QUEUES_MAX,
  RANGE_ROWS,
  REMOVE_BYTES,
  REMOVE_JOBS,
} from "../../src/shared/index.js";
import {
  begunJob,
  HOUR,
  many,
  MINUTE,
  PUSH_QUEUES,
  QUEUES,
  queueName,
  text,
  waitingJob,
} from "./fullShapes.js";
import type { Fields, LargeWorld } from "./largeWorld.js";

export async function plantPeriods(world: LargeWorld): Promise<void> {
  const queue = queueName(0);
  const histogram = many(62, (n) => n);
  const counts = {
    ...{ enqueued: 1, started: 1, succeeded: 1, failed: 1, canceled: 1, timedOut: 1 },
    ...{ waitMs: histogram, runMs: histogram, waitSumMs: 1, runSumMs: 1 },
  };
  const { now } = world.transactions;
  const minutes = many(1_500, (n) => ({
    ...{ queue, per: "minute", at: Math.floor(now / MINUTE - n) * MINUTE, ...counts },
  }));
  const old = minutes.map((row) => ({ ...row, at: row.at - 63 * 24 * HOUR }));
  await world.plant("periods", [...minutes, ...old]);
  for (const [per, ms] of [
    ["hour", HOUR],
    ["day", 24 * HOUR],
  ] as const)
    await world.plant(
      "periods",
      many(1_500, (n) => ({ queue, per, at: Math.floor(now / ms - n) * ms, ...counts })),
    );
  await world.plant("periods", [{ queue, per: "ever", at: 0, ...counts }]);
  await world.plant(
    "events",
    many(1_500, (n) => ({
      ...{ kind: "leasesEnded", queue, at: n % 2 === 0 ? now : 1, message: text(256) },
      details: { worker: text(NAME_MAX_LENGTH), released: many(LEASES_MAX, () => text(32)) },
    })),
  );
  await world.plant(
    "ended",
    many(1_500, (n) => ({
      ...{ queue, seq: world.seqOf(HOUR - n), job: world.line.rows("jobs")[0]!._id },
      ...{ creationTime: n, status: "failed", endedAt: now, enqueuedAt: now, startedAt: now },
      finishedAt: now,
    })),
  );
  await plantOldPeriods(world, counts);
  const [first] = world.line.rows("jobs");
  const upTo = (first!._creationTime as number) - 1;
  await world.plant("arrivals", [{ upTo, at: now - MINUTE }]);
}

/** Rows of all queues that the first count of new periods deletes. */
async function plantOldPeriods(world: LargeWorld, counts: Fields): Promise<void> {
  const at = world.transactions.now - 6 * 366 * 24 * HOUR;
  const rows = (queue: string) =>
    ["minute", "hour", "day"].flatMap((per) =>
      many(2, (n) => ({ queue, per, at: at - n * HOUR, ...counts })),
    );
  await world.plant("periods", many(QUEUES - 1, (n) => rows(queueName(n + 1))).flat());
}

/** New jobs, one in each of many queues, and between each two one of another queue that is gone already. */
export async function plantArrivals(world: LargeWorld): Promise<void> {
  const ids: string[] = [];
  for (let n = 1; n <= ARRIVALS_JOBS; n += 1) {
    world.transactions.now += 1;
    const rows = [waitingJob(world, n, 21, 0, 0)];
    ids.push(...(await world.plant("jobs", rows)));
  }
  const from = (world.line.rows("jobs")[0]!._creationTime as number) + 1 / 2;
  const { now } = world.transactions;
  await world.plant(
    "arrived",
    many(1_500, (n) => ({
      ...{ job: ids[0]!, creationTime: from + (n < ids.length ? n : ids.length) },
      ...{ queue: queueName((QUEUES - 1 - n + QUEUES) % QUEUES), enqueuedAt: now },
    })),
  );
  world.transactions.now += 2 * MINUTE;
}

export async function plantTimers(world: LargeWorld): Promise<Record<string, string>> {
  const { now } = world.transactions;
  const queue = queueName(0);
  const at = now - HOUR;
  const segment = { queue, start: Math.floor(at / 100) * 100, width: 100 };
  const second = { queue, start: Math.floor(at / 1_000) * 1_000, width: 1_000 };
  const wide = { queue, start: Math.floor(at / MINUTE) * MINUTE, width: MINUTE };
  const kinds: [string, Fields][] = [
    ["janitor", { kind: "janitor", dueAt: now }],
    ["dispatcher", { kind: "dispatcher", ...segment, dueAt: at }],
    ["dispatcherWide", { kind: "dispatcher", ...wide, dueAt: at }],
    ["expiry", { kind: "expiry", ...second, dueAt: at }],
    ["expiryWide", { kind: "expiry", ...wide, dueAt: at }],
    ["rollUp", { kind: "rollUp", queue, dueAt: now }],
    ["arrivals", { kind: "arrivals", dueAt: now }],
    ["purge", { kind: "purge", queue, dueAt: now }],
  ];
  const ids = await world.plant(
    "timers",
    kinds.map(([, fields]) => fields),
  );
  await world.plant(
    "timers",
    many(64, (n) => ({ kind: "janitor", dueAt: now - HOUR + n })),
  );
  await world.plant(
    "timers",
    many(QUEUES, (n) => ({
      kind: n % 2 === 0 ? "rollUp" : "purge",
      queue: queueName(n),
      dueAt: now - HOUR,
    })),
  );
  return Object.fromEntries(kinds.map(([name], i) => [name, ids[i]!]));
}

export async function plantCallbacks(world: LargeWorld, long: string): Promise<string> {
  const handle = await world.line.app<string>("handle");
  const row = (state: string, job: string) => ({
    ...{ job, handle, attempt: 3, tries: 9, state, dueAt: 1 },
    ...{
      outcome: { status: "failed", error: text(ERROR_MAX_BYTES) },
      error: text(ERROR_MAX_BYTES),
    },
  });
  const jobs = world.line.rows("jobs").slice(0, 500);
  await world.plant(
    "callbacks",
    jobs.map(({ _id }) => row("owed", _id)),
  );
  const [owed] = await world.plant(
    "callbacks",
    many(100, () => row("owed", long)),
  );
  return owed!;
}

/**
 * More large rows of each status than one purge deletes, all of them due. The first of each has ends still to be delivered, but of one status the
 * rows of output and the values that one deletes with it. Returns the purge's alarm.
 */
export async function plantOldEnds(world: LargeWorld, queue: string): Promise<string> {
  const parts = Math.floor(REMOVE_BYTES / OUTPUT_PART_MAX_BYTES) - 1;
  const value = text(PAYLOAD_MAX_BYTES);
  const values = await world.plant("payloads", [{ value }, { value }, { value }]);
  const [payload, result, context] = values.map((row) => ({ row, bytes: PAYLOAD_MAX_BYTES }));
  for (const status of FINISHED_STATUSES) {
    const isOwed = status !== FINISHED_STATUSES.at(-1);
    const ended = (n: number) => ({
      ...begunJob(world, queue, status, 100 * 24 * HOUR - n),
      ...(isOwed || n > 0 ? {} : { payload, result, context }),
    });
    const [job] = await world.plant("jobs", many(REMOVE_JOBS, ended));
    const owed = { job, handle: "h", attempt: 3, tries: 1, state: "owed", dueAt: 9e15 };
    const outcome = { status: "failed", error: text(ERROR_MAX_BYTES) };
    if (isOwed)
      await world.plant(
        "callbacks",
        many(RANGE_ROWS, () => ({ ...owed, error: text(ERROR_MAX_BYTES), outcome })),
      );
    else
      await world.plant(
        "chunks",
        many(parts, (index) => ({
          ...{ job, attempt: 1, index, text: text(OUTPUT_PART_MAX_BYTES), total: 1 },
        })),
      );
  }
  const upTo = FINISHED_STATUSES.map((status) => ({
    ...{ status, seq: world.seqOf(0), creationTime: 0 },
  }));
  await world.plant("counted", [{ queue, upTo }]);
  const dueAt = world.transactions.now;
  const [timer] = await world.plant("timers", [{ kind: "purge", queue, dueAt }]);
  return timer!;
}

/** In the queues that workers serve, ends that are not counted, fewer than make a floor stale, and bounds of as many places as are named. */
export async function plantServed(world: LargeWorld): Promise<void> {
  const publishedAt = world.transactions.now - MINUTE;
  const key = { seq: world.seqOf(HOUR), creationTime: 1.5 };
  const bounds = many(PUBLISHED_BOUNDS_MAX, (shard) => ({ order: 21, shard, ...key }));
  for (let n = PUSH_QUEUES; n < PUSH_QUEUES + QUEUES_MAX; n += 1) {
    const queue = queueName(n);
    const old = world.line.rows("cursors").find((row) => row.queue === queue);
    if (old === undefined)
      await world.plant("cursors", [{ queue, epoch: 0, publishedAt, bounds, floor: key }]);
    await world.plant(
      "jobs",
      many(7, () => begunJob(world, queue, "timedOut", MINUTE)),
    );
  }
}
