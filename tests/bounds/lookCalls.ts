/** The calls of pages and of operators that read most in the full world. */
import { BULK_CHANGED, QUEUES_MAX } from "../../src/shared/index.js";
import { mutation, type Line } from "../interleavings/line.js";
import type { Call } from "../interleavings/transactions.js";
import { declarationOf, many, PUSH_QUEUES, queueName } from "./fullShapes.js";
import { peersIn } from "./fullWorkers.js";
import type { FullWorld } from "./fullWorld.js";

/** A call, or the steps that lead to it. */
export type Worst = Call | ((line: Line) => Promise<Call>);

export const query = (path: string, args: object = {}): Call => ({
  ...mutation(path, args),
  kind: "query",
});

export function observeCalls({ long, pending, world, tokenId }: FullWorld) {
  const q = queueName(0);
  const list = (fields: object, of = q) =>
    query("observe:list", {
      ...{ queue: of, paginationOpts: { numItems: 100, cursor: null } },
      ...fields,
    });
  const { now } = world.transactions;
  return {
    "observe:queues": [query("observe:queues", { limit: 1_000 })],
    "observe:overview": [
      query("observe:overview", { queue: q, beside: 100 }),
      query("observe:overview", { queue: q }),
      query("observe:overview", { queue: queueName(PUSH_QUEUES) }),
    ],
    "observe:mainLoop": [query("observe:mainLoop")],
    "observe:metrics": [
      query("observe:metrics", { queue: q }),
      query("observe:metrics", { queue: queueName(PUSH_QUEUES + 2) }),
    ],
    "observe:stats": [
      query("observe:stats", { queue: q, count: 1_000 }),
      query("observe:stats", { queue: q, per: "day", count: 1_000 }),
    ],
    "observe:gauge": [query("observe:gauge", { queue: q })],
    "observe:health": [query("observe:health", { queue: q, last: 100 })],
    "observe:list": [
      list({}),
      list({ filter: { name: "none" } }),
      list({ filter: { status: "pending", name: "none" } }),
      list({ filter: { status: "pending", name: "none" } }, queueName(PUSH_QUEUES + 2)),
      list({ filter: { status: "failed", name: "none" } }),
    ],
    "observe:byKey": [query("observe:byKey", { queue: q, key: "k0".padEnd(256, "k") })],
    "observe:payload": [query("observe:payload", { id: long })],
    "observe:position": [query("observe:position", { id: pending })],
    "observe:why": [query("observe:why", { id: pending }), query("observe:why", { id: long })],
    "count/gauge:readGauge": [
      query("count/gauge:readGauge", {
        queue: q,
        now,
        all: [...STATUSES],
        quick: [],
        withEnds: true,
      }),
    ],
    "claim/onCall:seePeers": [
      query("claim/onCall:seePeers", {
        ...{ peers: peersIn(tokenId), worker: "worker" },
        ...{ now, isOneOf: false, draw: 0 },
        ...{ left: 1_000_000, atLeast: 8 },
      }),
    ],
    "claim/fleet:fleetMembers": [
      query("claim/fleet:fleetMembers", { queue: queueName(PUSH_QUEUES), now }),
    ],
    "claim/fleet:countFleet": [
      mutation("claim/fleet:countFleet", { queue: queueName(PUSH_QUEUES), askedAt: now + 1 }),
    ],
  };
}

const STATUSES = ["scheduled", "pending", "running", "succeeded", "failed", "canceled", "timedOut"];

/** Of as many queues as one call may declare. */
const declares = (queueAt: (n: number) => number, changed: object) =>
  mutation("lib:declare", {
    queues: many(QUEUES_MAX, (n) => declarationOf(queueAt(n))).map(({ name, config }) => ({
      ...{ name, config: { ...config, ...changed } },
    })),
  });

export function operateCalls({ world, long, pending, tokenId }: FullWorld) {
  const named = { queue: queueName(0) };
  const change = (action: string, filter: object = {}) =>
    mutation(`operate:${action}Many`, { ...named, filter, limit: BULK_CHANGED });
  const worker = { id: world.line.rows("sessions").find(({ lane }) => lane === undefined)!._id };
  return {
    "lib:declare": [
      declares((n) => n, { fallbackAfterMs: 1_000 }),
      // With few shards: there is room for more.
      declares((n) => PUSH_QUEUES + 37 + 2 * n, { shards: 5 }),
    ],
    "operate:quietWorker": [mutation("operate:quietWorker", worker)],
    "operate:resumeWorker": [
      async (line: Line) => {
        await line.do(mutation("operate:quietWorker", worker));
        return mutation("operate:resumeWorker", worker);
      },
    ],
    "operate:pauseQueue": [mutation("operate:pauseQueue", named)],
    "operate:drainQueue": [mutation("operate:drainQueue", named)],
    "operate:resumeQueue": [mutation("operate:resumeQueue", named)],
    "operate:configureQueue": [
      mutation("operate:configureQueue", { ...named, overrides: { maxParallelism: 3, shards: 8 } }),
    ],
    "operate:resetConfig": [mutation("operate:resetConfig", named)],
    "operate:queueState": [query("operate:queueState", named)],
    "operate:events": [query("operate:events", { limit: 1_000 })],
    "operate:pauseJob": [mutation("operate:pauseJob", { id: pending })],
    "operate:resumeJob": [
      async (line: Line) => {
        await line.do(mutation("operate:pauseJob", { id: pending }));
        return mutation("operate:resumeJob", { id: pending });
      },
    ],
    "operate:deleteJob": [mutation("operate:deleteJob", { id: long })],
    "operate:cancelMany": [change("cancel")],
    "operate:retryMany": [change("retry")],
    "operate:deleteMany": [
      change("delete", { statuses: ["succeeded", "failed", "pending"] }),
      change("delete", { statuses: ["succeeded"], name: "none" }),
    ],
    "operate:taskState": [query("operate:taskState", { ...named, task: long })],
    "operate:stopTask": [mutation("operate:stopTask", { ...named, task: long })],
    "operate:rotateToken": [mutation("operate:rotateToken", { id: tokenId, graceMs: 1 })],
    "rows/queues:forgetCursors": [mutation("rows/queues:forgetCursors", named)],
    "rows/routes:unusedRoutes": [query("rows/routes:unusedRoutes", named)],
  };
}
