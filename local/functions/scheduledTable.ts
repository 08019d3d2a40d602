/**
 * The rows of scheduled functions: their shape, their tables, their states. Every change of a state is written here.
 *
 * A row is one document in `_scheduled_functions` of the namespace that scheduled it. Apps see the documented fields;
 * `target` and `due` are the executor's, and `due` is there only while there is something to do, so that the index on it
 * holds what is waiting and nothing else.
 */
import type { JSONValue, Value } from "convex/values";
import { jsonToConvex } from "convex/values";
import type { Doc, Namespace, TableSpec, Transaction } from "../engine/types.js";
import { publicFile, STORAGE_SPEC, STORAGE_TABLE } from "../files/storageTable.js";
import type { ScheduledId } from "./scope.js";
import type { FunctionAddress } from "./types.js";

export const SCHEDULED_TABLE = "_scheduled_functions";
export const DUE_INDEX = "by_due";
export const COMPLETED_INDEX = "by_completed";

/** What `db.system` can read. */
export const VISIBLE_SYSTEM_TABLES: ReadonlySet<string> = new Set([SCHEDULED_TABLE, STORAGE_TABLE]);

export const SYSTEM_TABLES: TableSpec[] = [
  {
    name: SCHEDULED_TABLE,
    indexes: [
      { name: DUE_INDEX, fields: ["due"] },
      { name: COMPLETED_INDEX, fields: ["completedTime"] },
    ],
  },
  STORAGE_SPEC,
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
  args: Value[];
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
export function publicRow(table: string, doc: Doc): Doc {
  if (table === STORAGE_TABLE) return publicFile(doc);
  if (table !== SCHEDULED_TABLE) return doc;
  const { target: _target, due: _due, systemErrors: _systemErrors, ...documented } = doc;
  return documented;
}

export interface NewScheduled {
  target: FunctionAddress;
  args: JSONValue;
  scheduledTime: number;
  /** Now, with a fraction: what is scheduled later in one transaction must not start earlier. */
  now: number;
}

/** An insert and no read, so those who schedule never conflict with one another. */
export async function insertScheduled(
  tx: Transaction,
  namespace: Namespace,
  { target, args, scheduledTime, now }: NewScheduled,
  canceled: boolean,
): Promise<string> {
  const colon = target.path.lastIndexOf(":");
  return tx.insert(
    namespace,
    SCHEDULED_TABLE,
    {
      name: `${target.path.slice(0, colon)}.js${target.path.slice(colon)}`,
      args: [jsonToConvex(args)],
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

/** A mutation's is seen by that mutation alone, an action's by everybody. It keeps its place among what is due. */
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
