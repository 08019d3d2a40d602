/** Shared questions of checkers about jobs, answered from the rows alone and not by the product's own code. */
import { isFinished, type Status } from "../../../src/shared/index.js";
import { turnOf, type Turn, type Work } from "../app/payload.js";
import { LOOP } from "../app/names.js";
import { isRows } from "../workloads/rows.js";
import { COMPONENT } from "../deployment.js";
import type { Change, Commit, Row, Tables } from "../observed.js";
import type { Asked } from "../part.js";

/** The worker that misuses its leases: see `faults/liars.ts`. */
export const LIAR = "liar";

/** Changes except of rows that came and went within the commit. */
export function changed(commit: Commit, table: string, namespace = COMPONENT): Change[] {
  return commit.changes.filter(
    (change) =>
      change.table === table &&
      change.namespace === namespace &&
      (change.before !== null || change.after !== null),
  );
}

export const changedJobs = (commit: Commit): Change[] => changed(commit, "jobs");

/** Whether a caller has asked for a job to be deleted, alone or with more of its queue. */
export function isDeletionAsked(asked: readonly Asked[], id: string, queue: unknown): boolean {
  return asked.some(
    ({ what, args }) =>
      (what === "handle" && args.how === "deleteJob" && args.id === id) ||
      (what === "changeMany" && args.how === "deleteMany" && args.queue === queue),
  );
}

/** Rows of the app's own that came with the commit. */
export function insertedIn(commit: Commit, table: string, namespace = ""): Row[] {
  return changed(commit, table, namespace).flatMap(({ before, after }) =>
    before === null && after !== null ? [after] : [],
  );
}

export const statusOf = (row: Row | null | undefined): Status | undefined =>
  row?.["status"] as Status | undefined;

export function hasEnded(row: Row | null | undefined): boolean {
  return row !== null && row !== undefined && isFinished(row["status"] as Status);
}

/** Whether a job that waits has expired, or its deadline has passed. */
export function isOutOfTime({ attempt, expiresAt, deadline }: Row, date: number): boolean {
  const hasExpired = attempt === 0 && expiresAt !== undefined && expiresAt <= date;
  return hasExpired || deadline?.isPassed === true || (deadline?.at ?? Infinity) <= date;
}

/** Whether the job, as its row says now, leaves itself to such a worker. */
export function isLeftTo(job: Row, name: unknown, labels: readonly string[] = []): boolean {
  const { worker = name, labels: wanted = [] } = (job["prefer"] ?? {}) as {
    worker?: unknown;
    labels?: string[];
  };
  return worker === name && wanted.every((label) => labels.includes(label));
}

/** One attempt of one job, as a key. */
export const attemptKey = (job: string, attempt: number): string => `${job}/${attempt}`;

/** Which attempt has begun with this change, if one has. */
export function claimedBy({ before, after }: Change): number | null {
  if (after === null) return null;
  const [was, is] = [(before?.["attempt"] ?? 0) as number, after["attempt"] as number];
  return is > was ? is : null;
}

/**
 * Which attempt has ended with this change, if one has: also where another began at once, and where it had begun in the same
 * commit, as that of a row that asks for its end.
 */
export function endedBy(change: Change): number | null {
  const { before, after } = change;
  if (before?.["status"] !== "running") {
    return statusOf(after) === "running" ? null : claimedBy(change);
  }
  const attempt = before["attempt"] as number;
  const goesOn = after?.["status"] === "running" && after["attempt"] === attempt;
  return goesOn ? null : attempt;
}

/** How a round of a circular queue's item ended with this change, if one did. */
export function roundBy({ before, after }: Change): "succeeded" | "failed" | null {
  if (before === null || after === null) return null;
  if ((after["rounds"] ?? 0) === (before["rounds"] ?? 0)) return null;
  return after["failures"] === undefined ? "succeeded" : "failed";
}

/** The configuration in force for a queue. */
export function configOf(tables: Tables, queue: string): Row {
  const row = tables.all("queues").find(({ name }) => name === queue);
  const settings = { graceMs: 0, retry: { maxAttempts: 1 }, restMs: 0, maxParallelism: 10 };
  return { ...settings, ...row?.["config"], ...row?.["overrides"] } as Row;
}

/** The rules in force for a job: its own before its queue's. */
export function rulesOf(tables: Tables, job: Row): Row {
  const own =
    job["rules"] === undefined ? undefined : tables.get("jobRules", job["rules"] as string);
  return { ...configOf(tables, job["queue"] as string), ...own?.["rules"] };
}

/** A stored value, inline or in a row of its own. */
export function storedIn(tables: Tables, stored: any): any {
  if (stored === undefined) return undefined;
  return "inline" in stored ? stored.inline : tables.get("payloads", stored.row)?.["value"];
}

/** Of a job that is a row of the app's, that row. A loop's batch has no work of its own. */
export function workOf(tables: Tables, job: Row): Work | undefined {
  const stored: unknown = storedIn(tables, job["payload"]);
  if (job["queue"] === LOOP) return undefined;
  if (!isRows(job["queue"])) return stored as Work | undefined;
  return tables.ofApp(job["queue"] as string, stored as string) as unknown as Work | undefined;
}

/** The handler's behaviour in this attempt. */
export function turnIn(tables: Tables, job: Row, attempt: number): Turn | undefined {
  const work = workOf(tables, job);
  return work === undefined ? undefined : turnOf(work, attempt);
}
