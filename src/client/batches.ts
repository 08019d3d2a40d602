/**
 * Batches of any size: split by count and bytes into calls of the component. In a mutation all of them are one
 * transaction, so a batch beyond its limits is refused before the first call. An action has no transaction: each call
 * commits by itself, and an error in the middle reports the enqueued jobs.
 */
import {
  errorText,
  BATCH_MAX_BYTES,
  BATCH_MAX_KEYS,
  BATCH_MAX_REPLACED,
  BATCH_MAX_ROWS,
  BATCH_TRIES_MAX,
  BATCH_WAIT_MS,
  checkNewJob,
  conveyorError,
  ENQUEUE_MAX_BYTES,
  ENQUEUE_MAX_JOBS,
  isConveyorError,
  listOf,
  marksOf,
  type Enqueued,
  type JobWeight,
  type ListBy,
  type NewJob,
} from "../shared/index.js";
import type { RunsMutations } from "./types.js";

type Send = (jobs: NewJob[]) => Promise<Enqueued[]>;

/** The payloads of a batch, of which there must be one. */
export function payloadsOf<Payload>(payloads: Iterable<Payload>): Payload[] {
  const list = listOf("payloads", payloads);
  if (list.length > 0) return list;
  throw conveyorError(
    "invalidArgument",
    "A batch must have 1 payload or more; got none. Leave out a call that has nothing to enqueue.",
    { argument: "payloads", got: 0 },
  );
}

/** Sends all jobs. `expire`, `hasDeadline`: the queue has each of them expire, or end; `listBy`: each has a row for its tags and group. */
export async function sendAll(
  ctx: RunsMutations,
  jobs: readonly NewJob[],
  {
    expire,
    hasDeadline = false,
    listBy = [],
    send,
  }: {
    expire: boolean;
    hasDeadline?: boolean;
    listBy?: readonly ListBy[] | undefined;
    send: Send;
  },
): Promise<Enqueued[]> {
  const now = Date.now();
  const weights = jobs.map((job, index) => {
    const weight = weigh(job, index, now);
    const marks = marksOf(listBy, job.options ?? {}).length;
    return { ...weight, rows: weight.rows + marks + Number(expire) + Number(hasDeadline) };
  });
  if (isAction(ctx)) return await sendSplit(split(jobs, weights), jobs.length, send);
  checkTransaction(weights, differentRules(jobs));
  const enqueued: Enqueued[] = [];
  for (const part of split(jobs, weights)) enqueued.push(...(await send(part)));
  return enqueued;
}

/** Whether each call commits by itself. Only an action can run actions. */
function isAction(ctx: RunsMutations): boolean {
  return "runAction" in ctx;
}

/** All jobs are checked before the first is sent, or an action would find a bad one after it has enqueued a part. */
function weigh(job: NewJob, index: number, now: number): JobWeight {
  try {
    return checkNewJob(job, now);
  } catch (error) {
    if (!isConveyorError(error)) throw error;
    const { code, message, ...details } = error.data;
    throw conveyorError(code, `Job ${index} of the batch: ${message}`, { ...details, index });
  }
}

/** Rules that jobs have of their own: each different one is looked up, and may be a new row. */
function differentRules(jobs: readonly NewJob[]): number {
  const rules = jobs.flatMap(({ options }) => options?.rules ?? []);
  return new Set(rules.map((one) => JSON.stringify(one))).size;
}

function checkTransaction(weights: readonly JobWeight[], rules: number): void {
  const sum = (of: (weight: JobWeight) => number) =>
    weights.reduce((total, weight) => total + of(weight), 0);
  const refuse = (what: string, got: number, max: number) =>
    conveyorError(
      what === "bytes" ? "payloadTooLarge" : "invalidArgument",
      `The jobs that one mutation enqueues in a batch may come to ${max} ${what}; these are ${got}. Half of a transaction ` +
        "is left to the app. Enqueue them from an action, which needs no such bound, or in several mutations.",
      { argument: what, got, max },
    );
  const bytes = sum((weight) => weight.bytes);
  if (bytes > BATCH_MAX_BYTES) throw refuse("bytes", bytes, BATCH_MAX_BYTES);
  const rows = sum((weight) => weight.rows);
  if (rows > BATCH_MAX_ROWS) throw refuse("rows", rows, BATCH_MAX_ROWS);
  const keys = sum((weight) => weight.keys);
  if (keys > BATCH_MAX_KEYS) throw refuse("keys", keys, BATCH_MAX_KEYS);
  // Each is looked up, as a key is.
  if (keys + rules > BATCH_MAX_KEYS)
    throw refuse("keys and different rules", keys + rules, BATCH_MAX_KEYS);
  const replaces = sum((weight) => weight.replaces);
  if (replaces > BATCH_MAX_REPLACED) {
    throw refuse("keys that replace", replaces, BATCH_MAX_REPLACED);
  }
}

function split(jobs: readonly NewJob[], weights: readonly JobWeight[]): NewJob[][] {
  const parts: NewJob[][] = [];
  let [bytes, replaces, rows] = [0, 0, 0];
  for (const [i, job] of jobs.entries()) {
    const part = parts.at(-1);
    bytes += weights[i]!.bytes;
    replaces += weights[i]!.replaces;
    rows += weights[i]!.rows;
    const fits =
      bytes <= ENQUEUE_MAX_BYTES && replaces <= BATCH_MAX_REPLACED && rows <= BATCH_MAX_ROWS;
    if (part !== undefined && part.length < ENQUEUE_MAX_JOBS && fits) {
      part.push(job);
    } else {
      parts.push([job]);
      ({ bytes, replaces, rows } = weights[i]!);
    }
  }
  return parts;
}

/** One transaction after the other. */
async function sendSplit(parts: NewJob[][], total: number, send: Send): Promise<Enqueued[]> {
  const done: Enqueued[][] = [];
  for (const part of parts) {
    try {
      done.push(await sendPatiently(part, send));
    } catch (error) {
      if (done.length === 0) throw error;
      throw interrupted(done, total, error);
    }
  }
  return done.flat();
}

/**
 * Refusals that come before anything is written, or when all of it has been undone. A deployment may write so many
 * bytes per second, 4 MiB on the smallest, and begins no mutation while the last second has had more: a full call
 * brings that about for the next.
 */
const PASSING =
  /TooManyWrites|Too many writes per second|OptimisticConcurrencyControlFailure|TooManyConcurrent/;

async function sendPatiently(part: NewJob[], send: Send): Promise<Enqueued[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await send(part);
    } catch (error) {
      if (tries === BATCH_TRIES_MAX || !PASSING.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, BATCH_WAIT_MS));
    }
  }
}

function interrupted(done: Enqueued[][], total: number, error: unknown): Error {
  const enqueued = done.flat().length;
  const cause = errorText(error);
  return conveyorError(
    "batchInterrupted",
    `The first ${enqueued} of ${total} jobs are enqueued, and the rest may not be: ${cause} ` +
      "Enqueue the rest again, with keys if none may be there twice.",
    {
      enqueued,
      total,
      // By call, since one array holds no more than 8,192.
      ids: done.map((part) => part.map(({ id }) => id)),
      cause: isConveyorError(error) ? error.data : { message: cause },
    },
  );
}
