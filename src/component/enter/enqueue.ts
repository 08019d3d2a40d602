/**
 * Enqueue: a job's first step. It runs inside the app's own mutation, with everything that the app does there.
 *
 * Reads for real: the queue's row; for a job that has them, the row of its key, of its rules, of its route, and the
 * alarm of the segment in which it falls due or expires; the job that it replaces, and then the roll-up's alarm; in a
 * pushed queue with a polling lane, the door. Snapshot reads: of a job with a time, that segment's alarms; in a
 * pushed queue the gate; where all routes are taken, as `routes.ts`. Writes: inserts into `jobs`, and into
 * `payloads`, `keys`, `expiries`, `marks`; the first of its kind into `jobRules`, `routes`, `timers`; a job that is
 * replaced. Conflicts with: a change of the queue's row, by a declaration, `control.ts` or `forgetCursors`; a
 * transaction that takes or frees the same key; a claim or another move of the job that is replaced, or a note in its
 * row, and the conflicts of its `onComplete`; the first enqueue of the same rules or route; the ring of an alarm that
 * it reads; a lane or wake that opens or shuts the door. A plain job never with another enqueue, a claim or a
 * completion: a caller neither writes nor depends on anything that changes at the rate of jobs.
 */
import type { Value } from "convex/values";
import {
  BATCH_MAX_ROWS,
  checkDeadline,
  checkLength,
  checkNewJob,
  conveyorError,
  COST_DEFAULT,
  dueTime,
  ENQUEUE_MAX_BYTES,
  ENQUEUE_MAX_JOBS,
  marksOf,
  mayMove,
  noDeadlineInRing,
  normalLabels,
  PRIORITY_DEFAULT,
  type Enqueued,
  type JobOptions,
  type NewJob,
  type QueueDeclaration,
  type UniqueKey,
} from "../../shared/index.js";
import type { Id } from "../_generated/dataModel.js";
import type { MutationCtx } from "../_generated/server.js";
import { withEffects } from "../edges/applyEffects.js";
import { tellAll } from "../edges/callbacks.js";
import { addExpiry } from "../edges/startDeadlines.js";
import type { EdgeCtx } from "../rows/effects.js";
import { storedRules, type StoredRules } from "../rows/jobRules.js";
import { findKey, giveKey, keptUntil } from "../rows/keys.js";
import { log } from "../rows/log.js";
import { insertMarks } from "../index/listIndex.js";
import { store } from "../rows/payloads.js";
import { declaredQueues, type Queue } from "../rows/queues.js";
import { cancel, insertJob, type NewFields } from "../edges/transitions.js";

/** Puts jobs into a queue, all or none: the caller's transaction is one. */
export async function enqueue(
  ctx: MutationCtx,
  declaration: QueueDeclaration,
  jobs: readonly NewJob[],
): Promise<Enqueued[]> {
  const now = Date.now();
  const [queue] = await declaredQueues(ctx.db, [declaration], now);
  const step = { now, deliver: tellAll };
  return await withEffects(ctx, step, (ctx) => enqueueJobs(ctx, queue!, jobs));
}

/**
 * The same, for a step that has more to do. All jobs are checked before the first is written. `token`: the job of a worker
 * with it is continued with these.
 */
export async function enqueueJobs(
  ctx: EdgeCtx,
  queue: Queue,
  jobs: readonly NewJob[],
  token?: Id<"tokens">,
): Promise<Enqueued[]> {
  checkJobs(queue, jobs, ctx.now);
  if (queue.isDraining) {
    throw conveyorError(
      "queueDraining",
      `The queue "${queue.name}" is being drained and takes no new jobs. Resume it, or enqueue into another queue.`,
      { queue: queue.name },
    );
  }
  queue.routesKept = { rows: null };
  const rules = storedRules(ctx.db, token);
  const batch: Batch = { queue, ofWorker: token !== undefined, rules };
  const enqueued: Enqueued[] = [];
  for (const job of jobs) enqueued.push(await enqueueOne(ctx, batch, job));
  return enqueued;
}

function checkJobs({ config }: Queue, jobs: readonly NewJob[], now: number): void {
  checkLength("The jobs of a call", jobs, 1, ENQUEUE_MAX_JOBS);
  const ofEach =
    Number(config.expiresAfterMs !== undefined) + Number(config.deadlineMs !== undefined);
  const sum = { bytes: 0, rows: ofEach * jobs.length };
  for (const job of jobs) {
    const { bytes, rows } = checkNewJob(job, now);
    sum.bytes += bytes;
    sum.rows += rows + marksOf(config.listBy, job.options ?? {}).length;
  }
  const isLarge = sum.bytes > ENQUEUE_MAX_BYTES;
  if (!isLarge && sum.rows <= BATCH_MAX_ROWS) return;
  const [what, got, max] = isLarge
    ? ["bytes", sum.bytes, ENQUEUE_MAX_BYTES]
    : ["rows", sum.rows, BATCH_MAX_ROWS];
  throw conveyorError(
    isLarge ? "payloadTooLarge" : "invalidArgument",
    `The jobs of one call, with their contexts and options, may come to ${max} ${what}; these are ${got}. Enqueue them in ` +
      "several calls, as a queue's enqueueBatch does.",
    { argument: what, got, max },
  );
}

