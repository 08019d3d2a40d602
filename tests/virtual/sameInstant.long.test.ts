/**
 * Jobs and sessions created by calls that began in the same instant: a reader that goes on from a place must not pass them by.
 */
import { describe, expect, test } from "vitest";
import {
  LEASE_GRID_MAX_MS,
  REMOVE_JOBS,
  REVOKED_SESSIONS,
  ROLL_UP_JOBS,
} from "../../src/shared/index.js";
import { enqueueAtOnce, keysOf, startTied, type Tied } from "./tied.js";

const LEASE_MS = 2_000;
const DAY_MS = 24 * 60 * 60_000;
const QUEUE = { name: "tied", config: { leaseMs: LEASE_MS, maxResets: 3, shards: 1 } };

test("jobs that were given back in one commit are all claimed, by a worker too that takes them one at a time and goes on from its cursor", async () => {
  const tied = await startTied(QUEUE);
  const { world, token, call, rows } = tied;
  await enqueueAtOnce(tied, QUEUE, 3);
  const silent = {
    token,
    sessionKey: "silent",
    name: "silent",
    callSeq: 1,
    queues: [QUEUE],
    max: 3,
  };
  expect((await call("lib:claim", silent)).jobs).toHaveLength(3);
  await world.advance(LEASE_MS + 10_000);
  expect(keysOf(rows("jobs"))).toBe(1);
  const claimed = new Set<unknown>();
  let cursor: string | undefined;
  for (let n = 1; n <= 3; n += 1) {
    const reply = await call("lib:claim", {
      ...{ token, sessionKey: "single", name: "single", callSeq: n, queues: [QUEUE], max: 1 },
      ...(cursor !== undefined && { cursor }),
    });
    for (const { payload } of reply.jobs) claimed.add(payload);
    cursor = reply.cursor as string;
  }
  expect([...claimed].sort()).toEqual([0, 1, 2]);
  await world.close();
});

/** As many as one commit cancels, or nearly. */
const TIE = 64;

/** Canceled in one commit, after so many earlier ends. */
async function endTied(tied: Tied, queue: typeof QUEUE, before: number): Promise<void> {
  const { call, rows } = tied;
  const cancel = { queue: queue.name, filter: {} };
  const jobs = Array.from({ length: before }, () => ({ payload: 0 }));
  if (before > 0) await call("lib:enqueue", { queue, jobs });
  for (let left = before; left > 0;) {
    left -= (await call("operate:cancelMany", { ...cancel, goOn: false })).changed as number;
  }
  await enqueueAtOnce(tied, queue, TIE);
  expect(await call("operate:cancelMany", cancel)).toMatchObject({ changed: TIE });
  const last = rows("jobs").slice(-TIE);
  expect(last.map(({ status }) => status)).toEqual(Array(TIE).fill("canceled"));
  expect(keysOf(last)).toBe(1);
}

describe("jobs that have ended in one commit", () => {
  // Rules out D6c.
  test("are all counted, where one run of the roll-up ends among them", async () => {
    const tied = await startTied(QUEUE);
    const before = ROLL_UP_JOBS - TIE / 2;
    await endTied(tied, QUEUE, before);
    expect(tied.rows("periods").filter(({ per }) => per === "minute")).toEqual([]);
    await tied.world.advance(30_000);
    const counted = tied
      .rows("periods")
      .filter(({ per }) => per === "minute")
      .reduce((sum, { canceled }) => sum + canceled, 0);
    expect(counted).toBe(before + TIE);
    await tied.world.close();
  });

  // Rules out D6c.
  test("are all deleted, where one run of the purge ends among them", async () => {
    const retention = { succeededMs: 0, failedMs: 0, canceledMs: 60_000, timedOutMs: 0 };
    const queue = { ...QUEUE, config: { ...QUEUE.config, retention } };
    const tied = await startTied(queue);
    await endTied(tied, queue, REMOVE_JOBS - TIE / 2);
    await tied.world.advance(DAY_MS);
    expect(tied.rows("jobs")).toEqual([]);
    await tied.world.close();
  });

  test.each(["retry", "delete"])("are all found by a change of many (%s)", async (action) => {
    const tied = await startTied(QUEUE);
    await endTied(tied, QUEUE, 0);
    const changed = await changeAll(tied, action, { statuses: ["canceled"] });
    expect(changed).toBe(TIE);
    expect(tied.rows("jobs").filter(({ status }) => status === "canceled")).toEqual([]);
    await tied.world.close();
  });
});

// Rules out D6c.
test("jobs that became claimable in one commit are all found by a cancel of many, a few at a time", async () => {
  const tied = await startTied(QUEUE);
  await endTied(tied, QUEUE, 0);
  const retry = { queue: QUEUE.name, filter: { statuses: ["canceled"] } };
  await tied.call("operate:retryMany", retry);
  expect(keysOf(tied.rows("jobs"))).toBe(1);
  expect(await changeAll(tied, "cancel", {})).toBe(TIE);
  await tied.world.close();
});

/** So few at a time that one step ends among them. */
async function changeAll({ call }: Tied, action: string, filter: object): Promise<number> {
  let changed = 0;
  let cursor: string | undefined;
  for (;;) {
    const args = { queue: QUEUE.name, filter, limit: 10, goOn: false };
    const from = cursor === undefined ? {} : { cursor };
    const reply = await call(`operate:${action}Many`, { ...args, ...from });
    changed += reply.changed as number;
    if (reply.isDone) return changed;
    cursor = reply.cursor as string;
  }
}

test("sessions of a revoked token that began at once all end at once, however many there are", async () => {
  const queue = { name: QUEUE.name, config: { ...QUEUE.config, leaseMs: 600_000 } };
  const tied = await startTied(queue);
  const { world, call, callAtOnce, rows } = tied;
  const { id, token } = await call("operate:createToken", { name: "revoked", queues: null });
  const sessions = Array.from({ length: REVOKED_SESSIONS + 2 }, (_, n) => `session-${n}`);
  const jobs = sessions.map(() => ({ payload: 0 }));
  await call("lib:enqueue", { queue, jobs });
  await callAtOnce(
    "lib:heartbeat",
    sessions.map((sessionKey) => ({ token, sessionKey, leases: [] })),
  );
  const rowsNow = () =>
    rows("sessions").filter((session) => sessions.includes(session["sessionKey"]));
  expect(new Set(rowsNow().map(({ _creationTime }) => _creationTime)).size).toBe(1);
  for (const sessionKey of sessions) {
    const claim = { token, sessionKey, name: sessionKey, callSeq: 1, queues: [queue], max: 1 };
    expect((await call("lib:claim", claim)).jobs).toHaveLength(1);
  }
  // Half of each lease is over, so that a beat moves its end; all beats fall between the same two points of the grid of ends.
  await world.advance(queue.config.leaseMs / 2 + 1_000);
  await world.advance(LEASE_GRID_MAX_MS - (world.now() % LEASE_GRID_MAX_MS) + 1);
  await callAtOnce(
    "lib:heartbeat",
    sessions.map((sessionKey) => ({ token, sessionKey, leases: [] })),
  );
  expect(new Set(rowsNow().map(({ expiresAt }) => expiresAt)).size).toBe(1);
  await call("operate:revokeToken", { id });
  await world.advance(5_000);
  expect(rowsNow().filter(({ state }) => state !== "gone")).toEqual([]);
  await world.close();
});
