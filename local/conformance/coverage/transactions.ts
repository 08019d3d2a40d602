/** Points of sections 1 to 3: transactions, retention, limits. */
import type { Point } from "../coverage.js";

/** See `local/README.md`, "Left out". */
const STORAGE = "How the platform stores and batches";

export const transactions: readonly Point[] = [
  // 1.1 Begin
  {
    point: "1.1 a transaction begins at the latest published snapshot",
    cases: ["1.1.one-snapshot", "1.4.read-your-writes"],
    tests: ["local/engine/database.test.ts"],
  },
  { point: "1.1 timestamps are nanoseconds", cases: ["1.1.timestamps-are-nanoseconds"] },
  { point: "1.1 creation times", cases: ["1.1.creation-time-*"] },
  {
    point: "1.1 how long snapshots and the write log are kept",
    tests: ["local/engine/writeLog.test.ts"],
  },

  // 1.2 Read set
  { point: "1.2 get", cases: ["1.2.get-*"] },
  {
    point: "1.2 ascending range",
    cases: ["1.2.take-inside", "1.2.take-nth", "1.2.index-value-apart", "1.2.other-index"],
  },
  { point: "1.2 descending range", cases: ["1.2.take-desc-*"] },
  { point: "1.2 exhausted range", cases: ["1.2.collect-empty"] },
  { point: "1.2 take that is satisfied", cases: ["1.2.take-satisfied", "1.2.take-exact"] },
  { point: "1.2 take that is not", cases: ["1.2.take-short"] },
  { point: "1.2 first and unique", cases: ["1.2.first-*", "1.2.unique-one"] },
  { point: "1.2 collect", cases: ["1.2.collect-*"] },
  { point: "1.2 filter", cases: ["1.2.filter-*"] },
  { point: "1.2 paginate", cases: ["1.2.page-*"], tests: ["local/engine/page.test.ts"] },
  { point: "1.2 full table scan", cases: ["1.2.full-scan"] },
  { point: "1.2 loop that is left", cases: ["1.2.iterate-*"] },
  {
    point: "1.2 rows fetched ahead are neither recorded nor charged",
    cases: ["1.2.iterate-left", "1.7.stream-fetched"],
    tests: ["local/engine/readSet.test.ts"],
  },
  {
    point: "1.2 intervals are merged before they are counted",
    tests: ["local/engine/intervals.test.ts"],
  },
  {
    point: "1.2 system tables conflict and are free",
    cases: ["7.metrics"],
    tests: ["local/engine/readSet.test.ts"],
  },
  { point: "1.2 names of tables are depended on", tests: ["local/engine/database.test.ts"] },

  // 1.3 Write set and conflict rule
  {
    point: "1.3 a write touches every index at its old and new key",
    cases: ["1.3.unrelated-field", "1.3.move-*", "1.3.replace-inside", "1.2.other-index"],
  },
  {
    point: "1.3 pairs that conflict, and pairs that do not",
    cases: ["1.3.delete-inside", "1.3.delete-outside", "1.3.undone-insert", "1.3.patch-others"],
    tests: ["local/engine/serializability.test.ts"],
  },
  {
    point: "1.3 inserts are blind; patch, replace and delete read",
    cases: [
      "1.3.insert-*",
      "1.3.patch-patch",
      "1.3.replace-replace",
      "1.3.patch-delete",
      "1.3.delete-missing",
      "1.3.patch-missing",
      "1.3.replace-missing",
    ],
  },
  { point: "1.3 an equal document is no write", cases: ["1.3.same-*"] },
  { point: "1.3 no locks", cases: ["1.3.patch-patch", "1.5.lost-updates"] },
  {
    point: "1.3 a transaction that only reads is not validated, unless it came over a socket",
    cases: ["1.3.read-only-not-validated", "1.3.socket-validated"],
  },
  { point: "1.3 a function that throws is not validated", cases: ["1.3.failed-not-validated"] },

  // 1.4 Commit pipeline
  { point: "1.4 commit timestamps", cases: ["1.4.commit-order", "1.8.increases"] },
  { point: "1.4 ids that are there already", leftOut: STORAGE },
  { point: "1.4 the committer's queue and its overload", leftOut: STORAGE },
  { point: "1.4 validation ahead, off the committer's thread", leftOut: STORAGE },
  {
    point: "1.4 validation against commits assigned and not yet published",
    tests: ["local/engine/database.test.ts", "local/engine/mutants.test.ts"],
  },
  { point: "1.4 batches of writes", leftOut: STORAGE },
  {
    point: "1.4 published in order, answered after",
    cases: ["1.4.read-your-writes", "1.4.no-half-commit", "1.4.commit-order"],
    tests: ["local/engine/mutants.test.ts"],
  },
  {
    point: "1.4 a hot document's rate follows from the latency",
    tests: ["local/engine/race.test.ts"],
  },

  // 1.5 Retries
  {
    point: "1.5 clients' and actions' mutations: five attempts",
    cases: ["1.5.http-503", "1.5.client-error", "1.5.lost-updates"],
    tests: ["local/functions/transactions.test.ts"],
  },
  { point: "1.5 scheduled mutations: for ever", cases: ["4.4.conflicts-retried"] },
  {
    point: "1.5 schedules and cancels of actions",
    cases: ["4.2.action-at-once", "4.2.action-cancels"],
  },
  {
    point: "1.5 scheduled actions' own transitions",
    cases: ["4.5.action"],
    tests: ["local/functions/scheduler.test.ts"],
  },
  {
    point: "1.5 waits until the conflicting commit is published",
    tests: ["local/functions/transactions.test.ts"],
  },
  { point: "1.5 each attempt anew", cases: ["1.5.attempt-anew", "8.dice-anew"] },
  {
    point: "1.5 too many writes a second are retried",
    cases: ["3.write-rate"],
    tests: ["local/functions/concurrency.test.ts"],
  },
  {
    point: "1.5 exhaustion, as each caller gets it",
    cases: ["1.5.http-503", "1.5.socket-closed", "1.5.action-catches", "1.5.client-error"],
  },
  {
    point: "1.5 idempotency",
    cases: ["6.1.idempotent", "6.1.sessions-apart", "6.4.no-idempotency"],
  },

  // 1.6 - 1.9
  { point: "1.6 only mutations may ask for a stale snapshot", cases: ["1.6.only-in-mutations"] },
  {
    point: "1.6 its result, and that it leaves no dependency",
    cases: [
      "1.6.hides-own-writes",
      "1.6.no-dependency",
      "1.6.nested-query-depends",
      "1.6.not-counted",
    ],
  },
  {
    point: "1.7 nested calls commit and roll back with savepoints",
    cases: [
      "1.7.nested-*",
      "1.7.failed-*",
      "1.7.outer-failure-undoes-inner",
      "1.7.error-data",
      "4.2.rolled-back-nested",
    ],
  },
  {
    point: "1.7 effects that are not rolled back, and that writes are counted no longer",
    cases: ["1.7.reads-stay", "1.7.counters-stay", "1.7.writes-uncounted"],
  },
  {
    point: "1.7 transactionLimits",
    cases: ["1.7.limits-*"],
    tests: ["local/functions/budget.test.ts", "local/functions/limits.test.ts"],
  },
  { point: "1.7 depth", cases: ["1.7.depth"] },
  { point: "1.7 started together, run one after the other", cases: ["1.7.serial"] },
  { point: "1.8 the placeholder inside its transaction", cases: ["1.8.pending-*"] },
  {
    point: "1.8 one value for all, returned too",
    cases: ["1.8.same-for-all", "1.8.increases", "1.8.order-within", "1.8.patched"],
  },
  {
    point: "1.8 where it may go",
    cases: ["1.8.nested-argument", "1.8.through-query", "1.8.not-*"],
  },
  { point: "1.8 its validator", cases: ["1.8.accepts-int64"] },
  { point: "1.8 the snapshot's timestamp", cases: ["1.8.snapshot-*"] },
  { point: "1.9 bytes written a second", cases: ["3.write-rate"] },

  // 2 Retention
  { point: "2 dead index entries stay for a while", tests: ["local/engine/tombstones.test.ts"] },
  { point: "2 the cost of a scan over them", tests: ["local/engine/tombstones.test.ts"] },
  {
    point: "2 they are neither charged nor depended on",
    cases: ["2.deleted-not-charged"],
    tests: ["local/engine/tombstones.test.ts"],
  },
  {
    point: "2 a cursor by commit timestamp sees every row",
    cases: ["2.cursor-by-commit", "1.1.creation-time-at-begin"],
  },

  // 3 Limits
  { point: "3 documents read", cases: ["3.documents-read"] },
  { point: "3 bytes read", cases: ["3.bytes-read"] },
  { point: "3 index ranges", cases: ["3.reads"] },
  { point: "3 documents written", cases: ["3.documents-written"] },
  { point: "3 bytes written", cases: ["3.bytes-written"] },
  { point: "3 system writes", tests: ["local/engine/usage.test.ts"] },
  { point: "3 functions scheduled", cases: ["3.scheduled"] },
  { point: "3 arguments of scheduled functions", cases: ["3.scheduled-arguments"] },
  { point: "3 one job's arguments, which nothing enforces", cases: ["3.scheduled-arguments"] },
  { point: "3 arguments and results", cases: ["3.result-size"] },
  {
    point: "3 documents, their nesting, fields and arrays",
    cases: ["3.document-size", "3.array-length", "3.fields", "3.nesting"],
  },
  { point: "3 indexes of a table, fields of an index", tests: ["local/engine/schema.test.ts"] },
  { point: "3 tables", tests: ["local/engine/schema.test.ts"] },
  { point: "3 user time", cases: ["3.user-time"] },
  {
    point: "3 action time",
    tests: ["local/functions/actionLimits.test.ts", "local/functions/threads/overrun.test.ts"],
  },
  { point: "3 heap", tests: ["local/functions/threads/overrun.test.ts"] },
  {
    point: "3 operations at once in an action",
    cases: ["3.action-operations"],
    tests: ["local/functions/actionLimits.test.ts"],
  },
  { point: "3 batches of reads", leftOut: STORAGE },
  { point: "3 log lines", cases: ["3.log-lines"] },
  { point: "3 environment variables", tests: ["local/push/environment.test.ts"] },
  { point: "3 outstanding scheduled functions", leftOut: STORAGE },
  { point: "3 nested calls", cases: ["1.7.depth"] },
  { point: "3 one page a function", cases: ["3.one-paginate", "3.page-*"] },
  { point: "3 how far ahead one may schedule", cases: ["4.2.too-far"] },
  { point: "3 a socket's pending requests", tests: ["local/server/sync/requestQueue.test.ts"] },
  { point: "3 operators of a query", cases: ["3.operators"] },
  {
    point: "3 how many run at once, by class",
    cases: ["3.scheduled-parallelism", "3.burst"],
    tests: ["local/functions/concurrency.test.ts", "local/functions/permits.test.ts"],
  },
  {
    point: "3 a transaction begins before it has its permit; permits are waited for",
    tests: ["local/functions/concurrency.test.ts"],
  },
  {
    point: "3 nested calls take no permit, an action's do",
    tests: ["local/functions/concurrency.test.ts"],
  },
];