/** Data that the jobs of one call share. */
interface Batch {
  queue: Queue;
  /** Whether the job of a worker with a token is continued with these. */
  ofWorker: boolean;
  rules: StoredRules;
}

async function enqueueOne(ctx: EdgeCtx, batch: Batch, job: NewJob): Promise<Enqueued> {
  const { now } = ctx;
  const { queue } = batch;
  const key = job.options?.key;
  if (key === undefined) return { id: await insert(ctx, batch, job), isNew: true };

  const found = await findKey(ctx.db, queue.name, key.value, now);
  const outdone = found.owner === null ? "ended" : await outdo(ctx, key, found.owner, queue);
  if (outdone === "stays") return { id: found.owner!, isNew: false };
  if (outdone === "tooLate") return { id: found.owner!, isNew: false, tooLate: true };
  const id = await insert(ctx, batch, job);
  await giveKey(ctx.db, found, {
    ...{ queue: queue.name, key: key.value, job: id },
    ...keptUntil(key, now),
  });
  return { id, isNew: true };
}

/** The job that has the key: ended if it is to be replaced and was not begun; else it stays. */
async function outdo(
  ctx: EdgeCtx,
  key: UniqueKey,
  owner: Id<"jobs">,
  queue: Queue,
): Promise<"ended" | "stays" | "tooLate"> {
  if (key.onConflict === "refuse") {
    throw conveyorError(
      "duplicateKey",
      `A job of the queue "${queue.name}" has the key ${JSON.stringify(key.value.slice(0, 100))} already. ` +
        'Use it by the id given here, or enqueue with onConflict "existing" or "replace".',
      { queue: queue.name, key: key.value, id: owner },
    );
  }
  if (key.onConflict !== "replace") return "stays";
  const job = await ctx.db.get("jobs", owner);
  if (job === null || !mayMove("cancel", job.status)) return "tooLate";
  // The row of its key is for the new job, and its end leaves that alone.
  const { key: _, ...keyless } = job;
  await cancel(ctx, keyless, queue, REPLACED);
  // Also where a session's call enqueues the new job.
  ctx.effects.toCount.add(queue.name);
  return "ended";
}

/** The reason that `onComplete` receives for a replaced job. */
export const REPLACED = "The job was replaced by another before a worker took it.";

async function insert(
  ctx: EdgeCtx,
  { queue, ofWorker, rules }: Batch,
  { payload, options = {} }: NewJob,
): Promise<Id<"jobs">> {
  const { now } = ctx;
  const dueAt = dueTime(options, now);
  const expiresAfterMs = options.expiresAfterMs ?? queue.config.expiresAfterMs;
  const from = dueAt ?? now;
  const expiresAt = expiresAfterMs === undefined ? undefined : from + expiresAfterMs;
  const { forMs = 0, ...preferred } = options.prefer ?? {};
  const deadlineMs = options.deadlineMs ?? queue.config.deadlineMs;
  if (deadlineMs !== undefined) {
    if (queue.config.circular) throw noDeadlineInRing(queue.name);
    checkDeadline(from, deadlineMs, now);
  }
  const own = options.rules === undefined ? undefined : await rules(options.rules);
  const { context } = options as { context?: Value };
  const fields: NewFields = {
    payload: await store(ctx.db, payload as Value),
    enqueuedAt: now,
    ...fieldsOf(options, ofWorker, now),
    ...(options.prefer === undefined ? {} : { prefer: { ...preferred, until: from + forMs } }),
    ...(own === undefined ? {} : { rules: own }),
    ...(context === undefined ? {} : { context: await store(ctx.db, context) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(deadlineMs === undefined ? {} : { deadline: { ms: deadlineMs, at: now + deadlineMs } }),
  };
  const id = await insertJob(ctx, queue, fields, dueAt);
  await insertMarks(ctx.db, queue, id, options);
  const about = { queue: queue.name, job: id, name: options.name, dueAt: from };
  log(queue.config, "debug", "jobEnqueued", about);
  for (const at of [expiresAt, fields.deadline?.at, fields.prefer?.until])
    if (at !== undefined) await addExpiry(ctx, queue.name, id, at);
  return id;
}

/**
 * Fields of the row that describe the job itself. An absent field has its default, and costs no bytes at every edge.
 */
function fieldsOf(options: JobOptions, ofWorker: boolean, now: number): Partial<NewFields> {
  const {
    name,
    priority = PRIORITY_DEFAULT,
    cost = COST_DEFAULT,
    group,
    key,
    traceparent,
  } = options;
  const tags = [...new Set(options.tags)];
  const labels = normalLabels(options.labels ?? []);
  const isPlain = priority === PRIORITY_DEFAULT && cost === COST_DEFAULT && labels.length === 0;
  const { until } = key === undefined ? {} : keptUntil(key, now);
  return {
    ...(name === undefined ? {} : { name }),
    ...(priority === PRIORITY_DEFAULT ? {} : { priority }),
    ...(cost === COST_DEFAULT ? {} : { cost }),
    ...(group === undefined ? {} : { group }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(ofWorker && !isPlain ? { ofWorker } : {}),
    ...(key === undefined ? {} : { key: key.value }),
    ...(until === undefined ? {} : { keyUntil: until }),
  };
}
