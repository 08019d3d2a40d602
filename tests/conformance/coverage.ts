/**
 * What is known of the platform's behaviour, point by point, and where each point is held: by cases, by a test that
 * needs the local backend's inside, or not at all, because the local backend leaves it out.
 *
 * Points are numbered as the cases are: 1 transactions, 2 retention, 3 limits, 4 scheduler, 5 components, 6 sync and
 * HTTP, 7 what functions can call, 8 runtime, 9 ids, values and order, 13 rules that were found later.
 */
export interface Point {
  point: string;
  /** Ids of cases; `1.2.take-*` stands for all that begin so. */
  cases?: string[];
  /** Tests that reach inside. */
  tests?: string[];
  /** What `local/README.md` leaves out, by its name there. */
  leftOut?: string;
}

const STORAGE = "How the platform stores and batches";

export const COVERAGE: readonly Point[] = [
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
    cases: ["1.2.iterate-left"],
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
    point: "1.3 what conflicts and what does not",
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
    point: "1.3 what only read is not validated, unless it came over a socket",
    cases: ["1.3.read-only-not-validated", "1.3.socket-validated"],
  },
  { point: "1.3 what throws is not validated", cases: ["1.3.failed-not-validated"] },

  // 1.4 Commit pipeline
  { point: "1.4 commit timestamps", cases: ["1.4.commit-order", "1.8.increases"] },
  { point: "1.4 ids that are there already", leftOut: STORAGE },
  { point: "1.4 the committer's queue and its overload", leftOut: STORAGE },
  { point: "1.4 validation ahead, off the committer's thread", leftOut: STORAGE },
  {
    point: "1.4 validation against what is assigned and not published",
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
    point: "1.5 what actions schedule and cancel",
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
  { point: "1.5 too many writes a second are retried", cases: ["3.documents-written"] },
  {
    point: "1.5 exhaustion, as each caller is told",
    cases: ["1.5.http-503", "1.5.socket-closed", "1.5.action-catches", "1.5.client-error"],
  },
  {
    point: "1.5 idempotency",
    cases: ["6.1.idempotent", "6.1.sessions-apart", "6.4.no-idempotency"],
  },

  // 1.6 - 1.9
  { point: "1.6 only mutations may ask for a stale snapshot", cases: ["1.6.only-in-mutations"] },
  {
    point: "1.6 what it shows, and that it leaves nothing behind",
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
  { point: "1.7 what is not rolled back", cases: ["1.7.reads-stay", "1.7.counters-stay"] },
  {
    point: "1.7 transactionLimits",
    cases: ["1.7.limits-*"],
    tests: ["local/functions/budget.test.ts"],
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
    cases: ["1.8.nested-argument", "1.8.through-query", "1.8.not-scheduled"],
  },
  { point: "1.8 its validator", cases: ["1.8.accepts-int64"] },
  { point: "1.8 the snapshot's timestamp", cases: ["1.8.snapshot-*"] },
  { point: "1.9 bytes written a second", cases: ["3.write-rate"] },

  // 2 Retention
  { point: "2 dead index entries stay for a while", tests: ["local/engine/tombstones.test.ts"] },
  { point: "2 what a scan pays for them", tests: ["local/engine/tombstones.test.ts"] },
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
  { point: "3 system writes", leftOut: STORAGE },
  { point: "3 functions scheduled", cases: ["3.scheduled"] },
  { point: "3 arguments of what is scheduled", cases: ["3.scheduled-arguments"] },
  { point: "3 one job's arguments, which nothing enforces", cases: ["3.scheduled-arguments"] },
  { point: "3 arguments and results", cases: ["3.result-size"] },
  {
    point: "3 documents, their nesting, fields and arrays",
    cases: ["3.document-size", "3.array-length", "3.fields", "3.nesting"],
  },
  { point: "3 indexes of a table, fields of an index", tests: ["local/engine/schema.test.ts"] },
  { point: "3 tables", leftOut: STORAGE },
  { point: "3 user time", cases: ["3.user-time"] },
  { point: "3 action time", tests: ["local/functions/threads/sameInThreads.test.ts"] },
  { point: "3 heap", tests: ["local/functions/threads/sameInThreads.test.ts"] },
  { point: "3 operations at once in an action", cases: ["3.action-operations"] },
  { point: "3 batches of reads", leftOut: STORAGE },
  { point: "3 log lines", cases: ["3.log-lines"] },
  { point: "3 environment variables", tests: ["local/push/environment.test.ts"] },
  { point: "3 outstanding scheduled functions", leftOut: STORAGE },
  { point: "3 nested calls", cases: ["1.7.depth"] },
  { point: "3 one page a function", cases: ["3.one-paginate"] },
  { point: "3 how far ahead one may schedule", cases: ["4.2.too-far"] },
  { point: "3 a socket's pending requests", tests: ["local/server/sync/requestQueue.test.ts"] },
  { point: "3 operators of a query", cases: ["3.operators"] },
  {
    point: "3 how many run at once, by class",
    cases: ["3.scheduled-parallelism"],
    tests: ["local/functions/scheduler.test.ts"],
  },
  {
    point: "3 a transaction begins before it has its permit; permits are waited for",
    tests: ["local/functions/scheduler.test.ts"],
  },
  { point: "3 nested calls take no permit, an action's do", cases: ["1.5.lost-updates"] },

  // 4 Scheduler
  { point: "4.1 the tables, and the virtual one that shows them", cases: ["4.1.*"] },
  {
    point: "4.2 the time is taken from the frozen clock",
    cases: ["4.2.negative-delay", "4.1.document"],
  },
  {
    point: "4.2 the target must exist, its arguments are checked later",
    cases: ["4.2.missing", "4.2.args-checked-late"],
  },
  { point: "4.2 schedulers do not conflict with one another", cases: ["4.2.no-conflicts"] },
  { point: "4.2 children of what is canceled", cases: ["13.children-of-canceled"] },
  {
    point: "4.2 in the transaction, or at once from an action",
    cases: ["4.2.with-the-commit", "4.2.action-at-once", "4.2.rolled-back-nested"],
  },
  { point: "4.2 order of starts", cases: ["4.2.fifo", "4.2.past", "4.2.not-early"] },
  { point: "4.2 cancel", cases: ["4.2.cancel", "4.2.cancel-finished"] },
  { point: "4.2 a mutation that cancels itself", tests: ["local/functions/scheduler.test.ts"] },
  { point: "4.2 cancel from an action looks in the app", cases: ["4.2.action-cancels"] },
  {
    point: "4.3 one executor, earliest first, so many at once",
    cases: ["3.scheduled-parallelism"],
    tests: ["local/functions/scheduler.test.ts"],
  },
  {
    point: "4.3 crons have an executor of their own",
    tests: ["local/functions/crons/crons.test.ts"],
  },
  { point: "4.3 nobody is signed in, internal functions may run", cases: ["4.3.internal"] },
  { point: "4.4 exactly once", cases: ["4.2.runs", "4.4.conflicts-retried"] },
  { point: "4.4 in progress for itself, pending for others", cases: ["4.4.sees-itself-running"] },
  { point: "4.4 errors are not retried", cases: ["4.4.error-not-retried"] },
  {
    point: "4.4 a slot is held while it backs off; failures of the platform",
    tests: ["local/functions/scheduler.test.ts"],
  },
  {
    point: "4.5 at most once, in progress for all",
    cases: ["4.5.action", "4.5.action-not-retried", "4.5.in-progress"],
  },
  {
    point: "4.5 found in progress at a start: failed",
    tests: ["local/functions/scheduler.test.ts"],
  },
  { point: "4.5 canceled while it runs", cases: ["4.5.canceled-goes-on"] },
  {
    point: "4.6 rows of what ended are deleted after a week",
    tests: ["local/functions/scheduler.test.ts"],
  },
  { point: "4.7 components schedule for themselves, handles may be scheduled", cases: ["4.7.*"] },

  // 5 Components
  {
    point: "5.1 what each instance has for itself",
    cases: ["5.1.own-tables", "5.1.instances-apart", "4.7.own-scheduler"],
  },
  {
    point: "5.1 what can be called by whom",
    cases: [
      "5.1.internal-hidden",
      "5.1.not-for-clients",
      "5.1.admin-component-path",
      "5.1.grandchild",
      "5.1.actions",
    ],
  },
  { point: "5.1 values cross, ids are strings", cases: ["5.1.ids-are-strings"] },
  { point: "5.1 no paginate", cases: ["5.1.no-paginate"] },
  { point: "5.1 who is signed in", cases: ["7.metadata"] },
  {
    point: "5.1 environment",
    cases: ["5.1.env", "5.1.env-urls"],
    tests: ["local/push/environment.test.ts"],
  },
  { point: "5.1 clock, dice, logs", cases: ["5.1.same-clock", "5.1.own-dice", "5.1.logs-merged"] },
  {
    point: "5.1 one transaction, a context each",
    cases: ["5.1.one-transaction", "5.1.child-failure-caught", "5.1.path"],
    tests: ["local/functions/components.test.ts"],
  },
  { point: "5.2 function handles", cases: ["5.2.*", "4.7.handle-scheduled"] },
  {
    point: "5.3 what the CLI finds and bundles",
    tests: ["local/push/cli.test.ts", "tests/packages/components.test.ts"],
  },
  { point: "5.3 definitions are evaluated", tests: ["local/push/definitions.test.ts"] },
  {
    point: "5.3 environment and prefixes of mounts",
    cases: ["5.1.env"],
    tests: ["local/http/routing.test.ts"],
  },
  { point: "5.3 crons of components", tests: ["local/push/crons.test.ts"] },

  // 6 Sync and HTTP
  { point: "6.1 timestamps and versions", cases: ["6.1.first-transition", "6.1.versions-chain"] },
  {
    point: "6.1 an update brings all queries to one timestamp",
    cases: [
      "6.1.one-timestamp",
      "6.1.only-what-changed",
      "6.1.unchanged-not-sent",
      "6.1.empty-transition",
      "6.1.query-removed",
      "6.1.query-failed",
    ],
  },
  { point: "6.1 identity versions", cases: ["6.1.identity-version", "6.1.admin"] },
  {
    point: "6.1 order of messages inside the server",
    tests: ["local/server/sync/syncServer.test.ts", "local/server/sync/querySet.test.ts"],
  },
  {
    point: "6.1 mutations in order, actions beside one another, responses first",
    cases: [
      "6.1.mutations-in-order",
      "6.1.actions",
      "6.1.response-before-transition",
      "6.1.failed-mutation",
      "6.1.client",
    ],
  },
  { point: "6.1 journals", cases: ["6.1.watched-page"] },
  { point: "6.1 a client from the future", cases: ["6.1.observed-in-future"] },
  {
    point: "6.1 fatal errors and errors of authentication",
    cases: ["6.1.base-version", "6.1.bad-token"],
  },
  {
    point: "6.1 what closes the socket; pings",
    cases: ["1.5.socket-closed"],
    tests: ["local/server/sync/syncServer.test.ts"],
  },
  { point: "6.1 reconnecting", cases: ["6.1.idempotent"], tests: ["local/survival.test.ts"] },
  { point: "6.1 parts of a large transition", cases: ["6.1.large"] },
  { point: "6.1 wake-ups that are spread out", leftOut: STORAGE },
  { point: "6.2 errors as clients see them", cases: ["6.2.error-*", "6.2.client-error"] },
  { point: "6.2 log lines", cases: ["6.2.log-lines", "6.2.logs-of-failure"] },
  { point: "6.3 values on the wire", cases: ["6.3.*"] },
  {
    point: "6.4 routes",
    cases: [
      "6.4.query",
      "6.4.query-get",
      "6.4.mutation",
      "6.4.action",
      "6.4.function",
      "6.4.run",
      "6.4.query-ts",
      "6.4.query-batch",
      "6.4.version",
    ],
  },
  {
    point: "6.4 errors and their statuses",
    cases: [
      "6.4.bad-*",
      "6.4.missing",
      "6.4.internal-hidden",
      "6.4.argument-error",
      "6.4.wrong-kind",
      "1.5.http-503",
    ],
  },
  { point: "6.4 formats", cases: ["6.3.encoded", "6.3.plain", "6.4.args-array"] },
  {
    point: "6.4 who calls",
    cases: ["6.4.bad-admin-key", "6.4.bad-token", "7.admin-calls-internal", "6.4.cors"],
  },
  { point: "6.4 the official HTTP client", cases: ["6.4.serial-client", "6.4.no-idempotency"] },

  // 7 What functions can call
  { point: "7 synchronous calls", cases: ["9.normalize", "1.8.snapshot-ts", "5.1.env"] },
  {
    point: "7 database calls",
    cases: ["9.get-*", "6.3.patch-removes", "1.2.page-done"],
    tests: ["local/engine/query.test.ts"],
  },
  {
    point: "7 other calls of queries and mutations",
    cases: ["7.metrics", "7.metadata", "5.2.stable", "4.7.request-metadata"],
  },
  {
    point: "7 calls of actions",
    cases: ["7.action-*", "7.missing-reference", "4.2.action-cancels"],
  },
  { point: "7 files", leftOut: "File storage, search and vector indexes" },
  {
    point: "7 audit log, signed tokens, services",
    leftOut: "Audit log, signed tokens and service tokens",
  },
  {
    point: "7 queries as they are sent: bounds, filters, operators",
    cases: ["9.prefix-in-order", "9.one-lower-bound", "3.operators", "1.2.filter-*"],
    tests: ["local/engine/query.test.ts"],
  },
  {
    point: "7 exported functions: validators before and after",
    cases: ["7.arguments-checked", "7.argument-error", "7.returns-checked", "7.default-export"],
  },

  // 8 Runtime
  {
    point: "8 clock and dice",
    cases: ["8.clock-frozen", "8.performance-*", "8.dice-anew", "8.no-generateKey"],
  },
  {
    point: "8 what is forbidden",
    cases: [
      "8.no-setTimeout",
      "8.no-setInterval",
      "8.no-fetch",
      "8.no-dynamic-import",
      "8.queries-do-not-write",
      "8.web-platform",
      "8.environment",
    ],
  },
  {
    point: "8 how a call ends",
    cases: ["8.not-awaited", "8.unhandled-rejection", "8.never-resolves", "8.reads-together"],
  },
  {
    point: "8 the cache of queries",
    cases: ["8.cache*"],
    tests: ["local/functions/queryCache.test.ts"],
  },
  { point: "8 actions", cases: ["8.actions-have-time", "3.action-operations"] },

  // 9 Ids, values, order
  { point: "9 the form of an id", cases: ["9.id-format"], tests: ["local/engine/ids.test.ts"] },
  { point: "9 ids are random, with the day", cases: ["9.ids-random", "9.id-format"] },
  { point: "9 numbers of tables", cases: ["9.ids-of-tables"] },
  { point: "9 normalizeId", cases: ["9.normalize*"] },
  {
    point: "9 order",
    cases: [
      "9.order*",
      "9.missing-first",
      "9.int64-is-not-float64",
      "9.ties-by-creation",
      "9.round-trip",
    ],
  },
  { point: "9 ranges", cases: ["9.prefix-in-order", "9.one-lower-bound"] },

  // 13 Found later
  {
    point: "13 a nested action takes a permit of its own",
    tests: ["local/functions/scheduler.test.ts"],
  },
  { point: "13 children of what is canceled", cases: ["13.children-of-canceled"] },
  {
    point: "13 writes come before the return value is checked",
    cases: ["13.returns-after-commit"],
  },
  { point: "13 -0 is a key of its own", cases: ["13.minus-zero"] },
  {
    point: "13 _creationTime in a range; own rows by equality",
    cases: ["13.creation-time-in-range", "1.8.pending-equal"],
  },
];
