/**
 * The rows of scheduled functions: their shape, their tables, their states. Every change of a state is written here.
 *
 * A scheduled function is two documents of the namespace that scheduled it: its arguments, which never change, and its
 * row in `_scheduled_functions`, which changes with its state. So a change does not write the arguments again. With the
 * two indexes that every table has, they have seven entries. model/src/scheduled_jobs/mod.rs: schedule,
 * ScheduledJobsTable.
 *
 * Apps see the documented fields, with the arguments among them; `target` and `due` are the executor's. `due` is there
 * only while the function is pending or in progress, so that the index on it holds only these rows.
 */
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import type { Doc, Namespace, TableSpec, Transaction } from "../engine/types.js";
import { publicFile, STORAGE_SPEC, STORAGE_TABLE } from "../files/storageTable.js";
import type { ScheduledId } from "./scope.js";
import type { FunctionAddress } from "./types.js";

export const SCHEDULED_TABLE = "_scheduled_functions";
export const ARGS_TABLE = "_scheduled_job_args";
export const DUE_INDEX = "by_due";
export const COMPLETED_INDEX = "by_completed";

/** The tables that `db.system` can read. */
export const VISIBLE_SYSTEM_TABLES: ReadonlySet<string> = new Set([SCHEDULED_TABLE, STORAGE_TABLE]);

export const SYSTEM_TABLES: TableSpec[] = [
  {
    name: SCHEDULED_TABLE,
    indexes: [
      { name: DUE_INDEX, fields: ["due"] },
      { name: COMPLETED_INDEX, fields: ["completedTime"] },
      // The platform's dashboard reads it, and it is written like the other indexes.
      { name: "by_udf_path_and_next_event_ts", fields: ["name", "due"] },
    ],
  },
  STORAGE_SPEC,
  { name: ARGS_TABLE, indexes: [] },
];

const SYSTEM = { system: true } as const;

export type ScheduledState =
  | { kind: "pending" }
  | { kind: "inProgress" }
  | { kind: "success" }
  | { kind: "failed"; error: string }
  | { kind: "canceled" };

export interface ScheduledRow extends Doc {
  /** `mod.js:fn`. */
  name: string;
  argsId: string;
  /** When it was to run, ms. */
  scheduledTime: number;
  completedTime?: number;
  state: ScheduledState;
  target: { namespace: string; path: string };
  /** When it is to run, ms: `scheduledTime` or, if that had passed, when it was scheduled; later after a failure. */
  due?: number;
  /** Times that the platform, not the function, failed. */
  systemErrors: number;
}

/** A row as `db.system` shows it. */
export async function publicRow(
  tx: Transaction,
  namespace: Namespace,
  table: string,
  doc: Doc,
): Promise<Doc> {
  if (table === STORAGE_TABLE) return publicFile(doc);
  if (table !== SCHEDULED_TABLE) return doc;
  const { target: _target, due: _due, systemErrors: _systemErrors, argsId, ...documented } = doc;
  return { ...documented, args: await readArgs(tx, namespace, argsId as string) };
}

/** Of one scheduled function: its arguments. */
export async function argsOf(
  tx: Transaction,
  namespace: Namespace,
  { argsId }: ScheduledRow,
): Promise<JSONValue> {
  return convexToJson((await readArgs(tx, namespace, argsId))[0] ?? {});
}

async function readArgs(tx: Transaction, namespace: Namespace, id: string): Promise<Value[]> {
  const row = await tx.get(namespace, id, { ...SYSTEM, table: ARGS_TABLE });
  if (row === null) throw new Error(`A scheduled function has lost its arguments, ${id}.`);
  return row["args"] as Value[];
}

export interface NewScheduled {
  target: FunctionAddress;
  args: JSONValue;
  scheduledTime: number;
  /** Now, with a fraction: a function scheduled later in one transaction must not start earlier. */
  now: number;
}

/** Two inserts and no read, so transactions that schedule never conflict with one another. */
export async function insertScheduled(
  tx: Transaction,
  namespace: Namespace,
  { target, args, scheduledTime, now }: NewScheduled,
  canceled: boolean,
): Promise<string> {
  const colon = target.path.lastIndexOf(":");
  const argsId = await tx.insert(namespace, ARGS_TABLE, { args: [jsonToConvex(args)] }, SYSTEM);
  return tx.insert(
    namespace,
    SCHEDULED_TABLE,
    {
      name: `${target.path.slice(0, colon)}.js${target.path.slice(colon)}`,
      argsId,
      target: { namespace: target.namespace, path: target.path },
      systemErrors: 0,
      ...(canceled
        ? { state: { kind: "canceled" }, scheduledTime: now, completedTime: now }
        : { state: { kind: "pending" }, scheduledTime, due: Math.max(scheduledTime, now) }),
    },
    SYSTEM,
  );
}

export async function readScheduled(
  tx: Transaction,
  { namespace, id }: ScheduledId,
): Promise<ScheduledRow | null> {
  const row = await tx.get(namespace, id, { ...SYSTEM, table: SCHEDULED_TABLE });
  return row as ScheduledRow | null;
}

/**
 * A mutation's is visible to that mutation alone, an action's to all transactions. The row keeps its place among the
 * due ones.
 */
export async function markInProgress(tx: Transaction, row: ScheduledId): Promise<void> {
  await patch(tx, row, { state: { kind: "inProgress" } });
}

/**
 * `now` in ms. The platform puts down its transaction's snapshot, which on an idle deployment can be an hour old; here
 * nothing moves the snapshot of an idle deployment, so that would be without bound.
 */
export async function markCompleted(
  tx: Transaction,
  row: ScheduledId,
  state: Extract<ScheduledState, { kind: "success" | "failed" | "canceled" }>,
  now: number,
): Promise<void> {
  await patch(tx, row, { state, completedTime: now, due: undefined });
}

/** The platform failed before the function had any effect: it is pending, and due again later. */
export async function markDueAgain(
  tx: Transaction,
  row: ScheduledId,
  due: number,
  systemErrors: number,
): Promise<void> {
  await patch(tx, row, { state: { kind: "pending" }, due, systemErrors });
}

/** Depends on the row, so it conflicts with the run's own end: one of the two goes first. */
export async function cancelScheduled(
  tx: Transaction,
  scheduled: ScheduledId,
  now: number,
): Promise<void> {
  const row = await readScheduled(tx, scheduled);
  if (row === null || !isUnfinished(row)) return;
  await markCompleted(tx, scheduled, { kind: "canceled" }, now);
}

export async function deleteScheduled(
  tx: Transaction,
  namespace: Namespace,
  { _id, argsId }: ScheduledRow,
): Promise<void> {
  await tx.delete(namespace, _id, SCHEDULED_TABLE, SYSTEM);
  await tx.delete(namespace, argsId, ARGS_TABLE, SYSTEM);
}

export function isUnfinished({ state }: ScheduledRow): boolean {
  return state.kind === "pending" || state.kind === "inProgress";
}

async function patch(
  tx: Transaction,
  { namespace, id }: ScheduledId,
  value: Record<string, Value | undefined>,
): Promise<void> {
  await tx.patch(namespace, id, value, SCHEDULED_TABLE, SYSTEM);
}
