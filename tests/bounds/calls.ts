/**
 * For each registered function of the component the call that reads most in the full world, and for queries that other functions
 * run as snapshots, the function with which they are measured.
 */
import {
  COST_MAX,
  LEASES_MAX,
  OFFERED_ROWS_MAX,
  QUEUES_MAX,
  STATUS_BATCH_MAX,
  WORK_STATUS_MAX,
  type Conditions,
} from "../../src/shared/index.js";
import { mutation, type Line } from "../interleavings/line.js";
import {
  declarationOf,
  fewIn,
  followedByLongest,
  fullReport,
  labelsOf,
  largeReports,
  longest,
  many,
  PUSH_QUEUES,
  queueName,
  text,
} from "./fullShapes.js";
import { FULL_WORKER, loseNothing, PEERS, SCATTERED } from "./fullWorkers.js";
import type { FullWorld } from "./fullWorld.js";
import { observeCalls, operateCalls, query, type Worst } from "./lookCalls.js";

const CONDITIONS: Conditions = {
  labels: [1, 2, 3].flatMap(labelsOf),
};
const UNMET: Conditions = { ...CONDITIONS, groups: ["nobody"], maxCost: COST_MAX };
const PUSH = many(QUEUES_MAX, (n) => declarationOf(n));
/** As many rows of the app's own tables as a claim may offer, of as many queues. */
const offered = () =>
  many(QUEUES_MAX, (n) => ({
    queue: queueName(PUSH_QUEUES + n),
    ids: many(OFFERED_ROWS_MAX, (row) => `row${n}-${row}`),
    all: true,
  }));
const PULL = many(QUEUES_MAX, (n) => declarationOf(PUSH_QUEUES + n));

export function callsOf(full: FullWorld): Record<string, Worst[]> {
  return {
    ...appCalls(full),
    ...workerCalls(full),
    ...laneCalls(full),
    ...observeCalls(full),
    ...operateCalls(full),
    ...upkeepCalls(full),
  };
}

function appCalls({ world, long, result, results, pending, full, tokenId }: FullWorld) {
  const q = queueName(0);
  const jobs = world.line.rows("jobs").map(({ _id }) => _id);
  const queue = declarationOf(0);
  const job = (options: object) => ({ payload: text(600), options });
  return {
    "lib:enqueue": [
      mutation("lib:enqueue", {
        queue,
        jobs: many(1_000, (n) =>
          job({
            ...{ key: { value: `new${n}` }, runAfter: 1 + n * 50, expiresAfterMs: 60_000 },
            deadlineMs: 600_000 + n * 50,
            ...{ labels: labelsOf(n % 4), priority: (n % 21) - 10, cost: 1, context: text(600) },
          }),
        ),
      }),
      // As many of the longest options as one call takes.
      mutation("lib:enqueue", {
        queue,
        jobs: many(550, (n) => ({ payload: text(1_000), ...longest(n) })),
      }),
      mutation("lib:enqueue", {
        queue: declarationOf(1),
        jobs: many(63, (n) => job({ labels: labelsOf(1_000 + n), priority: n % 2 })),
      }),
    ],
    "lib:replace": [
      mutation("lib:replace", { id: pending, queue, job: job({ key: { value: "k" } }) }),
    ],
    "operate:cancelJob": [pending, full.leases[0]!.id].map((id) =>
      mutation("operate:cancelJob", { id, reason: text(4_096) }),
    ),
    "operate:retryJob": [mutation("operate:retryJob", { id: long })],
    "lib:status": [query("lib:status", { id: long })],
    "lib:queueOf": [query("lib:queueOf", { id: long })],
    "lib:statusBatch": [
      query("lib:statusBatch", {
        ids: [...results, ...many(99, () => long)].slice(0, STATUS_BATCH_MAX),
      }),
    ],
    "lib:attempts": [query("lib:attempts", { id: long, limit: 1_000 })],
    "lib:logs": [query("lib:logs", { id: long, limit: 1_000 })],
    "lib:output": [query("lib:output", { id: long, limit: 1_000 })],
    "lib:counts": [query("lib:counts", { queue: q, limit: 1_000 })],
    "lib:workers": [
      query("lib:workers", { queue: queueName(PUSH_QUEUES) }),
      query("lib:workers", { queue: queueName(999) }),
      query("lib:workers"),
    ],
    "lib:tend": [mutation("lib:tend", { queues: PUSH.slice(0, 32).map(({ name }) => name) })],
    "lib:watch": [mutation("lib:watch")],
    "operate:createToken": [mutation("operate:createToken", { name: "new", queues: null })],
    "operate:revokeToken": [mutation("operate:revokeToken", { id: tokenId })],
    "operate:listTokens": [query("operate:listTokens")],
    "workpool:statusBatch": [
      query("workpool:statusBatch", { ids: jobs.slice(0, WORK_STATUS_MAX) }),
    ],
    "workpool:cancel": [mutation("workpool:cancel", { id: pending })],
    "workpool:cancelAll": [mutation("workpool:cancelAll")],
    "config:update": [mutation("config:update", { maxParallelism: 5 })],
    "edges/callbacks:runCallback": [
      async (line: Line) => mutation("edges/callbacks:runCallback", await owedOf(line, long)),
    ],
    "lib:checkToken": [query("lib:checkToken", { token: world.line.token })],
  };

  async function owedOf(line: Line, id: string) {
    const handle = await line.app<string>("handle");
    return { job: id, handle, attempt: 1, outcome: { status: "succeeded", result } };
  }
}

