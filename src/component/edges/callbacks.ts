/**
 * `onComplete`: the app's mutation receives every outcome exactly once, if it can be in the very transaction that
 * finishes the job.
 *
 * *Inline*, at most eight per transaction and as long as half of its reads are left, each in a sub-transaction of the
 * component's: one that throws, overruns its share of the limits, or returns a value that its validator refuses leaves
 * none of its writes, and the outcome stands. (The platform keeps the writes of a callee with a refused return value;
 * that is why a mutation of the component stands between.)
 *
 * *Owed*, when inline failed or was one too many: a row says so, and two scheduled mutations deliver it. `planCallback`
 * counts a try, starts it, and plans itself anew; `tryCallback` runs the callback and deletes the row, all in one
 * transaction. A try that fails, even in a way that no code can catch, just leaves the row for the next `planCallback`.
 * A callback that is given up stays as a `dead` row, of each job the last. A plan that has died is noticed by the
 * janitor: a transaction that owes one ensures a sweep that comes after the plan should have, and the janitor does not go
 * while any callback is owed. The only writer of `callbacks`, but for `remove.ts`, which deletes them with their job.
 *
 * *In order*: an end that finds an earlier end of its job owed comes behind it, inline or not. The row of the earlier
 * one names it, and the transaction that delivers that one, or gives it up, plans it. A job that ends for the first
 * time reads nothing for it. A callback may end a job again that the same transaction has ended, and of which the end is
 * delivered after it: the second end is owed at once, and the first one comes before it also where it is owed.
 *
 * Reads for real: the job, payload and result of each; of a job that had ended before the last end that is owed, the
 * next end of the delivered one; where one becomes owed, the janitor's timers. Conflicts with: the conflicts of the
 * app's callback; an end of a job with the telling of its last end; a delivery with each write of its job's row; an
 * owing transaction with a sweep or an insert of a timer.
 */
import type { FunctionHandle } from "convex/server";
import { v, type Value } from "convex/values";
import {
  errorText,
  backoffMs,
  CALLBACK_BACKOFF_MAX_MS,
  CALLBACK_BACKOFF_MS,
  CALLBACK_INLINE_LIMITS,
  CALLBACK_OVERDUE_MS,
  CALLBACK_TRIES_MAX,
  CALLBACK_WAIT_MAX_MS,
  CALLBACKS_INLINE_BYTES,
  CALLBACKS_INLINE_MAX,
  isWork,
  JANITOR_SLACK_MS,
  RANGE_ROWS,
  type FinalOutcome,
  workResult,
  type OnCompleteArgs,
} from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import { internalMutation, type DatabaseReader, type MutationCtx } from "../_generated/server.js";
import { logAlways } from "../rows/log.js";
import { cutError, discard, load } from "../rows/payloads.js";
import { owedFields } from "../rows/stored.js";
import type { PendingCallback } from "../rows/effects.js";
import { ensureSweep } from "../loops/timers.js";

// --- In the transaction that finishes the job ----------------------------------------------------

/**
 * Delivers these outcomes: the first eight now, the rest alone and at once. The app's code runs in here, so the caller
 * repeats its earlier reads.
 */
export async function tellAll(ctx: MutationCtx, owed: readonly PendingCallback[]): Promise<void> {
  const later: PendingCallback[] = [];
  for (const one of owed) {
    const isOver = owed.indexOf(one) >= CALLBACKS_INLINE_MAX || !(await hasRoom(ctx));
    if (isOver) later.push(one);
    else await tell(ctx, one, owed.length > 1);
  }
  await oweAll(ctx, later, { mayBeAgain: owed.length > 1 });
  // A callback may have retried a job with a callback that ran before it.
  if (owed.length > 1) for (const one of owed) await discardForgotten(ctx, one);
}

/** `mayBeAgain`: a callback of the same transaction may have ended the job once more. */
async function tell(ctx: MutationCtx, owed: PendingCallback, mayBeAgain: boolean): Promise<void> {
  const { before, after } = await lastOwed(ctx.db, owed, mayBeAgain && owed.again === true);
  if (before !== null) return await oweBehind(ctx, before, owed, after);
  try {
    await ctx.runMutation(internal.edges.callbacks.runCallback, owed, {
      transactionLimits: CALLBACK_INLINE_LIMITS,
    });
  } catch (error) {
    const failed = { error: cutError(errorText(error)), delayMs: CALLBACK_BACKOFF_MS };
    await owe(ctx, owed, { failed, mayBeAgain });
    await ensureSweep(ctx, Date.now() + CALLBACK_BACKOFF_MS + CALLBACK_OVERDUE_MS, Date.now());
  }
}

