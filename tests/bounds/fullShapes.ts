/** The rows of the full world: names, declarations and rows of the greatest size. */
import {
  ERROR_MAX_BYTES,
  LABELS_MAX,
  LOG_DATA_MAX_BYTES,
  LOG_MESSAGE_MAX_BYTES,
  LOGS_MAX,
  NAME_MAX_LENGTH,
  OUTPUT_MAX_BYTES,
  OUTPUT_PART_MAX_BYTES,
  OUTPUT_ROWS_DROPPED,
  PROGRESS_MAX_BYTES,
  REPORT_MAX_BYTES,
  SHARDS_MAX,
  TAGS_MAX,
  type QueueDeclaration,
} from "../../src/shared/index.js";
import type { Fields, LargeWorld } from "./largeWorld.js";

export const QUEUES = 1_000;
export const PUSH_QUEUES = 64;
/** With all priorities, and eleven sets of labels, these are as many places as a queue may have. */
export const SHARDS_WIDE = 16;
/** With all the routes that returned jobs may need, of one priority each, all places but the ones of one more. */
export const SHARDS_FEW = 4;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const text = (bytes: number) => "x".repeat(bytes);
export const many = <Item>(count: number, item: (n: number) => Item) =>
  Array.from({ length: count }, (_, n) => item(n));

/** Three bytes a character, of which names and tags are counted. */
const WIDE = "\u20ac";
const wide = (length: number) => WIDE.repeat(length);

/** A name of the greatest length. */
export const queueName = (n: number) =>
  `q${String(n).padStart(4, "0")}`.padEnd(NAME_MAX_LENGTH, "-");
export const label = (n: number, i: number) => `l${n}-${i}`.padEnd(NAME_MAX_LENGTH, ".");
export const labelsOf = (n: number) => many(LABELS_MAX, (i) => label(n, i));

export function declarationOf(n: number): QueueDeclaration {
  const isPush = n < PUSH_QUEUES;
  const handler = {
    handle: "function://handler".padEnd(200, "-"),
    kind: "action" as const,
    takes: "payload" as const,
  };
  const config = {
    ...{ leaseMs: 60_000, maxResets: 3, shards: n % 2 === 1 ? SHARDS_FEW : SHARDS_WIDE },
    ...{
      onComplete: "function://done".padEnd(200, "-"),
      result: JSON.stringify({ kind: "any" }).padEnd(2_048),
    },
    ...(isPush ? { push: true, maxParallelism: 2_000, handler } : {}),
  };
  return { name: queueName(n), config };
}

/** The fields of every large row of a job: all that a job may be given, each of the greatest length. */
export function heavyJob(queue: string): Fields {
  return {
    ...{ queue, attempt: 3, failures: 2, resets: 1, releases: 1 },
    ...{ payload: { inline: text(500) }, context: { inline: text(500) } },
    error: text(ERROR_MAX_BYTES),
    name: wide(128),
    tags: many(TAGS_MAX, (n) => `t${n}`.padEnd(NAME_MAX_LENGTH, WIDE)),
    ...{ group: wide(128), key: wide(256), worker: wide(NAME_MAX_LENGTH) },
    failedBy: many(4, (n) => `w${n}`.padEnd(NAME_MAX_LENGTH, WIDE)),
  };
}

/** The row of a job that has begun, and has ended where it has a finished status: all that it may have. */
export function begunJob(world: LargeWorld, queue: string, status: string, agoMs: number): Fields {
  const { error, ...fields } = heavyJob(queue);
  const startedAt = world.transactions.now - agoMs;
  const asked = status === "canceled" || status === "running";
  const isOver = status !== "running";
  return {
    ...{ ...fields, status, order: 0, shard: 0, seq: world.seqOf(agoMs), enqueuedAt: startedAt },
    ...{ startedAt, labels: labelsOf(3), traceparent: text(55), cost: 2, priority: 1 },
    ...{ deadline: { ms: 1, at: 9e15, isPassed: true }, keyUntil: 9e15, expiresAt: 9e15 },
    ...(isOver ? { finishedAt: startedAt, result: { inline: text(500) } } : {}),
    // A reason takes the place of the error.
    ...(asked ? { cancelReason: text(ERROR_MAX_BYTES) } : { error }),
  };
}