function workerCalls({ token, full, pending, ring }: FullWorld) {
  const caller = { token, sessionKey: "idle0" };
  const held = { token, sessionKey: full.sessionKey };
  const ringHeld = { token, sessionKey: ring.sessionKey };
  const succeeded = (kind: object) =>
    full.leases.map((lease) => ({
      ...lease,
      outcome: { kind: "succeeded", result: text(60_000) },
      ...kind,
    }));
  const failed = full.leases.map((lease) => ({
    ...{ ...lease, outcome: { kind: "failed", error: text(4_096) } },
  }));
  const claims = (queues: object[], conditions: Conditions, more: object = {}) =>
    mutation("lib:claim", {
      ...caller,
      callSeq: 2,
      name: "w",
      queues,
      max: LEASES_MAX,
      ...conditions,
      ...more,
    });
  const peeks = (queues: { name: string }[], conditions: Conditions) =>
    query("lib:peek", { token, queues: queues.map(({ name }) => name), limit: 64, ...conditions });
  return {
    "lib:hasWork": [
      query("lib:hasWork", { token, queues: PUSH.map(({ name }) => name), ...UNMET }),
      query("lib:hasWork", { token, queues: PULL.map(({ name }) => name), ...UNMET }),
      query("lib:hasWork", { token, queues: [queueName(0)], naming: true, ...UNMET }),
      query("lib:hasWork", {
        token,
        queues: [queueName(PUSH_QUEUES)],
        naming: true,
        ...CONDITIONS,
      }),
    ],
    "lib:peek": [
      peeks(PUSH, CONDITIONS),
      peeks(PULL, CONDITIONS),
      peeks(PUSH, UNMET),
      peeks(PULL, UNMET),
    ],
    "lib:claim": [
      claims(PUSH, CONDITIONS),
      claims(PUSH, UNMET),
      claims(PULL, CONDITIONS),
      claims(PULL, UNMET),
      claims(PULL, CONDITIONS, { woken: true, waited: true }),
      claims(PULL, CONDITIONS, { named: many(LEASES_MAX, () => pending), lookIn: [] }),
      claims(PULL, CONDITIONS, { onCall: { peers: PEERS, more: 9 } }),
      claims(PULL, CONDITIONS, { lookIn: [], rows: offered() }),
    ],
    "lib:complete": [
      mutation("lib:complete", {
        ...{ ...ringHeld, callSeq: 2 },
        finished: ring.leases.map((lease) => ({
          ...{ ...lease, outcome: { kind: "succeeded", result: text(60_000) } },
        })),
      }),
      mutation("lib:complete", {
        ...{ ...held, callSeq: 2, finished: succeeded({}) },
        claim: { queues: PULL, max: LEASES_MAX, ...CONDITIONS },
      }),
      mutation("lib:complete", {
        ...{
          ...held,
          callSeq: 2,
          finished: failed,
          claim: { queues: PUSH, max: LEASES_MAX, ...UNMET },
        },
      }),
      mutation("lib:complete", {
        ...{
          ...held,
          callSeq: 2,
          finished: succeeded({ continued: many(16, fewIn) }).slice(0, 1),
        },
      }),
      mutation("lib:complete", { ...held, callSeq: 2, finished: followedByLongest(full.leases) }),
    ],
    "lib:completeLater": [mutation("lib:completeLater", { ...held, finished: failed[0] })],
    "lib:cancellations": [query("lib:cancellations", held)],
    "lib:isQuiet": [query("lib:isQuiet", caller)],
    "lib:standby": [query("lib:standby", { token, peers: "alike", since: 1, worker: "w" })],
    "tables:wanted": [query("tables:wanted", { token, queue: queueName(0) })],
    "tables:announce": [mutation("tables:announce", { queue: queueName(0) })],
    "tables:loop": [query("tables:loop", { queue: queueName(0) })],
    "tables:advance": [
      mutation("tables:advance", { queue: queueName(0), turn: 1, cursor: text(1_000) }),
    ],
    "lib:takeBack": [mutation("lib:takeBack", { ...held, finished: failed })],
    "lib:heartbeat": [
      mutation("lib:heartbeat", { ...held, leases: full.leases }),
      mutation("lib:heartbeat", { ...caller, leases: [] }),
      mutation("lib:heartbeat", { ...caller, leases: [], onCall: { ...FULL_WORKER, prefers: [] } }),
      mutation("lib:heartbeat", { ...caller, leases: [], onCall: FULL_WORKER }),
      mutation("lib:heartbeat", { token, sessionKey: "idle0", leases: [] }),
    ],
    "lib:leave": [
      mutation("lib:leave", { token, sessionKey: "idle0", leases: [], callSeq: 1_000 }),
    ],
    "lib:report": [
      ...largeReports(full.leases).map((said) => ({ ...held, ...said })),
      ...[0, SCATTERED].map((n) => ({ ...ringHeld, ...fullReport(ring.leases.slice(n)) })),
    ].map((said) => mutation("lib:report", said)),
    "attempts/report:findToken": [query("attempts/report:findToken", { session: full.session })],
    "rows/cancels:findCancelRequests": [
      query("rows/cancels:findCancelRequests", { session: full.session }),
    ],
  };
}