/** Whether a callback's share may still be read: a payload, context and result of the largest size, and of the app's. */
async function hasRoom(ctx: MutationCtx): Promise<boolean> {
  const { bytesRead } = await ctx.meta.getTransactionMetrics();
  return bytesRead.used <= CALLBACKS_INLINE_BYTES;
}

/** The sub-transaction. The callback's error passes through, so that all its writes are undone. */
export const runCallback = internalMutation({
  args: owedFields,
  returns: v.null(),
  handler: async (ctx, owed): Promise<null> => {
    await call(ctx, owed);
    await discardForgotten(ctx, owed);
    return null;
  },
});

/**
 * Records that all of these are still to be delivered. For a transaction that ends many jobs: their callbacks must not
 * stop each other. Depends on one timer of the janitor's for all, which notices if a plan dies, or inserts one.
 */
export async function oweAll(
  ctx: MutationCtx,
  owed: readonly PendingCallback[],
  { mayBeAgain = false }: { mayBeAgain?: boolean } = {},
): Promise<void> {
  let planned = 0;
  for (const one of owed) if (await owe(ctx, one, { mayBeAgain })) planned += 1;
  if (planned > 0) await ensureSweep(ctx, Date.now() + CALLBACK_OVERDUE_MS, Date.now());
}

interface Failed {
  error: string;
  delayMs: number;
}

/**
 * Records that a callback is still to be delivered, and plans the first try, for which its caller ensures a sweep. Returns
 * `false` where the try comes after another callback of the job.
 */
async function owe(
  ctx: MutationCtx,
  owed: PendingCallback,
  { failed, mayBeAgain = false }: Partial<{ failed: Failed; mayBeAgain: boolean }> = {},
): Promise<boolean> {
  const { before, after } = await lastOwed(ctx.db, owed, mayBeAgain);
  // A callback that was tried inline had no other before it.
  if (before !== null && failed === undefined) {
    await oweBehind(ctx, before, owed, after);
    return false;
  }
  const { delayMs = 0, ...error } = failed ?? {};
  await planNext(ctx, await insertOwed(ctx, { ...owed, ...error }, after), 0, delayMs);
  return true;
}

/** Records an end that is delivered when the one before it has been: nothing is planned for it until then. */
async function oweBehind(
  ctx: MutationCtx,
  before: Doc<"callbacks">,
  owed: PendingCallback,
  after: Doc<"callbacks"> | null,
): Promise<void> {
  let last = before;
  // The first of two ends that one transaction has brought may have been inserted after the second.
  while (after === null && last.next !== undefined) {
    const next = await ctx.db.get("callbacks", last.next);
    if (next === null) break;
    last = next;
  }
  await ctx.db.patch("callbacks", last._id, { next: await insertOwed(ctx, owed, after) });
}

/** `after`: a later end, which was the last and is to wait for this one. */
async function insertOwed(
  ctx: MutationCtx,
  owed: PendingCallback & { error?: string },
  after: Doc<"callbacks"> | null,
): Promise<Id<"callbacks">> {
  const row = { ...owed, state: "owed" as const, tries: 0, dueAt: Infinity };
  if (after === null) return await ctx.db.insert("callbacks", row);
  if (after.planned !== undefined) await ctx.scheduler.cancel(after.planned);
  await ctx.db.patch("callbacks", after._id, { dueAt: Infinity, planned: undefined });
  return await ctx.db.insert("callbacks", { ...row, next: after._id });
}

/**
 * Of the ends of the same job that are still owed the last one `before` this end; and where it `mayBeAgain`, the first one
 * `after` it, of this attempt or a later one. A job that ends for the first time has none, and costs no read.
 */
async function lastOwed(
  db: DatabaseReader,
  { job, again, attempt }: PendingCallback,
  mayBeAgain: boolean,
): Promise<{ before: Doc<"callbacks"> | null; after: Doc<"callbacks"> | null }> {
  let after: Doc<"callbacks"> | null = null;
  if (again !== true && !mayBeAgain) return { before: null, after };
  const latestFirst = db
    .query("callbacks")
    .withIndex("job", (q) => q.eq("job", job).eq("state", "owed"))
    .order("desc");
  for await (const row of latestFirst) {
    if (!mayBeAgain || row.attempt < attempt) return { before: row, after };
    after = row;
  }
  return { before: null, after };
}

