/**
 * The rows of crons: each cron's function, its next run, and the ends of its last runs. As on the platform these are
 * three tables, so that a run, which writes the time of the next, does not touch the table that a push compares.
 */
import type { Doc, Namespace, TableSpec, Transaction } from "../../engine/types.js";
import type { CronSpec } from "../types.js";

export const CRON_JOBS = "_cron_jobs";
export const CRON_NEXT_RUN = "_cron_next_run";
export const CRON_LOGS = "_cron_job_logs";

export const NEXT_RUN_INDEX = "by_due";

export const CRON_TABLES: TableSpec[] = [
  { name: CRON_JOBS, indexes: [{ name: "by_name", fields: ["name"] }] },
  {
    name: CRON_NEXT_RUN,
    indexes: [
      { name: NEXT_RUN_INDEX, fields: ["due"] },
      { name: "by_cron_job_id", fields: ["cronJobId"] },
    ],
  },
  { name: CRON_LOGS, indexes: [{ name: "by_name_and_ts", fields: ["name", "ts"] }] },
];

/** Runs of one cron that are remembered. model/src/cron_jobs: MAX_LOGS_PER_CRON. */
export const MAX_LOGS_PER_CRON = 5;

const SYSTEM = { system: true } as const;

export interface CronRow extends Doc {
  name: string;
  /** A `CronSpec` as JSON text: compared as a whole. */
  spec: string;
}

export interface NextRunRow extends Doc {
  cronJobId: string;
  /** "inProgress" of an action only: a mutation's run and its row change together. */
  state: "pending" | "inProgress";
  /** When the run before was due, ms. */
  previous: number | null;
  /** When it is due, ms. */
  due: number;
}

export type CronOutcome =
  | { kind: "success" }
  | { kind: "failed"; error: string }
  /** Runs that had become due while the one before was still running, or nothing ran at all. */
  | { kind: "skipped"; runs: number };

export function specOf({ spec }: CronRow): CronSpec {
  return JSON.parse(spec) as CronSpec;
}

export async function readCron(
  tx: Transaction,
  namespace: Namespace,
  id: string,
): Promise<CronRow | null> {
  return (await tx.get(namespace, id, { ...SYSTEM, table: CRON_JOBS })) as CronRow | null;
}

export async function readNextRun(
  tx: Transaction,
  namespace: Namespace,
  id: string,
): Promise<NextRunRow | null> {
  return (await tx.get(namespace, id, { ...SYSTEM, table: CRON_NEXT_RUN })) as NextRunRow | null;
}

export async function writeNextRun(
  tx: Transaction,
  namespace: Namespace,
  { _id }: NextRunRow,
  change: Partial<Pick<NextRunRow, "state" | "previous" | "due">>,
): Promise<void> {
  await tx.patch(namespace, _id, change, CRON_NEXT_RUN, SYSTEM);
}

export async function insertCron(
  tx: Transaction,
  namespace: Namespace,
  name: string,
  spec: CronSpec,
  due: number,
): Promise<void> {
  const row = { name, spec: JSON.stringify(spec) };
  const cronJobId = await tx.insert(namespace, CRON_JOBS, row, SYSTEM);
  const next = { cronJobId, state: "pending", previous: null, due };
  await tx.insert(namespace, CRON_NEXT_RUN, next, SYSTEM);
}

export async function replaceSpec(
  tx: Transaction,
  namespace: Namespace,
  { _id }: CronRow,
  spec: CronSpec,
): Promise<void> {
  await tx.patch(namespace, _id, { spec: JSON.stringify(spec) }, CRON_JOBS, SYSTEM);
}

/** With the records of its runs. */
export async function deleteCron(
  tx: Transaction,
  namespace: Namespace,
  cron: CronRow,
): Promise<void> {
  await tx.delete(namespace, cron._id, CRON_JOBS, SYSTEM);
  const next = await nextRunOf(tx, namespace, cron);
  if (next !== null) await tx.delete(namespace, next._id, CRON_NEXT_RUN, SYSTEM);
  await deleteLogs(tx, namespace, cron.name, 0);
}

export async function listCrons(tx: Transaction, namespace: Namespace): Promise<CronRow[]> {
  return (await all(tx, namespace, CRON_JOBS, "by_name")) as CronRow[];
}

export async function nextRunOf(
  tx: Transaction,
  namespace: Namespace,
  { _id }: CronRow,
): Promise<NextRunRow | null> {
  const [next] = await all(tx, namespace, CRON_NEXT_RUN, "by_cron_job_id", {
    field: "cronJobId",
    is: _id,
  });
  return (next ?? null) as NextRunRow | null;
}

/** Remembers how a run ended, and forgets the oldest. */
export async function logRun(
  tx: Transaction,
  namespace: Namespace,
  { name }: CronRow,
  run: { ts: number; outcome: CronOutcome; executionTime: number },
): Promise<void> {
  await tx.insert(namespace, CRON_LOGS, { name, ...run }, SYSTEM);
  await deleteLogs(tx, namespace, name, MAX_LOGS_PER_CRON);
}

async function deleteLogs(
  tx: Transaction,
  namespace: Namespace,
  name: string,
  kept: number,
): Promise<void> {
  const logs = await all(tx, namespace, CRON_LOGS, "by_name_and_ts", { field: "name", is: name });
  for (const { _id } of logs.slice(0, Math.max(0, logs.length - kept))) {
    await tx.delete(namespace, _id, CRON_LOGS, SYSTEM);
  }
}

async function all(
  tx: Transaction,
  namespace: Namespace,
  table: string,
  index: string,
  where?: { field: string; is: string },
): Promise<Doc[]> {
  const rows: Doc[] = [];
  const range = where ? [{ type: "Eq" as const, fieldPath: where.field, value: where.is }] : [];
  for await (const row of tx.stream(namespace, { table, index, range, order: "asc", ...SYSTEM })) {
    rows.push(row);
  }
  return rows;
}
