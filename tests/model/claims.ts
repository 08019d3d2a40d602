/** Whether a claim was allowed to take its jobs, and to leave the rest. */
import type { ClaimedJob } from "../../src/shared/index.js";
import type { Wants } from "./commands.js";
import { endLease, expect } from "./follow.js";
import type { Job, Session } from "./jobs.js";
import type { Model } from "./model.js";

/** For so long a job that failed is left to workers that have not failed it. */
const AVOID_MS = 2_000;
const LEASES_MAX = 64;

/** The jobs that a claim with these wants may have now. */
export function claimable(model: Model, wants: Omit<Wants, "max">, now: number): Job[] {
  if (model.isPaused) return [];
  return model.there.filter((job) => job.status === "pending" && isFor(job, wants, now));
}

/** Whether jobs past their time wait for a claim with these wants: a query without a clock sees work in them, for a second. */
export function seesExpired(model: Model, wants: Omit<Wants, "max">, now: number): boolean {
  if (model.isPaused) return false;
  return model.there.some(
    (job) => job.status === "pending" && isOver(job, now) && fits(job, wants),
  );
}

function isFor(job: Job, wants: Omit<Wants, "max">, now: number): boolean {
  return !isOver(job, now) && fits(job, wants);
}

function fits(job: Job, { labels = [], maxCost, groups }: Omit<Wants, "max">): boolean {
  return (
    !job.paused &&
    job.labels.every((label) => labels.includes(label)) &&
    job.cost <= (maxCost ?? Infinity) &&
    (groups === undefined || (job.group !== undefined && groups.includes(job.group)))
  );
}

function isOver({ attempt, expiresAt = Infinity }: Job, now: number): boolean {
  return attempt === 0 && expiresAt <= now;
}

/** Changes the model as the claim has changed the component, or throws if the claim was not allowed to. */
export function followClaim(
  model: Model,
  session: Session,
  wants: Wants,
  replied: readonly ClaimedJob[],
  now: number,
): void {
  // Jobs that the same call has just given back are not in the snapshot of its scan.
  const before = claimable(model, wants, now).filter(({ hasMoved }) => !hasMoved);
  // Jobs that are found to have expired were picked as well: their room is the next claim's.
  const gone = model.there.filter((job) => job.status === "pending" && isOver(job, now)).length;
  const max = Math.min(wants.max, LEASES_MAX - session.leases.length);
  expect(replied.length <= max, "a claim gets no more than it asked for", replied);
  const taken: Job[] = [];
  for (const reply of replied) {
    const job = model.find(reply.id);
    expect(job !== undefined && !job.isDeleted, "a claim gets jobs that are there", reply);
    expect(!model.isPaused, "no claim takes from a paused queue", reply);
    // Taken over from a session with leases that are over.
    if (job.status === "running") {
      expect(endLease(model, job, now), "a job has one lease at most", { job, reply });
    }
    const isThere = job.status === "pending" && isFor(job, wants, now);
    expect(isThere, "a claim gets claimable jobs that fit it", { job, wants, now });
    expect(!taken.includes(job), "a claim gets a job once", reply);
    const { failures, resets } = job;
    const told = {
      attempt: job.attempt + 1,
      failures,
      resets,
      leaseMs: model.rulesOf(job).leaseMs,
    };
    for (const [field, value] of Object.entries(told)) {
      expect(reply[field as keyof ClaimedJob] === value, `a claim has the job's ${field}`, {
        job,
        reply,
      });
    }
    taken.push(job);
    model.claim(job, session, now);
  }
  const cost = taken.reduce((sum, job) => sum + job.cost, 0);
  expect(cost <= (wants.maxCost ?? Infinity), "a claim stays within its budget", taken);
  const left = before.filter((job) => !taken.includes(job));
  for (const job of left)
    judgeLeft(model, session, job, { wants, max: max - gone, before, taken }, now);
}

interface Took {
  wants: Wants;
  max: number;
  before: readonly Job[];
  taken: readonly Job[];
}

/** Whether this job might be left, while other jobs were taken or there was room. */
function judgeLeft(model: Model, session: Session, job: Job, took: Took, now: number): void {
  const { wants, max, before, taken } = took;
  if (isAvoided(model, session, job, now)) return;
  // Jobs taken over come last.
  const waited = taken.filter((one) => before.includes(one));
  // Within one priority only a queue with one shard keeps an order.
  const better = waited.filter((one) =>
    model.shards > 1 ? one.priority >= job.priority : goesBefore(one, job),
  );
  const spent = better.reduce((sum, one) => sum + one.cost, 0);
  if (job.cost > (wants.maxCost ?? Infinity) - spent) return;
  const about = { job, taken, wants };
  for (const one of waited) {
    expect(one.priority >= job.priority, "priorities are exact", about);
    const isInOrder = model.shards > 1 || !goesBefore(job, one);
    expect(isInOrder, "jobs of one priority are taken in the order of the line", about);
  }
  if (taken.length < max && model.shards === 1) {
    const cost = taken.reduce((sum, one) => sum + one.cost, 0);
    const fits = job.cost <= (wants.maxCost ?? Infinity) - cost;
    expect(!fits, "a claim with room leaves nothing that it may have", about);
  }
}

/** A preference only: while another worker serves the queue, and not for long. */
function isAvoided(model: Model, session: Session, job: Job, now: number): boolean {
  const others = model.sessions.some(
    ({ n, sessionKey: other }) => n > 0 && other !== session.sessionKey,
  );
  return others && job.failedBy.has(session.name) && now - job.pendingSince <= AVOID_MS + 1;
}

/** As they stood before the claim. */
function goesBefore(a: Job, b: Job): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  if (a.isFirst !== b.isFirst) return a.isFirst === true;
  if (a.seq !== b.seq) return a.seq < b.seq;
  return a.createdAt < b.createdAt;
}