/**
 * Whether the result that the job names is still to be delivered: the delivery deletes it, if the job no longer names
 * it then. (With a copy of the result in each row that is owed, 24 jobs with results of 64 KiB that end in one call write
 * half as much again: 132 KB per job instead of 88.)
 */
export async function isResultOwed(db: DatabaseReader, job: Doc<"jobs">): Promise<boolean> {
  const { result } = job;
  if (result === undefined || "inline" in result) return false;
  const row = await db
    .query("callbacks")
    .withIndex("result", (q) => q.eq("outcome.result.row", result.row))
    .first();
  return row !== null;
}

/** When the plan of the owed callback that comes first counts as dead; `null` if none is owed. */
export async function nextDebtAt(db: DatabaseReader): Promise<number | null> {
  const [first] = await db
    .query("callbacks")
    .withIndex("state", (q) => q.eq("state", "owed"))
    .take(RANGE_ROWS);
  return first === undefined ? null : first.dueAt + CALLBACK_OVERDUE_MS + JANITOR_SLACK_MS;
}

// --- Alone ---------------------------------------------------------------------------------------

/**
 * Starts the next try, or gives up after the tenth. Fenced by `tries`: of two plans for one try, the second does
 * nothing. Reads the last try's scheduled function, which by now has nearly always ended.
 */
export const planCallback = internalMutation({
  args: { id: v.id("callbacks"), tries: v.number() },
  returns: v.null(),
  handler: async (ctx, { id, tries }): Promise<null> => {
    const row = await ctx.db.get("callbacks", id);
    if (row?.state !== "owed" || row.tries !== tries) return null;
    const last = await lastTry(ctx, row);
    if (last.kind === "ended" && (tries >= CALLBACK_TRIES_MAX || hasWaited(row))) {
      await giveUp(ctx, row, last.error ?? row.error ?? "unknown");
      return null;
    }
    // A try that still runs (it retries conflicts by itself) is waited for, and not counted again.
    const running = last.kind === "running";
    const started = running ? {} : await startTry(ctx, row);
    const counted = running ? tries : tries + 1;
    const error = last.kind === "ended" ? { error: last.error } : {};
    await ctx.db.patch("callbacks", id, { ...started, ...error, tries: counted });
    await planNext(
      ctx,
      id,
      counted,
      backoffMs(counted, CALLBACK_BACKOFF_MS, CALLBACK_BACKOFF_MAX_MS),
    );
    return null;
  },
});

/**
 * Whether it has waited for earlier ends of its job for longer than ten tries take. It then has one try: ends would
 * pile up where rounds are quicker than a broken callback is given up.
 */
function hasWaited({ again, _creationTime }: Doc<"callbacks">): boolean {
  return again === true && Date.now() - _creationTime > CALLBACK_WAIT_MAX_MS;
}

/** Keeps of a job the last outcome that could not be delivered, for people to see, and forgets the ones before. */
async function giveUp(ctx: MutationCtx, row: Doc<"callbacks">, error: string): Promise<void> {
  const rows = await ctx.db
    .query("callbacks")
    .withIndex("job", (q) => q.eq("job", row.job).eq("state", "dead"))
    .take(RANGE_ROWS);
  for (const earlier of rows) {
    await ctx.db.delete("callbacks", earlier._id);
    await discardForgotten(ctx, earlier);
  }
  await ctx.db.patch("callbacks", row._id, { state: "dead", error, next: undefined });
  const job = await ctx.db.get("jobs", row.job);
  logAlways("error", "callbackGivenUp", { job: row.job, name: job?.name, tries: row.tries, error });
  await startNext(ctx, row);
}

/** One try: the callback's writes and the end of the debt are one transaction. */
export const tryCallback = internalMutation({
  args: { id: v.id("callbacks") },
  returns: v.null(),
  handler: async (ctx, { id }): Promise<null> => {
    const row = await ctx.db.get("callbacks", id);
    if (row?.state !== "owed") return null;
    await ctx.db.delete("callbacks", id);
    await call(ctx, row);
    // The next plan would find nothing; not running it saves a call.
    if (row.planned !== undefined) await ctx.scheduler.cancel(row.planned);
    await startNext(ctx, row);
    await discardForgotten(ctx, row);
    return null;
  },
});

