/** Points of sections 4 to 13: scheduler, components, sync and HTTP, the surroundings of functions, values. */
import type { Point } from "../coverage.js";

export const functions: readonly Point[] = [
  // 4 Scheduler
  { point: "4.1 the tables, and the virtual one that shows them", cases: ["4.1.*"] },
  {
    point: "4.2 the time is taken from the frozen clock",
    cases: ["4.2.negative-delay", "4.1.document"],
  },
  {
    point: "4.2 the target must exist, its arguments are checked later",
    cases: ["4.2.missing", "4.2.args-checked-late", "4.2.type-checked-late"],
  },
  { point: "4.2 schedulers do not conflict with one another", cases: ["4.2.no-conflicts"] },
  { point: "4.2 children of canceled functions", cases: ["13.children-of-canceled"] },
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
    cases: ["4.3.cron"],
    tests: ["local/functions/crons/crons.test.ts"],
  },
  { point: "4.3 no user is signed in, internal functions may run", cases: ["4.3.internal"] },
  { point: "4.4 exactly once", cases: ["4.2.runs", "4.4.conflicts-retried"] },
  {
    point: "4.4 in progress for itself, pending for other readers",
    cases: ["4.4.sees-itself-running"],
  },
  { point: "4.4 errors are not retried", cases: ["4.4.error-not-retried"] },
  {
    point: "4.4 a slot is held while it backs off; failures of the platform",
    tests: ["local/functions/scheduler.test.ts", "local/functions/concurrency.test.ts"],
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
    point: "4.6 rows of ended functions are deleted after a week",
    tests: ["local/functions/scheduler.test.ts"],
  },
  { point: "4.7 components schedule for themselves, handles may be scheduled", cases: ["4.7.*"] },

  // 5 Components
  {
    point: "5.1 state of each instance",
    cases: ["5.1.own-tables", "5.1.instances-apart", "4.7.own-scheduler"],
  },
  {
    point: "5.1 callers allowed for each function",
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
  {
    point: "5.1 the signed-in user",
    cases: ["7.metadata", "5.1.user-from-action", "7.user-nested"],
  },
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
    point: "5.3 files that the CLI finds and bundles",
    tests: ["local/push/cli.long.test.ts", "tests/packages/components.long.test.ts"],
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
    tests: ["local/server/sync/authenticate.test.ts"],
  },
  {
    point: "6.1 messages that close the socket; pings",
    cases: ["1.5.socket-closed"],
    tests: ["local/server/sync/syncServer.test.ts"],
  },
  { point: "6.1 reconnecting", cases: ["6.1.idempotent"], tests: ["local/survival.test.ts"] },
  { point: "6.1 parts of a large transition", cases: ["6.1.large"] },
  { point: "6.1 wake-ups that are spread out", tests: ["local/server/sync/commitFeed.test.ts"] },
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
      "6.4.args-required",
      "6.4.args-object",
      "6.4.json-type",
      "6.4.wrong-kind",
      "1.5.http-503",
    ],
  },
  { point: "6.4 formats", cases: ["6.3.encoded", "6.3.plain", "6.4.args-array"] },
  {
    point: "6.4 the caller",
    cases: ["6.4.bad-admin-key", "6.4.bad-token", "7.admin-calls-internal", "6.4.cors"],
  },
  { point: "6.4 the official HTTP client", cases: ["6.4.serial-client", "6.4.no-idempotency"] },

  // 7 Calls of functions
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
  { point: "7 files", cases: ["7.file-*"], tests: ["local/files/files.test.ts"] },
  { point: "7 HTTP actions", cases: ["7.http-*"], tests: ["local/http/httpAction.test.ts"] },
  { point: "7 users", cases: ["7.user-*"], tests: ["local/auth/tokens.test.ts"] },
  {
    point: "7 audit log, signed tokens, services",
    leftOut: "`ctx.auth.signJwt`, the audit log, Convex-managed services",
  },
  {
    point: "7 queries as they are sent: bounds, filters, operators",
    cases: ["9.prefix-in-order", "9.one-lower-bound", "3.operators", "1.2.filter-*", "7.filter-*"],
    tests: ["local/engine/query.test.ts"],
  },
  {
    point: "7 exported functions: validators before and after",
    cases: ["7.arguments-checked", "7.argument-error", "7.returns-checked", "7.default-*"],
  },

  // 8 Runtime
  {
    point: "8 clock and dice",
    cases: ["8.clock-frozen", "8.performance-*", "8.dice-anew", "8.no-generateKey"],
  },
  {
    point: "8 forbidden calls",
    cases: [
      "8.no-setTimeout",
      "8.no-setInterval",
      "8.no-timer-caught",
      "8.no-fetch",
      "8.no-dynamic-import",
      "8.queries-do-not-write",
      "8.web-platform",
      "8.globals",
      "8.environment",
      "8.no-code-from-strings",
      "8.web-errors",
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
  { point: "8 actions", cases: ["8.actions-have-time", "8.action-imports", "3.action-operations"] },

  // 9 Ids, values, order
  { point: "9 the form of an id", cases: ["9.id-format"], tests: ["local/engine/ids.test.ts"] },
  { point: "9 ids are random, with the day", cases: ["9.ids-random", "9.id-format"] },
  { point: "9 numbers of tables", cases: ["9.ids-of-tables"] },
  { point: "9 normalizeId", cases: ["9.normalize*"] },
  { point: "9 half a character in a text", cases: ["9.half-characters"] },
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
    cases: ["3.burst-of-nested-actions"],
    tests: ["local/functions/concurrency.test.ts"],
  },
  { point: "13 children of canceled functions", cases: ["13.children-of-canceled"] },
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
