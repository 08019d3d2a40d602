/**
 * The largest state that the workers of one token may leave on a mount that has another queue: sessions with the largest rows, as
 * many claims as each may hold, the longest writes, and then silence. One transaction may use half of the platform's limits in
 * this world, so that a function which reads more fails. In virtual time, on the deployment class with the least room.
 */
import { getDocumentSize } from "convex/values";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EngineTransaction } from "../../local/engine/transaction.js";
import { PLATFORM_LIMITS } from "../../local/limits.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import {
  CURSOR_KEPT_BYTES,
  SESSION_MAX_BYTES,
  LEASES_MAX,
  LOG_MESSAGE_MAX_BYTES,
  OUTPUT_PART_MAX_BYTES,
  PROGRESS_MAX_BYTES,
  QUEUES_MAX,
  REPORT_MAX_BYTES,
  SESSIONS_MAX,
  type ClaimedJob,
} from "../../src/shared/index.js";
import { deploymentOf } from "../races/deployment.js";

const COMPONENT = "conveyor";
const LEASE_MS = 10_000;
const FLOOD_LEASE_MS = 60_000;
/** The promised time until a sweep has ended all leases that have run out. */
const PROMISED_MS = 1_000;
/** A sweep that ends as many leases as one ends: measured 1.2 s on this class. */
const SWEEP_MS = 1_500;
/** Of the planted sessions so many are idle, and so many hold jobs of their own: more than the sweeps end in this test. */
const IDLE = 200;
const HOLDING = 60;

const text = (letter: string, bytes: number) => letter.repeat(bytes);
const many = <T>(count: number, of: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => of(i));
const config = { leaseMs: FLOOD_LEASE_MS, maxResets: 3, shards: 1, timeoutMs: 3_600_000 };
const FLOODED = many(QUEUES_MAX, (i) => ({ name: `${text("q", 61)}${i + 100}`, config }));
const OTHER = { name: "other", config: { leaseMs: LEASE_MS, maxResets: 3, shards: 1 } };
/** Labels alone: with groups as large together, less of a cursor would be kept. */
const OFFER = { labels: many(64, (i) => `${text("l", 61)}${i + 10}`), maxCost: 1_000_000 };

type Row = { _id: string; [field: string]: any };
let world: World;
const store = new MemoryStore();
let hostile: string;
let own: string;
let workers = 0;

const rows = (table: string): Row[] =>
  store.contents().find(({ table: of }) => of.namespace === COMPONENT && of.name === table)?.docs ??
  [];
const call = async <T = any>(path: string, args: object): Promise<T> =>
  (await world.call(path, args, { componentPath: COMPONENT })) as T;
const makeToken = async (name: string, queues: string[]) =>
  (await call<{ token: string }>("operate:createToken", { name, queues })).token;

/** Bounds of one queue's shards, as large as a session's row keeps them. */
function largestCursor(): string {
  const bounds: unknown[] = [];
  const cursor = () => JSON.stringify({ [FLOODED[0]!.name]: [0, ...bounds] });
  const next = () => [`${10n ** 18n}`, 1_767_225_600_000.25, [0, bounds.length]];
  while (cursor().length < CURSOR_KEPT_BYTES - 100) bounds.push(next());
  return cursor();
}

/** One session that does the most of all by calls: its row, and its first job's. */
async function largest(): Promise<{ session: Row; job: Row }> {
  const jobs = many(LEASES_MAX, () => ({ payload: 1 }));
  await call("lib:enqueue", { queue: FLOODED[0], jobs });
  const caller = { token: hostile, sessionKey: `${text("s", 60)}0000` };
  const name = text("w", 50);
  const claim = { queues: FLOODED, max: LEASES_MAX, ...OFFER };
  const { jobs: held } = await call("lib:claim", { ...caller, name, callSeq: 1, ...claim });
  const finished = many(LEASES_MAX, (i) => ({
    ...{ id: `${text("x", 62)}${i + 10}`, attempt: 10 ** 9 },
    outcome: { kind: "failed", error: "e" },
  }));
  const cursor = largestCursor();
  await call("lib:complete", {
    ...caller,
    callSeq: 2,
    finished,
    claim: { ...claim, max: 1, cursor },
  });
  await writeMost(caller, held as ClaimedJob[]);
  const session = rows("sessions").find((row) => row["sessionKey"] === caller.sessionKey)!;
  return { session, job: rows("jobs").find(({ session: of }) => of === session._id)! };
}

async function writeMost(session: object, jobs: readonly ClaimedJob[]): Promise<void> {
  const leases = jobs.map(({ id, attempt }) => ({ id, attempt }));
  const some = Math.floor(REPORT_MAX_BYTES / OUTPUT_PART_MAX_BYTES) - 1;
  const said = [
    { updates: leases.map((lease) => ({ ...lease, value: text("p", PROGRESS_MAX_BYTES - 8) })) },
    {
      logs: leases.flatMap((lease) =>
        many(4, (entry) => ({
          ...{ ...lease, entry, level: "info" },
          message: text("m", LOG_MESSAGE_MAX_BYTES),
        })),
      ),
    },
    {
      output: leases.slice(0, some).map((lease) => ({
        ...{ ...lease, index: 0, text: text("c", OUTPUT_PART_MAX_BYTES) },
      })),
    },
  ];
  for (const report of said) {
    await call("lib:report", { ...session, ...report });
    // As fast as the class may write.
    await world.advance(2_000);
  }
  for (const lease of leases.slice(0, 4)) {
    const outcome = { kind: "succeeded", result: text("r", 500_000) };
    await call("lib:completeLater", { ...session, finished: { ...lease, outcome } });
    await world.advance(2_000);
  }
}

