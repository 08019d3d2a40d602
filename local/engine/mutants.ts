/**
 * Engines that are broken on purpose, to show that a check would find the fault. Each changes one method of the real
 * engine while something runs, and puts it back. For tests only.
 */
import type { ConflictInfo, Savepoint, Ts } from "./types.js";
import type { Key } from "./keys.js";
import { Publisher, type Change } from "./publisher.js";
import { IntervalReadSet, type IndexId } from "./readSet.js";
import type { Snapshot } from "./snapshot.js";
import { keyOf, type Write } from "./table.js";
import { Workspace } from "./workspace.js";
import { CommitRecord, WriteLog } from "./writeLog.js";

/** How a key ends that is the end of an interval right behind a row. */
const JUST_AFTER = "\x00";

type Methods<T> = { [K in keyof T]: T[K] extends (...args: any[]) => any ? K : never }[keyof T];

/** Replaces a method; gives the function that puts it back. */
function replace<T extends object, K extends Methods<T>>(
  prototype: T,
  method: K,
  by: (original: T[K]) => T[K],
): () => void {
  const original = prototype[method];
  prototype[method] = by(original);
  return () => void (prototype[method] = original);
}

const addWrites = (change: (write: Write) => Write) =>
  replace(
    CommitRecord.prototype,
    "addWrites",
    (original) =>
      function (this: CommitRecord, tables: Snapshot, writes: readonly Write[]) {
        original.call(this, tables, writes.map(change));
      },
  );

export const MUTANTS = {
  /**
   * The last row that was met is left out: The last row of the scan is left out: the end of a satisfied `take(n)` may
   * change.
   */
  "a range is recorded one row short": () =>
    replace(
      IntervalReadSet.prototype,
      "add",
      (original) =>
        function (this: IntervalReadSet, index: IndexId, start: Key, end: Key, counted: boolean) {
          const short = end.endsWith(JUST_AFTER) ? end.slice(0, -JUST_AFTER.length) : end;
          original.call(this, index, start, short > start ? short : end, counted);
        },
    ),

  "only old keys are validated": () =>
    addWrites((write) => (write.before === null ? write : { ...write, after: null })),

  /**
   * A deleted document has no new key, so its deletion would conflict with nothing at all: as for an insert, that key
   * is kept.
   */
  "only new keys are validated": () =>
    addWrites((write) => (write.after === null ? write : { ...write, before: null })),

  "inserts are not validated": () =>
    addWrites((write) => (write.before === null ? { ...write, after: null } : write)),

  /** Only published commits are checked, not commits that have a timestamp and are under way. */
  "pending commits are ignored": () => {
    const published = new WeakMap<WriteLog, Ts>();
    const restore = [
      replace(
        WriteLog.prototype,
        "trim",
        (original) =>
          function (this: WriteLog, now: Ts, ts: Ts) {
            published.set(this, ts);
            original.call(this, now, ts);
          },
      ),
      replace(
        WriteLog.prototype,
        "conflict",
        (original) =>
          function (this: WriteLog, reads: IntervalReadSet, beginTs: Ts): ConflictInfo | null {
            const first = original.call(this, reads, beginTs);
            return first !== null && first.ts > (published.get(this) ?? 0n) ? null : first;
          },
      ),
    ];
    return () => restore.forEach((undo) => undo());
  },

  /** Every second commit shows only with the one behind it, though it was acknowledged. */
  "commits are published out of order": () => {
    const held = new WeakMap<Publisher, Change["apply"] | null>();
    return replace(
      Publisher.prototype,
      "publish",
      (original) =>
        function (this: Publisher, commit, change) {
          const waiting = held.get(this) ?? null;
          const { apply } = change;
          held.set(this, waiting === null && held.has(this) ? apply : null);
          // The first is the setup.
          const changed: Change["apply"] =
            waiting !== null
              ? (latest) => waiting(apply(latest))
              : held.get(this) === apply
                ? (latest) => latest
                : apply;
          return original.call(this, commit, { ...change, apply: changed });
        },
    );
  },

  /** A nested call's insert stays visible through one index, in the transaction that goes on. */
  "a rollback leaves an index entry": () => {
    const view = Object.getOwnPropertyDescriptor(Workspace.prototype, "view")!;
    return replace(
      Workspace.prototype,
      "savepoint",
      (original) =>
        function (this: Workspace): Savepoint {
          const savepoint = original.call(this);
          return {
            ...savepoint,
            rollback: () => {
              const undone = this.view;
              savepoint.rollback();
              Object.defineProperty(this, "view", {
                configurable: true,
                get: () => withEntriesOf(undone, view.get!.call(this) as Snapshot),
              });
            },
          };
        },
    );
  },
} satisfies Record<string, () => () => void>;

/** The snapshot, with the entries of one index that another has and it lacks. */
function withEntriesOf(other: Snapshot, snapshot: Snapshot): Snapshot {
  let result = snapshot;
  for (const table of snapshot.tables("")) {
    const index = table.indexes.get("by_v");
    const entries = other.table("", table.name)?.indexes.get("by_v");
    if (index === undefined || entries === undefined) continue;
    const tree = index.tree.clone();
    for (const doc of entries.tree.values()) tree.set(keyOf(index, doc), doc);
    const indexes = new Map(table.indexes).set("by_v", { ...index, tree });
    result = result.withTable({ ...table, indexes });
  }
  return result;
}

/** Runs with a broken engine, and mends it in any case. */
export async function withMutant<T>(name: keyof typeof MUTANTS, run: () => Promise<T>): Promise<T> {
  const mend = MUTANTS[name]();
  try {
    return await run();
  } finally {
    mend();
  }
}
