/**
 * After each step: lets the model make the changes that time alone may have made by now, as far as the component has made them,
 * and compares everything. A change that is overdue is an error, and so is one that is not allowed.
 */
import type { Doc } from "../../src/component/_generated/dataModel.js";
import {
  type FinishedStatus,
  msOfCommit,
  ORDER_PAUSED,
  RETENTION_DEFAULT,
} from "../../src/shared/index.js";
import { isActive, type Job, type Lease, type Session } from "./jobs.js";
import { type Model } from "./model.js";
import type { Seen } from "./world.js";

/** Alarms ring at the end of a segment, expiry to a second, and sweeps a little after a lease's end. */
const SLACK_MS = 1_500;

/** The purge waits until jobs are counted, and their callbacks have run, and comes once a minute. */
const PURGE_SLACK_MS = 300_000;

/** Edges that time alone may walk in one step: promoted, and expired; or lost, waited, and promoted. */
const WALKS_MAX = 4;

export class Mismatch extends Error {}

export function expect(isSo: boolean, what: string, about?: unknown): asserts isSo {
  if (isSo) return;
  const text = JSON.stringify(about, (_key, value: unknown) => {
    if (typeof value === "bigint") return value.toString();
    if (value instanceof Set || value instanceof Map) return [...value];
    return value;
  });
  throw new Mismatch(about === undefined ? what : `${what}: ${text}`);
}

export function follow(model: Model, seen: Seen, now: number): void {
  const rows = new Map(seen.jobs.map((row) => [row._id as string, row]));
  const lastSeq = model.jobs.reduce((last, job) => (job.seq > last ? job.seq : last), 0n);
  for (const job of model.jobs) {
    const row = rows.get(job.id);
    if (row === undefined && !job.isDeleted && keptUntil(model, job) <= now) model.delete(job);
    expect((row === undefined) === job.isDeleted, "a job is there until it is deleted", job);
    if (row === undefined) continue;
    rows.delete(job.id);
    for (let walks = 0; !agrees(job, row); walks += 1) {
      const moved = walks < WALKS_MAX && goOn(model, job, row, now);
      expect(moved, "the component walks allowed edges only", { now, job, row });
    }
    expect(mustMoveBy(model, job) > now, "a due change is made in time", { now, job, row });
    compare(model, job, row, lastSeq);
  }
  expect(rows.size === 0, "no job comes from nowhere", [...rows.values()]);
  for (const session of model.sessions) compareSession(model, session, seen, now);
  compareKeys(model, seen, now);
  compareTold(model, seen);
}

const COUNTS = ["attempt", "failures", "resets", "releases"] as const;

function agrees(job: Job, row: Doc<"jobs">): boolean {
  return (
    job.status === row.status &&
    COUNTS.every((field) => job[field] === (row[field] ?? 0)) &&
    job.rounds === (row.rounds ?? 0)
  );
}

// --- Changes by time ----------------------------------------------------------------------------

function leaseOf(model: Model, job: Job): { session: Session; lease: Lease } {
  for (const session of model.sessions) {
    const lease = session.leases.find(({ id }) => id === job.id);
    if (lease !== undefined) return { session, lease };
  }
  throw new Error("The model itself is wrong: a running job has no lease.");
}

/** One edge towards the component's state, if it may have been walked by now. */
function goOn(model: Model, job: Job, row: Doc<"jobs">, now: number): boolean {
  if (job.status === "running") return endLease(model, job, now, row);
  const { expiresAt = Infinity } = job;
  const waits = job.status === "scheduled" || job.status === "pending";
  if (waits && row.status === "failed" && job.attempt === 0 && expiresAt <= now) {
    model.expire(job);
    return true;
  }
  if (job.status !== "scheduled" || job.due.from > now) return false;
  model.promote(job, now);
  return true;
}

/** Ends a lease that is over: it ran too long, or its session vanished. `row`: the job's row after that, where it is known. */
export function endLease(
  model: Model,
  job: Job,
  now: number,
  row?: Pick<Doc<"jobs">, "failures" | "rounds">,
): boolean {
  const { session, lease } = leaseOf(model, job);
  const { timeoutAt = Infinity } = lease;
  const isLost = session.deadlineAt < now;
  const isOverlong = timeoutAt < now;
  if (!isLost && !isOverlong) return false;
  if (job.cancelRequested) {
    model.stop(job, null);
    return true;
  }
  const hasFailed =
    row !== undefined && ((row.failures ?? 0) > job.failures || (row.rounds ?? 0) > job.rounds);
  if (isOverlong && (!isLost || hasFailed)) {
    model.fail(job, { isTimeout: true }, { from: timeoutAt, to: now }, null);
    return true;
  }
  model.lose(job, !session.acknowledged && lease.n === session.n, now);
  return true;
}

/** When time must have moved the job at the latest. */
function mustMoveBy(model: Model, job: Job): number {
  const expiry = job.attempt === 0 && job.expiresAt !== undefined ? job.expiresAt : Infinity;
  switch (job.status) {
    case "scheduled":
      return Math.min(job.due.to, expiry) + SLACK_MS;
    case "pending":
      return expiry + SLACK_MS;
    case "running": {
      const { session, lease } = leaseOf(model, job);
      return Math.min(session.deadlineAt, lease.timeoutAt ?? Infinity) + SLACK_MS;
    }
    default:
      return Math.max(keptUntil(model, job), model.configuredAt) + PURGE_SLACK_MS;
  }
}

