/**
 * Notes in the row of a job that are no edges: the job stays where it is, so its `seq` does too. Writes: `jobs`.
 * Conflicts with: every edge and note of the job; a transaction that only reads the job retries where the note
 * commits first.
 */
import type { Doc, Id } from "../_generated/dataModel.js";
import type { DatabaseWriter } from "../_generated/server.js";
import { cutError } from "./payloads.js";

type Job = Doc<"jobs">;

/**
 * `running` → `running`: a cancel asks for its end. No edge, and no new `seq`: it stays where it is until its attempt
 * ends. The row has room for one long text: a reason takes the place of the last error, which its attempt's row has.
 */
export async function requestCancel(
  db: DatabaseWriter,
  job: Job,
  now: number,
  reason?: string,
): Promise<void> {
  await db.patch("jobs", job._id, {
    cancelRequestedAt: now,
    ...(reason === undefined ? {} : { cancelReason: cutError(reason), error: undefined }),
  });
}

/**
 * Marks in the row of a running job that its deadline has passed, even for a transaction with a clock that is behind.
 */
export async function passDeadline(db: DatabaseWriter, { _id, deadline }: Job): Promise<void> {
  if (deadline === undefined) return;
  await db.patch("jobs", _id, { deadline: { ...deadline, isPassed: true } });
}

/** The preference of a job that is due later, or paused, is over: its place and `seq` stay. */
export async function preferNone(db: DatabaseWriter, { _id }: Job): Promise<void> {
  await db.patch("jobs", _id, { prefer: undefined });
}

/** Notes of a job that is scheduled or running whether it is paused when it becomes pending: its place and `seq` stay. */
export async function markPaused(db: DatabaseWriter, job: Job, paused: boolean): Promise<Job> {
  await db.patch("jobs", job._id, { paused: paused ? true : undefined });
  const { paused: _, ...rest } = job;
  return paused ? { ...rest, paused } : rest;
}

/** Notes of a running job which scheduled mutation is to record its outcome. */
export async function noteHandedOver(
  db: DatabaseWriter,
  { _id }: Job,
  wake: Id<"_scheduled_functions">,
): Promise<void> {
  await db.patch("jobs", _id, { wake });
}

/** The job's row goes. The caller deletes the job's other rows: see `remove.ts`. */
export async function deleteJob(db: DatabaseWriter, id: Id<"jobs">): Promise<void> {
  await db.delete("jobs", id);
}
