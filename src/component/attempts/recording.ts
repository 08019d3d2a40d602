/**
 * Records what a session reports: checks for every outcome that the lease is the session's, moves the job, and answers
 * for each by itself. Does not write the session's row, and runs no callback: that is its caller's.
 *
 * Reads for real: each job reported; of one that the session does not hold, its row of `attempts`; of retried jobs, the
 * alarms that will come for them, but as a rule none that is about to ring; of the first that its queue's handler did
 * not run, the last events of the queue.
 */
import { isMismatch, type Answer, type Finished, type Outcome } from "../../shared/index.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { findAttempt } from "./attemptRows.js";
import { recordMismatch } from "./blocked.js";
import { forgetAsked } from "../rows/cancels.js";
import { recordContinued } from "./continued.js";
import type { EdgeCtx } from "../rows/effects.js";
import { findLease, type HeldLease, type Session } from "../rows/sessions.js";
import { findJob } from "../rows/jobs.js";
import { recordOutcome } from "./outcomes.js";
import { getQueue, type Queue } from "../rows/queues.js";

interface Recorded {
  answers: Answer[];
  /** The session's remaining leases. */
  leases: HeldLease[];
}

/** Of a session as much as it takes to know its leases. */
export type Holding = Pick<Session, "_id" | "leases">;

/** A lane alone knows of handlers that could not be begun: a worker's word for that counts as any snooze or failure. */
export type Reporter = "lane" | "worker";

/**
 * Records the outcomes that are the session's to report. Each gets an answer of its own; a stale one undoes no other.
 * `queue`: read by this transaction. For all of a call, a queue is as the call found it.
 */
export async function recordAll(
  ctx: EdgeCtx,
  session: Holding,
  finished: readonly Finished[],
  reporter: Reporter,
  queue?: Queue,
): Promise<Recorded> {
  const answers: Answer[] = [];
  let leases = session.leases;
  const rows = await rowsOf(ctx.db, session, finished);
  const queues = new Map(queue === undefined ? [] : [[queue.name, queue]]);
  let areFresh = true;
  let isMismatched = false;
  for (const one of finished) {
    const { id, attempt } = one;
    // Searched among the remaining leases, so that an attempt reported twice in one call is recorded once.
    const held = findLease({ leases }, id, attempt);
    const known = areFresh && held !== undefined ? rows.get(held.id) : undefined;
    const job =
      held === undefined ? null : known !== undefined ? known : await ctx.db.get("jobs", held.id);
    leases = leases.filter((lease) => lease !== held);
    if (held !== undefined && job === null) await forgetAsked(ctx.db, held.id);
    if (held === undefined || job?.status !== "running" || job.attempt !== attempt) {
      answers.push({ id, attempt, answer: await answerUnheld(ctx, session, one) });
      continue;
    }
    const of = queues.get(job.queue) ?? (await getQueue(ctx.db, job.queue));
    queues.set(job.queue, of);
    const { outcome } = one;
    const reported = { ...one, outcome: reporter === "worker" ? ofWorker(outcome) : outcome };
    // A lane's jobs are of one queue: one read of its events in a call.
    if (!isMismatched && reporter === "lane" && isMismatchOf(outcome)) {
      isMismatched = true;
      await recordMismatch(ctx, job, outcome.error, ctx.now);
    }
    await recordOne(ctx, of, job, reported);
    // A job to follow may take the place of any other job.
    areFresh &&= (one.continued ?? []).length === 0;
    answers.push({ id, attempt, answer: "ok" });
  }
  return { answers, leases };
}

/**
 * An app's inline handler that fails without another attempt, with a text that begins so, is taken for one: it brings about an
 * event of its own queue in ten minutes, and its job has failed as it said.
 */
function isMismatchOf(outcome: Outcome): outcome is Extract<Outcome, { kind: "failed" }> {
  return outcome.kind === "failed" && outcome.retryable === false && isMismatch(outcome.error);
}

/** That a handler of the deployment could not be begun is a lane's to say. */
function ofWorker(outcome: Outcome): Outcome {
  if (outcome.kind !== "snoozed") return outcome;
  return { kind: outcome.kind, runAfter: outcome.runAfter };
}

/** The jobs reported, read at once in the time that one takes. */
async function rowsOf(
  db: DatabaseReader,
  session: Holding,
  finished: readonly Finished[],
): Promise<Map<Id<"jobs">, Doc<"jobs"> | null>> {
  const held = finished.flatMap(({ id, attempt }) => findLease(session, id, attempt)?.id ?? []);
  return new Map(
    await Promise.all(
      held.map(async (id): Promise<[Id<"jobs">, Doc<"jobs"> | null]> => {
        return [id, await db.get("jobs", id)];
      }),
    ),
  );
}

async function recordOne(
  ctx: EdgeCtx,
  queue: Queue,
  job: Doc<"jobs">,
  { outcome: reported, fits, continued: following = [] }: Finished,
): Promise<void> {
  const isForeign = reported.kind === "succeeded" && fits?.includes(job.queue) === false;
  const outcome = isForeign ? foreign(job, fits) : reported;
  const continued = isForeign ? [] : following;
  if (continued.length > 0) await recordContinued(ctx, queue, job, outcome, continued);
  else await recordOutcome(ctx, queue, job, outcome);
}

function foreign({ queue }: Doc<"jobs">, fits: readonly string[]): Outcome {
  const others = fits.map((name) => `"${name}"`).join(", ");
  const error = `The handler's result fits ${others}, and not its job's queue "${queue}". The job counts as failed.`;
  return { kind: "failed", error };
}

/** The answer for a lease that the session does not hold. Nothing is written: it may be late, repeated or foreign. */
async function answerUnheld(
  ctx: EdgeCtx,
  session: Holding,
  { id, attempt, outcome }: Finished,
): Promise<Answer["answer"]> {
  const job = await findJob(ctx.db, id);
  if (job === null) return "leaseLost";
  const isIts = job.attempt === attempt && job.session === session._id;
  if (isIts && (job.status === "succeeded" || job.status === "failed")) return "recorded";
  // The job may have moved on since: it backs off, or another has it.
  const row = await findAttempt(ctx.db, job._id, attempt);
  if (!isIts && row?.session !== session._id) return "leaseLost";
  if (job.attempt === attempt && job.status === "canceled") return "canceled";
  if (row === null) return "leaseLost";
  // By its session's word or, when that had fallen silent, without it: nothing else that it may say of it stands.
  if (row.outcome === "canceled") return "canceled";
  // Noticed by either side, it has ended as its session says.
  if (row.outcome === "timedOut" && outcome.kind === "failed" && outcome.timedOut === true)
    return "recorded";
  return REPORTED.has(row.outcome) ? "recorded" : "leaseLost";
}

/** Ends of attempts that only their session's word brings about. */
const REPORTED: ReadonlySet<string> = new Set(["failed", "released", "snoozed"]);