function laneCalls({ lane, mutations, process, world, pending, tokenId, full }: FullWorld) {
  const { now } = world.transactions;
  const named = { process, generation: 1 };
  const step = (path: string, fields: object) =>
    mutation(path, {
      ...{
        lane: lane.lane,
        generation: 1,
        callSeq: 2,
        finished: [],
        execute: [],
        lastAckedCall: 1,
        looks: 0,
      },
      ...{
        in: {
          ...named,
          version: "0.1.0",
          endsAt: now + 60_000,
          places: 64,
          isFull: true,
          receivedUpTo: 0n,
        },
      },
      ...fields,
    });
  const outcome = (kind: object) => lane.leases.map((lease) => ({ ...lease, outcome: kind }));
  const steps = (path: string) => [
    step(path, { finished: outcome({ kind: "succeeded", result: text(60_000) }) }),
    step(path, { finished: outcome({ kind: "failed", error: text(4_096) }) }),
    step(path, { lane: mutations.lane, execute: mutations.leases }),
    step(path, {}),
  ];
  const start = { lane: lane.lane, generation: 1, callSeq: 1, jobs: [], sentAt: now };
  const idle = { queue: queueName(0), session: lane.session, madeAt: now - 60_000 };
  const wake = (fields: object) => mutation("push/wake:wake", { queue: queueName(0), ...fields });
  return {
    "push/wake:wake": [
      wake({}),
      wake({ job: pending, isAlone: true, dueAt: now }),
      wake({ job: pending, dueAt: now }),
    ],
    "push/wake:oldestWaiting": [query("push/wake:oldestWaiting", { queue: queueName(0) })],
    "push/laneStep:stepLane": steps("push/laneStep:stepLane"),
    "lib:laneStep": steps("lib:laneStep"),
    "push/laneOnce:runSingle": [mutation("push/laneOnce:runSingle", start)],
    "push/laneOnce:leaveSingle": [step("push/laneOnce:leaveSingle", { over: lane.leases })],
    "push/laneApart:runApart": [
      mutation("push/laneApart:runApart", {
        ...lane.leases[0]!,
        finished: outcome({ kind: "failed", error: "e" })[0],
      }),
    ],
    "lib:laneApart": [
      mutation("lib:laneApart", {
        ...lane.leases[0]!,
        finished: outcome({ kind: "failed", error: "e" })[0],
      }),
    ],
    "lib:laneReport": [...largeReports(lane.leases), fullReport(mutations.leases)].map((said) =>
      mutation("lib:laneReport", said),
    ),
    "lib:laneStanding": [query("lib:laneStanding", { leases: lane.leases })],
    "push/laneReport:laneSessions": [
      query("push/laneReport:laneSessions", { sessions: [lane.session] }),
    ],
    "lib:processLook": [query("lib:processLook", { ...named, upTo: 0n })],
    "push/mainLoop:readProcesses": [query("push/mainLoop:readProcesses", { ...named, upTo: 0n })],
    "lib:processAsk": [mutation("lib:processAsk", { ...named, any: 56, few: 56 })],
    "push/mainLoop:askForPlaces": [
      mutation("push/mainLoop:askForPlaces", { ...named, any: 56, few: 56 }),
    ],
    "lib:processClose": [mutation("lib:processClose", named)],
    "push/mainLoop:closeProcess": [mutation("push/mainLoop:closeProcess", named)],
    "lib:processRouse": [mutation("lib:processRouse", { from: { ...named, givenBack: 1 } })],
    "push/mainLoop:rouseQueues": [mutation("push/mainLoop:rouseQueues", {})],
    "push/idleShutdown:readIdle": [query("push/idleShutdown:readIdle", { ...idle, now })],
    "rows/tokenSessions:findTokenSessions": [
      query("rows/tokenSessions:findTokenSessions", { token: tokenId, now }),
    ],
    "attempts/report:findSession": [
      query("attempts/report:findSession", { sessionKey: full.sessionKey, token: tokenId }),
    ],
    "index/outsideWorkers:outsideServed": [
      query("index/outsideWorkers:outsideServed", { queues: [queueName(0)], now }),
    ],
    "index/outsideWorkers:outsideOffers": [
      query("index/outsideWorkers:outsideOffers", { queue: queueName(0), now }),
    ],
    "edges/wakes:isGuarded": [query("edges/wakes:isGuarded", { queue: queueName(0) })],
  };
}