/** The row of a job that waits in this place. */
export function waitingJob(
  world: LargeWorld,
  n: number,
  order: number,
  place: number,
  agoMs: number,
) {
  const queue = queueName(n);
  const enqueuedAt = world.transactions.now - agoMs;
  const seq = world.seqOf(agoMs);
  const route = Math.floor(place / SHARDS_MAX);
  return {
    ...heavyJob(queue),
    ...{ status: "pending", order, shard: place, seq, enqueuedAt },
    ...(route === 0 ? {} : { labels: labelsOf(route) }),
  };
}

/** Queues beside the thousand: one with a mutation as its handler, and a circular one. */
export const MUTATIONS = "mutations";
export const RING: QueueDeclaration = {
  name: "ring",
  config: { leaseMs: 60_000, maxResets: 3, shards: 1, circular: true },
};

/** One call of `report` with as much of everything as it may carry of these leases. */
export function fullReport(leases: readonly { id: string; attempt: number }[]) {
  const log = { revision: 0, level: "info", message: text(2_048) };
  return {
    updates: leases.map((lease) => ({ ...lease, value: text(8_000) })),
    logs: leases.flatMap((lease) => many(4, (entry) => ({ ...lease, ...log, entry }))),
    output: leases.flatMap((lease) => many(4, (index) => ({ ...lease, index, text: text(8_192) }))),
  };
}

/** Parts of earlier output of one job of {@link manyParts}: more than one call deletes. */
const SMALL_PARTS = OUTPUT_ROWS_DROPPED + 8;

/** All that is kept of a job's output, in so many small parts that one call does not delete them, and the rest. */
export function manyParts(job: string, attempt: number): Fields[] {
  const part = (index: number, total: number) => ({ job, attempt, index, text: "x", total });
  return [
    ...many(SMALL_PARTS, (index) => part(index, index + 1)),
    part(SMALL_PARTS, OUTPUT_MAX_BYTES),
  ];
}

/** That call, and one with as much output of a single lease as it may carry. */
export function largeReports(leases: readonly { id: string; attempt: number }[]): object[] {
  const part = { ...leases[0]!, text: text(OUTPUT_PART_MAX_BYTES) };
  const output = many(REPORT_MAX_BYTES / OUTPUT_PART_MAX_BYTES, (index) => ({ ...part, index }));
  return [fullReport(leases), { output }];
}

/**
 * What a job with all the output and log entries that are kept has of them, each of the greatest size: the first rows, which one
 * call may delete, and the last.
 */
export function keptOf(job: string, attempt: number): Record<string, Fields[]> {
  const parts = OUTPUT_MAX_BYTES / OUTPUT_PART_MAX_BYTES;
  const log = { level: "info", at: 1, message: text(LOG_MESSAGE_MAX_BYTES) };
  return {
    progress: [{ job, attempt, value: text(PROGRESS_MAX_BYTES - 16), updatedAt: 1 }],
    chunks: [0, 1, 2, parts - 1].map((index) => ({
      ...{ job, attempt, index, text: text(OUTPUT_PART_MAX_BYTES) },
      total: (index + 1) * OUTPUT_PART_MAX_BYTES,
    })),
    logs: [...many(5, (entry) => entry), LOGS_MAX - 1].map((entry) => ({
      ...{ job, attempt, entry, ...log, data: text(LOG_DATA_MAX_BYTES - 16), total: entry + 1 },
    })),
  };
}

/** A job with the longest options. */
export const longest = (n: number) => ({
  options: {
    ...{
      key: { value: `long${n}`.padEnd(256, "€") },
      runAfter: 60_000 + n * 50,
      context: text(600),
    },
    ...{ expiresAfterMs: 60_000, deadlineMs: 600_000 + n * 50, labels: labelsOf(1) },
    ...{ tags: many(16, (i) => `t${i}`.padEnd(64, "€")), name: "€".repeat(128) },
    group: "€".repeat(128),
    prefer: { worker: "€".repeat(64), labels: labelsOf(1).slice(0, 4), forMs: 60_000 },
  },
});

/** Outcomes that are followed by about as many of them as one call takes. */
export const followedByLongest = (leases: readonly { id: string; attempt: number }[]) =>
  leases.slice(0, 12).map((lease, i) => ({
    ...{ ...lease, outcome: { kind: "succeeded", result: null } },
    continued: [
      { queue: declarationOf(0), jobs: many(62, (n) => ({ payload: n, ...longest(62 * i + n) })) },
    ],
  }));

/** Jobs that follow in that queue, in places of their own. */
export const fewIn = (n: number) => ({
  queue: declarationOf(n),
  jobs: many(4, (i) => ({ payload: 1, options: { runAfter: 60_000 * i, priority: i } })),
});