/** Until when a job is kept at least. */
function keptUntil({ config }: Model, { status, seq, hasMoved }: Job): number {
  if (isActive(status) || hasMoved) return Infinity;
  const retention = config.retention ?? RETENTION_DEFAULT;
  return msOfCommit(seq) + retention[`${status as FinishedStatus}Ms`];
}

// --- The comparison -----------------------------------------------------------------------------

function compare(model: Model, job: Job, row: Doc<"jobs">, lastSeq: bigint): void {
  const about = { job, row };
  const seq = row.seq as bigint;
  if (job.hasMoved) expect(seq > lastSeq, "a job that moves has a new seq", about);
  else expect(seq === job.seq, "a job that does not move keeps its seq", about);
  Object.assign(job, { seq, createdAt: row._creationTime, hasMoved: false });
  expect(job.paused === (row.paused ?? false), "the mark as paused is right", about);
  const isAsked = row.cancelRequestedAt !== undefined;
  expect(job.cancelRequested === isAsked, "the request to end is right", about);
  if (isActive(job.status)) expect(job.expiresAt === row.expiresAt, "when it expires", about);
  if (job.status === "scheduled") {
    const { from, to } = job.due;
    expect(from <= row.order && row.order <= to, "when it is due", about);
    job.due = { from: row.order, to: row.order };
  }
  if (job.status === "pending") compareBand(job, row);
  if (job.status === "running") {
    const { session } = leaseOf(model, job);
    expect(row.worker === session.name, "the session is right", about);
  }
  if (!isActive(job.status)) expect(row.finishedAt !== undefined, "when it ended", about);
}

function compareBand(job: Job, row: Doc<"jobs">): void {
  const first = 2 * (10 - job.priority);
  // Where nothing says whether it goes first, the component decides.
  if (!job.paused) job.isFirst ??= row.order === first;
  const order = job.paused ? ORDER_PAUSED : first + (job.isFirst === true ? 0 : 1);
  expect(row.order === order, "its band fits its priority and its last edge", {
    job,
    row,
  });
}

function compareSession(model: Model, session: Session, seen: Seen, now: number): void {
  const row = seen.sessions.find((one) => one.sessionKey === session.sessionKey);
  if (row === undefined)
    return expect(session.leases.length === 0, "a session with leases has a row", session);
  const isThere = ({ id, attempt }: { id: string; attempt: number }) =>
    row.leases.some((lease) => lease.id === id && lease.attempt === attempt);
  // Of a job that was deleted only the lease is left, and goes in silence.
  session.leases = session.leases.filter((lease) => {
    const ends = Math.min(session.deadlineAt, lease.timeoutAt ?? Infinity);
    const mayGo = model.find(lease.id)!.isDeleted && ends < now;
    return isThere(lease) || !mayGo;
  });
  const about = { session, leases: row.leases };
  expect(row.leases.length === session.leases.length, "as many leases as the model", about);
  expect(session.leases.every(isThere), "the very leases", about);
  session.deadlineAt = model.deadlineOf(session);
  const asked = seen.cancels.filter((cancel) => cancel.sessionKey === session.sessionKey);
  const ids = (list: { id: string }[]) =>
    list
      .map(({ id }) => id)
      .sort()
      .join();
  expect(
    ids(asked.map(({ job }) => ({ id: job }))) === ids(session.leases.filter((l) => l.isAsked)),
    "a job that is asked to end has one row, and no other job has any",
    { session, asked },
  );
}

function compareKeys(model: Model, seen: Seen, now: number): void {
  const text = (key: string, job: string, until?: number) => `${key} ${job} ${until ?? ""}`;
  const isKept = ({ until }: { until?: number }) => until === undefined || until > now;
  const theirs = seen.keys.filter(isKept).map((row) => text(row.key, row.job, row.until));
  const ours = [...model.keys]
    .filter(([, row]) => isKept(row))
    .map(([key, row]) => text(key, row.job.id, row.until));
  expect(theirs.sort().join("; ") === ours.sort().join("; "), "the keys have the right owners", {
    theirs,
    ours,
  });
}

const wordOf = ({ id, status, attempt }: { id: string; status: string; attempt: number }) =>
  `${id} ${status} ${attempt}`;

/** Called back at once, or soon after where the app's callback threw; with nothing else, and never twice. */
function compareTold(model: Model, seen: Seen): void {
  const expected = model.told.map(wordOf);
  for (const word of seen.told.map(wordOf)) {
    const i = expected.indexOf(word);
    expect(i >= 0, "each end has one callback, and there is no other", word);
    expected.splice(i, 1);
  }
}

/** Ends that still need their callback. */
export function untold(model: Model, seen: Seen): string[] {
  const words = seen.told.map(wordOf);
  return model.told.map(wordOf).filter((word) => {
    const i = words.indexOf(word);
    if (i >= 0) words.splice(i, 1);
    return i < 0;
  });
}
