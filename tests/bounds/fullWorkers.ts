/** Sessions, lanes and processes of the full world, with as much in hand as they may have. */
import { FIRST_PLACE } from "../../src/component/rows/duties.js";
import {
  ATTEMPTS_KEPT,
  CALL_UP_MAX,
  COST_MAX,
  CURSOR_KEPT_BYTES,
  FLEET_MAX,
  LANES_READ,
  LEASES_MAX,
  NAME_MAX_LENGTH,
  PAYLOAD_MAX_BYTES,
  QUEUES_MAX,
  RANKED_SESSIONS_MAX,
} from "../../src/shared/index.js";
import type { Line } from "../interleavings/line.js";
import { COMPONENT } from "../races/deployment.js";
import {
  heavyJob,
  HOUR,
  keptOf,
  label,
  many,
  manyParts,
  MINUTE,
  MUTATIONS,
  PUSH_QUEUES,
  queueName,
  RING,
  text,
  waitingJob,
} from "./fullShapes.js";
import { UNLIMITED, type Fields, type LargeWorld } from "./largeWorld.js";

/**
 * Jobs that run, and their leases: each has failed a thousand times, and succeeded as often, as in a circular queue; with as much
 * output and as many log entries of an earlier attempt as are kept. `isSilent`: without these, which no sweep reads.
 */
async function plantRunning(world: LargeWorld, n: number, count: number, isSilent = false) {
  const attempt = 2 * ATTEMPTS_KEPT + 1;
  const ids = await world.plant(
    "jobs",
    many(count, () => ({
      ...{ ...waitingJob(world, n, 0, 0, HOUR), status: "running", attempt },
      startedAt: world.transactions.now - MINUTE,
    })),
  );
  for (const id of isSilent ? [] : ids)
    for (const [table, rows] of Object.entries(keptOf(id, 2))) await world.plant(table, rows);
  const [error, trace] = [text(4_096), text(4_096)];
  for (const job of ids) {
    const about = { job, outcome: "failed", worker: "w", endedAt: 1, error, trace };
    await world.plant(
      "attempts",
      many(3, (n) => ({ ...about, attempt: n + 1 })),
    );
  }
  return ids.map((id) => ({ id, attempt }));
}

/** The peers of a large fleet, as its workers name them. */
export const PEERS = "alike";
/** On call without room, it leaves jobs, and jobs that prefer as many workers as a beat may name. */
export const FULL_WORKER = {
  ...{ peers: PEERS, more: 9, room: 0 },
  prefers: many(LEASES_MAX, (n) => `worker ${n}`),
};

export const peersIn = (token: string) => `${token}:${PEERS}`;

/** More are on call than one call reads, and the rest stand by. */
function dutyOf(token: string, n: number): Fields {
  const onCall = n < 5 * RANKED_SESSIONS_MAX;
  return { peers: peersIn(token), ...(onCall ? {} : { standbySince: FIRST_PLACE + n }) };
}

/** The answers to as many outcomes as one call may bring, and a cursor. */
const fullReply = {
  answers: many(LEASES_MAX, () => ({ id: text(32), attempt: 1, answer: "leaseLost" })),
  cursor: text(CURSOR_KEPT_BYTES),
};