/** As many such sessions as the token may have, last heard of at that time: written at once, since by calls they take minutes. */
async function plant(
  { session, job }: { session: Row; job: Row },
  lastSeenAt: number,
): Promise<void> {
  const transaction = world.backend.database.begin() as EngineTransaction;
  transaction.limits = Object.fromEntries(
    Object.keys(transaction.limits).map((name) => [name, Infinity]),
  ) as unknown as typeof transaction.limits;
  const { _id: _a, _creationTime: _b, ...fields } = session;
  const { _id: _c, _creationTime: _d, ...held } = job;
  const insert = async (table: string, row: object) =>
    await transaction.insert(COMPONENT, table, row as never);
  const lease = session["leases"][0] as object;
  const pools: string[][] = many(HOLDING, () => []);
  for (const pool of pools) while (pool.length < LEASES_MAX) pool.push(await insert("jobs", held));
  for (let i = 1; i < SESSIONS_MAX; i += 1) {
    const isIdle = i <= IDLE;
    const leases = isIdle ? [] : pools[i % HOLDING]!.map((id) => ({ ...lease, id }));
    const id = await insert("sessions", {
      ...{ ...fields, sessionKey: `${text("s", 60)}${i + 1_000}`, leases, lastSeenAt },
      ...{ state: isIdle ? "idle" : "active" },
      expiresAt: isIdle ? lastSeenAt : lastSeenAt + FLOOD_LEASE_MS,
    });
    await insert("tokenSessions", { token: fields["token"], session: id });
  }
  await world.backend.database.commit(transaction, "plant");
}

let plantedAt: number;
beforeAll(async () => {
  const { documentsRead, databaseQueries, bytesRead } = PLATFORM_LIMITS;
  const half = { documentsRead, databaseQueries, bytesRead };
  world = await createWorld({
    ...{ seed: 1, store, deployment: await deploymentOf([]), runner: { contexts: "reused" } },
    limits: Object.fromEntries(Object.entries(half).map(([name, most]) => [name, most / 2])),
  });
  hostile = await makeToken(
    "hostile",
    FLOODED.map(({ name }) => name),
  );
  own = await makeToken("own", [OTHER.name]);
  for (const queues of [FLOODED, [OTHER]]) await call("lib:declare", { queues });
  const one = await largest();
  expect(getDocumentSize(one.session)).toBeGreaterThan(SESSION_MAX_BYTES / 2);
  // The planted rows are more than the class may write in some seconds.
  plantedAt = world.now() + 30_000;
  await world.run(plant(one, plantedAt));
  await world.advance(30_000);
});

afterAll(() => world.close());

/** A job of the other queue, with a worker that is silent from its claim on. */
async function abandoned(): Promise<{ id: string; at: number }> {
  await call("lib:enqueue", { queue: OTHER, jobs: [{ payload: 1 }] });
  await world.advance(500);
  const name = `worker${(workers += 1)}`;
  const claim = { token: own, sessionKey: name, name, callSeq: 1, queues: [OTHER], max: 1 };
  const { jobs } = await call("lib:claim", claim);
  return { id: (jobs as ClaimedJob[])[0]!.id, at: world.now() };
}

/** After how long the job was claimable again. */
async function backAfter({ id, at }: { id: string; at: number }): Promise<number> {
  while (world.now() - at < 10 * LEASE_MS) {
    const status = (await call<{ status: string }>("lib:status", { id })).status;
    if (status === "pending") return world.now() - at;
    await world.advance(100);
  }
  return Infinity;
}

async function allViewsAnswer(): Promise<void> {
  expect((await call<unknown[]>("lib:workers", {})).length).toBeGreaterThan(0);
  for (const queue of [OTHER.name, FLOODED[0]!.name]) {
    await call("lib:workers", { queue });
    expect(await call("observe:overview", { queue, beside: 100 })).not.toBeNull();
    expect(await call("observe:metrics", { queue })).not.toBeNull();
    await call("observe:health", { queue });
    await call("lib:counts", { queue });
    const paginationOpts = { cursor: null, numItems: 50 };
    await call("observe:list", { queue, filter: {}, order: "newest", paginationOpts });
  }
}

const failures = () =>
  Object.entries(world.stats.snapshot().functions)
    .filter(([, { errors }]) => errors > 0)
    .map(([name, { errors }]) => [name, errors]);

test("the token can have no session more", async () => {
  const late = {
    token: hostile,
    sessionKey: "one-more",
    name: "w",
    callSeq: 1,
    queues: FLOODED,
    max: 1,
  };
  await expect(call("lib:claim", late)).rejects.toMatchObject({
    data: { code: "tooManySessions", max: SESSIONS_MAX },
  });
});

test("while they are at work, another queue's lost lease ends in time, and all views answer", async () => {
  const job = await abandoned();
  await allViewsAnswer();
  expect(await backAfter(job)).toBeLessThan(LEASE_MS + PROMISED_MS);
});

test("after all of them have fallen silent at once, it ends within the turns of both tokens", async () => {
  // A moment after theirs have run out.
  await world.advance(plantedAt + FLOOD_LEASE_MS - LEASE_MS + 3_000 - world.now());
  const job = await abandoned();
  // The sweep under way, one for the token's turn, one for the other's.
  expect(await backAfter(job)).toBeLessThan(LEASE_MS + PROMISED_MS + 3 * SWEEP_MS);
  expect(rows("sessions").filter(({ state }) => state === "active").length).toBeGreaterThan(500);
  await allViewsAnswer();
});

test("no function has used half of a transaction's limits, and none but the refused call has failed", () => {
  expect(failures()).toEqual([[`${COMPONENT}/lib:claim`, 1]]);
  expect(
    world.stats.snapshot().functions[`${COMPONENT}/tend/janitor:sweep`]!.calls,
  ).toBeGreaterThan(5);
});