function upkeepCalls({ world, timers, full, owed, tokenId, pending }: FullWorld) {
  const { now } = world.transactions;
  const ring = (path: string, timer: string) =>
    mutation(path, { timer: timers[timer], generation: 0 });
  const fn = (path: string, args: object) => query(path, { now, ...args });
  const sweep = mutation("tend/janitor:sweep", { timer: timers["janitor"] });
  return {
    "tend/janitor:sweep": [sweep, async (line: Line) => (await loseNothing(line), sweep)],
    "tend/sweepPlan:findLostLeases": [
      fn("tend/sweepPlan:findLostLeases", {}),
      fn("tend/sweepPlan:findLostLeases", { after: null }),
    ],
    "tend/sweepPlan:planSweep": [fn("tend/sweepPlan:planSweep", {})],
    "tend/lostLeases:expireSession": [
      mutation("tend/lostLeases:expireSession", { session: full.session, now: now + 120_000 }),
    ],
    "tend/tend:tendNow": [mutation("tend/tend:tendNow")],
    "tend/tend:findLate": [query("tend/tend:findLate", { now })],
    "tend/watchdog:findOverdue": [
      fn("tend/watchdog:findOverdue", { queues: PUSH.slice(0, 16).map(({ name }) => name) }),
    ],
    "tend/watchdog:watchOthers": [mutation("tend/watchdog:watchOthers", { after: "" })],
    "tend/watchdog:visitQueues": [query("tend/watchdog:visitQueues", { after: "" })],
    "edges/dispatcher:promoteDue": [
      ring("edges/dispatcher:promoteDue", "dispatcher"),
      ring("edges/dispatcher:promoteDue", "dispatcherWide"),
    ],
    "edges/dispatcher:isDispatchBehind": [
      fn("edges/dispatcher:isDispatchBehind", { queue: queueName(0) }),
    ],
    "edges/startDeadlines:endExpired": [
      ring("edges/startDeadlines:endExpired", "expiry"),
      ring("edges/startDeadlines:endExpired", "expiryWide"),
    ],
    "edges/startDeadlines:findBegun": [
      query("edges/startDeadlines:findBegun", { jobs: many(64, () => pending), end: 1 }),
    ],
    "count/rollUp:countEnds": [ring("count/rollUp:countEnds", "rollUp")],
    "count/arrivals:countNewJobs": [ring("count/arrivals:countNewJobs", "arrivals")],
    "count/purge:purgeQueue": ["purge", "purgeOld"].map((a) => ring("count/purge:purgeQueue", a)),
    "loops/timers:janitorTimers": [fn("loops/timers:janitorTimers", { dueAt: now })],
    "tend/revoked:findRevoked": [
      query("tend/revoked:findRevoked", {
        token: tokenId,
        from: { expiresAt: 0, creationTime: 0, passed: [] },
      }),
    ],
    "tend/revoked:endRevokedSessions": [
      mutation("tend/revoked:endRevokedSessions", { token: tokenId, after: 0 }),
    ],
    "rows/payloads:discardRow": [
      mutation("rows/payloads:discardRow", { row: world.line.rows("payloads")[0]!._id }),
    ],
    "edges/callbacks:planCallback": [
      mutation("edges/callbacks:planCallback", { id: owed, tries: 9 }),
    ],
    "edges/callbacks:tryCallback": [mutation("edges/callbacks:tryCallback", { id: owed })],
    "attempts/completeLater:recordLate": [
      mutation("attempts/completeLater:recordLate", {
        ...{ token: tokenId, sessionKey: full.sessionKey },
        finished: { ...full.leases[0]!, outcome: { kind: "failed", error: text(4_096) } },
      }),
    ],
  };
}