export async function plantSessions(world: LargeWorld, token: string) {
  const { now } = world.transactions;
  const leases = await plantRunning(world, PUSH_QUEUES, LEASES_MAX);
  const leasesOf = (some: typeof leases) =>
    some.map((lease) => ({
      ...{ ...lease, queue: queueName(PUSH_QUEUES), callSeq: 1 },
      ...{ leaseMs: 60_000, graceMs: 1_000, timeoutAt: now + HOUR },
    }));
  const row = (sessionKey: string, fields: Fields) => ({
    ...{ sessionKey, token, name: text(NAME_MAX_LENGTH), lastSeenAt: now - 1_000, callSeq: 1 },
    ...{ queues: many(QUEUES_MAX, (i) => queueName(PUSH_QUEUES + i)) },
    ...{
      labels: many(32, (i) => label(0, i)),
      groups: many(32, (i) => label(1, i)),
      maxCost: COST_MAX,
    },
    ...{ acknowledged: true, reply: fullReply, ...fields },
  });
  const [session] = await world.plant("sessions", [
    row("full", { state: "active", expiresAt: now + MINUTE, leases: leasesOf(leases) }),
  ]);
  await world.write(async (transaction) => {
    for (const { id } of leases) await transaction.patch(COMPONENT, id, { session });
  });
  const held = leasesOf(leases);
  // The first have jobs of their own: a sweep begins with any of 16, and ends the leases of two.
  const own: (typeof held)[] = [];
  while (own.length < 18)
    own.push(leasesOf(await plantRunning(world, PUSH_QUEUES, LEASES_MAX, true)));
  const sessions = [
    // Of these a thousand have been silent for their leases of 61 s. An attempt of each other one has run long enough.
    ...many(FLEET_MAX + 500, (n) => {
      const expiresAt = now - 1_000 + n;
      const lastSeenAt = expiresAt < now ? expiresAt - 61_000 : now;
      return row(`active${n}`, { state: "active", expiresAt, lastSeenAt, leases: own[n] ?? held });
    }),
    ...many(FLEET_MAX + 500, (n) =>
      row(`idle${n}`, { state: "idle", expiresAt: now, leases: [], ...dutyOf(token, n) }),
    ),
    ...many(500, (n) => {
      const expiresAt = now - 25 * HOUR;
      return row(`gone${n}`, { state: "gone", expiresAt, lastSeenAt: expiresAt, leases: [] });
    }),
  ];
  const ids = await world.plant("sessions", sessions);
  await world.plant(
    "tokenSessions",
    ids.slice(0, 1_000).map((one) => ({ token, session: one })),
  );
  await world.plant("callUps", [
    { peers: peersIn(token), upTo: FIRST_PLACE, count: CALL_UP_MAX, at: now - 100 },
  ]);
  await world.plant(
    "fleets",
    many(QUEUES_MAX, (i) => ({
      ...{ queue: queueName(PUSH_QUEUES + i), at: now },
      members: Uint32Array.from(many(2 * FLEET_MAX, (n) => n)).buffer,
    })),
  );
  await world.plant(
    "cancels",
    leases.map(({ id, attempt }) => ({ sessionKey: "full", token, job: id, attempt })),
  );
  return { sessionKey: "full", leases, session: session! };
}

/** No session is silent and no process lost any more, so that a sweep ends no lease and repairs all else. */
export async function loseNothing(line: Line): Promise<void> {
  const transaction = line.point.begin();
  transaction.limits = UNLIMITED;
  for (const { _id, state } of line.rows("sessions")) {
    if (state !== "active") continue;
    await transaction.patch(COMPONENT, _id, { expiresAt: line.now + MINUTE });
  }
  for (const { _id } of line.rows("processes")) {
    await transaction.patch(COMPONENT, _id, { state: "free" });
  }
  line.point = line.point.commit(transaction, "plant")!;
}

export async function plantLanes(world: LargeWorld) {
  const { now } = world.transactions;
  const queue = queueName(0);
  const leases = await plantRunning(world, 0, LEASES_MAX);
  const sessionOf = (n: number, fields: Fields) => ({
    ...{
      sessionKey: `lane${n}`,
      name: `${queue}#${n}`,
      lastSeenAt: now - 1_000,
      callSeq: 1,
      generation: 1,
    },
    ...{ queues: [queue], acknowledged: true, reply: { answers: [] }, ...fields },
  });
  const held = leases.map((lease) => ({ ...lease, callSeq: 1 }));
  const sessions = await world.plant(
    "sessions",
    many(LANES_READ, (n) =>
      n === 0
        ? sessionOf(n, { state: "active", expiresAt: now + MINUTE, leases: held })
        : sessionOf(n, {
            state: n % 2 === 0 ? "active" : "idle",
            expiresAt: now + MINUTE,
            leases: [],
          }),
    ),
  );
  const lanes = await world.plant(
    "lanes",
    sessions.map((session) => ({ queue, session, cap: 1 })),
  );
  await world.write(async (transaction) => {
    for (const [n, lane] of lanes.entries())
      await transaction.patch(COMPONENT, sessions[n]!, { lane });
    for (const { id } of leases) await transaction.patch(COMPONENT, id, { session: sessions[0] });
  });
  const processes = await world.plant(
    "processes",
    many(128, (number) => ({
      ...{ number, state: number === 0 ? "receiving" : "open", generation: 1, openedAt: now },
    })),
  );
  await world.plant(
    "grants",
    processes.map((process) => ({ process, extra: 12 })),
  );
  await world.plant(
    "handOvers",
    many(64, (n) => ({
      ...{ process: processes[0], generation: 1, seq: world.seqOf(1_000 - n) },
      start: { lane: lanes[n], generation: 1, callSeq: 1, jobs: [] },
    })),
  );
  await world.plant(
    "waitingQueues",
    many(PUSH_QUEUES, (n) => ({ queue: queueName(n), isServed: true })),
  );
  return { lane: { lane: lanes[0]!, session: sessions[0]!, leases }, process: processes[0]! };
}