async function startTry(ctx: MutationCtx, row: Doc<"callbacks">) {
  return {
    trying: await ctx.scheduler.runAfter(0, internal.edges.callbacks.tryCallback, { id: row._id }),
  };
}

/** The next end of the job has waited for this one. */
async function startNext(ctx: MutationCtx, { next }: Doc<"callbacks">): Promise<void> {
  if (next === undefined || (await ctx.db.get("callbacks", next)) === null) return;
  await planNext(ctx, next, 0, 0);
  await ensureSweep(ctx, Date.now() + CALLBACK_OVERDUE_MS, Date.now());
}

/** Plans the next check of the row: the first, or one in case the try that was just started leaves it. */
async function planNext(
  ctx: MutationCtx,
  id: Id<"callbacks">,
  tries: number,
  delayMs: number,
): Promise<void> {
  const planned = await ctx.scheduler.runAfter(delayMs, internal.edges.callbacks.planCallback, {
    id,
    tries,
  });
  await ctx.db.patch("callbacks", id, { planned, dueAt: Date.now() + delayMs });
}

/**
 * Plans an overdue callback anew: a `plan` that was scheduled under a canceled function was born canceled, and nothing
 * else would ever check. Fenced like any other plan, should the old one run after all.
 */
export async function replan(ctx: MutationCtx, id: Id<"callbacks">): Promise<void> {
  const row = await ctx.db.get("callbacks", id);
  if (row?.state === "owed") await planNext(ctx, id, row.tries, CALLBACK_BACKOFF_MS);
}

type LastTry = { kind: "none" } | { kind: "running" } | { kind: "ended"; error: string };

/** How the last try went. Had it succeeded, its row would be gone. */
async function lastTry(ctx: MutationCtx, row: Doc<"callbacks">): Promise<LastTry> {
  if (row.trying === undefined) return { kind: "none" };
  const state = (await ctx.db.system.get("_scheduled_functions", row.trying))?.state;
  switch (state?.kind) {
    case "pending":
    case "inProgress":
      return { kind: "running" };
    case "failed":
      return { kind: "ended", error: cutError(state.error) };
    default:
      return { kind: "ended", error: "The scheduled function that was to tell it was canceled." };
  }
}

/**
 * A job that was retried in the meantime has let go of the result that was delivered here: no other transaction will
 * delete it.
 */
async function discardForgotten(
  ctx: MutationCtx,
  { job, outcome }: PendingCallback,
): Promise<void> {
  if (outcome.status !== "succeeded" || "inline" in outcome.result) return;
  const { result } = outcome;
  const there = await ctx.db.get("jobs", job);
  const kept = there?.result !== undefined && "row" in there.result ? there.result.row : undefined;
  if (kept === result.row) return;
  if (there !== null && (await isResultOwed(ctx.db, { ...there, result }))) return;
  await discard(ctx, result);
}

// --- The call itself -----------------------------------------------------------------------------

async function call(ctx: MutationCtx, owed: PendingCallback): Promise<void> {
  const job = await ctx.db.get("jobs", owed.job);
  // The job has been deleted, and its payload with it: its deleter does not want the callback.
  if (job === null) return;
  const handle = owed.handle as FunctionHandle<"mutation", any>;
  if (isWork(job.queue)) {
    const result = workResult(await readOutcome(ctx, owed.outcome));
    await ctx.runMutation(handle, { workId: owed.job, ...(await contextOf(ctx, job)), result });
    return;
  }
  const args: OnCompleteArgs = {
    id: owed.job,
    queue: job.queue,
    payload: await load(ctx.db, job.payload),
    ...(await contextOf(ctx, job)),
    ...(job.name === undefined ? {} : { name: job.name }),
    outcome: await readOutcome(ctx, owed.outcome),
    attempt: owed.attempt,
    ...(owed.worker === undefined ? {} : { worker: owed.worker }),
  };
  await ctx.runMutation(handle, args);
}

async function contextOf(ctx: MutationCtx, { context }: Doc<"jobs">): Promise<{ context?: Value }> {
  return context === undefined ? {} : { context: await load(ctx.db, context) };
}

async function readOutcome(
  ctx: MutationCtx,
  outcome: PendingCallback["outcome"],
): Promise<FinalOutcome> {
  if (outcome.status !== "succeeded") return outcome;
  return { status: "succeeded", result: await load(ctx.db, outcome.result) };
}