/** Of the jobs of such a queue so many have output in many small parts. */
export const SCATTERED = 4;

/** Jobs that run, each with a payload and a result of a megabyte. */
export async function plantLarge(world: LargeWorld, token: string) {
  const { now } = world.transactions;
  const handle = await world.line.app<string>("handler");
  const handler = { handle, kind: "mutation", takes: "payload" };
  const pushed = { ...RING.config, circular: false, push: true, maxParallelism: 16, handler };
  const row = { configuredAt: now, shardsEver: 1, epoch: 0 };
  await world.plant("queues", [
    { ...row, ...RING },
    { ...row, name: MUTATIONS, config: pushed },
  ]);
  const value = text(PAYLOAD_MAX_BYTES);
  const values = await world.plant(
    "payloads",
    many(2 * (LEASES_MAX + 16), () => ({ value })),
  );
  const stored = () => ({ row: values.pop(), bytes: PAYLOAD_MAX_BYTES });
  const running = async (queue: string, count: number) => {
    const fields = {
      status: "running",
      order: 0,
      shard: 0,
      seq: world.seqOf(MINUTE),
      enqueuedAt: 1,
    };
    const ids = await world.plant(
      "jobs",
      many(count, () => ({ ...heavyJob(queue), ...fields, payload: stored(), result: stored() })),
    );
    for (const id of ids.slice(0, SCATTERED)) await world.plant("chunks", manyParts(id, 2));
    return ids.map((id) => ({ id, attempt: 3 }));
  };
  const ring = await running(RING.name, LEASES_MAX);
  const mutations = await running(MUTATIONS, 16);
  const session = { lastSeenAt: now, callSeq: 1, acknowledged: true, reply: { answers: [] } };
  const expiresAt = now + MINUTE;
  const leasesOf = (all: typeof ring, queue: string) =>
    all.map((lease) => ({ ...lease, queue, callSeq: 1, leaseMs: 60_000 }));
  const [ringSession, laneSession] = await world.plant("sessions", [
    {
      ...{ ...session, sessionKey: "ring", token, name: "ring", state: "active", expiresAt },
      ...{ queues: [RING.name], leases: leasesOf(ring, RING.name) },
    },
    {
      ...{ ...session, sessionKey: "mutations", name: "mutations#0", state: "active", expiresAt },
      ...{ queues: [MUTATIONS], generation: 1, leases: leasesOf(mutations, MUTATIONS) },
    },
  ]);
  const [lane] = await world.plant("lanes", [{ queue: MUTATIONS, session: laneSession, cap: 16 }]);
  await world.write(async (transaction) => {
    await transaction.patch(COMPONENT, laneSession!, { lane });
    for (const { id } of ring) await transaction.patch(COMPONENT, id, { session: ringSession });
    for (const { id } of mutations)
      await transaction.patch(COMPONENT, id, { session: laneSession });
  });
  return {
    mutations: { lane: lane!, leases: mutations },
    ring: { sessionKey: "ring", leases: ring },
  };
}
