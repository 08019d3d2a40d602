/**
 * Rows that an earlier version has written, and calls that it has scheduled, under the component as it stands in this
 * tree: in virtual time, from the moment at which each fixture was recorded.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFinished } from "../../src/shared/index.js";
import type { Deployment } from "../../local/functions/types.js";
import type { MemoryStore } from "../../local/store/memoryStore.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { COMPONENT, install, makeApp, RUNNER } from "./app.js";
import {
  callsOf,
  decode,
  pendingCalls,
  readFixtures,
  rowsOf,
  storeOf,
  tablesOf,
  type Fixture,
  type KnownSession,
  type Row,
} from "./fixture.js";
import { finishAll } from "./finishing.js";

/** That of jobs that failed, and more. */
const RETENTION_MS = 8 * 24 * 3_600_000;

let app: Deployment;
let store: MemoryStore;
let world: World;
let close = async (): Promise<void> => {};
beforeAll(async () => {
  app = await makeApp();
});
afterAll(() => close());

/** The world of the test before is over. */
async function upgrade(fixture: Fixture): Promise<void> {
  await close();
  store = await storeOf(fixture);
  const startMs = fixture.at;
  // Another seed than the recorded one: its ids would come again.
  world = await createWorld({ seed: 2, store, startMs, runner: RUNNER });
  close = () => world.close();
  await install(world, app);
}

function now(table: string, namespace = COMPONENT): Row[] {
  return rowsOf({ tables: tablesOf(store) }, table, namespace);
}

function sessionOf(fixture: Fixture, name: string): KnownSession {
  return fixture.sessions.find(({ sessionKey }) => sessionKey === name)!;
}

describe.each(readFixtures())("rows of $name", ({ fixture }) => {
  test("are of every kind that the version could make", () => {
    const of = (table: string, holds: (row: Row) => unknown) => rowsOf(fixture, table).some(holds);
    const calls = pendingCalls(fixture);
    const large = (stored: Row[string]) => stored !== undefined && "row" in stored;
    const kinds = {
      ...Object.fromEntries(
        ["pending", "running", "succeeded", "failed", "canceled", "timedOut"].map((status) => [
          status,
          of("jobs", (job) => job.status === status),
        ]),
      ),
      "pending, new": of("jobs", ({ order }) => order === 21),
      "pending, returned": of("jobs", ({ order }) => order === 20),
      "pending, released": of("jobs", ({ status, releases }) => status === "pending" && releases),
      "pending, reset": of("jobs", ({ status, resets }) => status === "pending" && resets),
      "released unacknowledged": of("jobs", ({ unacknowledged }) => unacknowledged),
      "in several shards": new Set(rowsOf(fixture, "jobs").map(({ shard }) => shard)).size > 3,
      "a large payload": of("jobs", ({ payload }) => large(payload)),
      "a large result": of("jobs", ({ result }) => large(result)),
      "an inline result": of("jobs", ({ result }) => result !== undefined && !large(result)),
      "a queue with a callback": of("queues", ({ config }) => config.onComplete),
      "a queue without one": of("queues", ({ config }) => config.onComplete === undefined),
      "acknowledged leases": of(
        "sessions",
        ({ leases, acknowledged }) => leases[0] && acknowledged,
      ),
      "unacknowledged ones": of(
        "sessions",
        ({ leases, acknowledged }) => leases[0] && !acknowledged,
      ),
      "an idle session": of("sessions", ({ state }) => state === "idle"),
      "one that is gone": of("sessions", ({ state }) => state === "gone"),
      progress: of("progress", () => true),
      "a timer": of("timers", () => true),
      "a cursor": of("cursors", ({ bounds }) => bounds.length > 0),
      "a callback not yet tried": of("callbacks", ({ tries }) => tries === 0),
      "one that is being tried": callsOf(calls, "edges/callbacks:tryCallback").length > 0,
      "one that has failed": of("callbacks", ({ state, tries }) => state === "owed" && tries > 1),
      "one that was given up": of("callbacks", ({ state }) => state === "dead"),
      "a token": of("tokens", ({ revokedAt }) => revokedAt === undefined),
      "one that was revoked": of("tokens", ({ revokedAt }) => revokedAt !== undefined),
      "a scheduled sweep": callsOf(calls, "tend/janitor:sweep").length > 0,
      "a scheduled plan": callsOf(calls, "edges/callbacks:planCallback").length > 0,
    };
    expect(Object.entries(kinds).filter(([, there]) => !there)).toEqual([]);
  });

  // Shows WP-35, M3.
  test("are taken by the schema, and are unchanged", async () => {
    await upgrade(fixture);
    expect(now("jobs")).not.toEqual([]);
    for (const { namespace, name, rows } of fixture.tables) {
      const byId = (a: Row, b: Row) => (a._id < b._id ? -1 : 1);
      const kept = now(name, namespace);
      if (!name.startsWith("_")) expect([...kept].sort(byId)).toEqual([...rows].sort(byId));
    }
  });

  test("are shown by `status`, each with the fields of its state", async () => {
    await upgrade(fixture);
    const payloads = new Map(rowsOf(fixture, "payloads").map((row) => [row._id, row.value]));
    for (const job of rowsOf(fixture, "jobs")) {
      const { queue, status, attempt, enqueuedAt, worker, startedAt } = job;
      const { failures = 0, resets = 0 } = job;
      const result =
        job.result && ("row" in job.result ? payloads.get(job.result.row) : job.result.inline);
      const shown = await world.call(`${queue}:status`, { id: job._id });
      expect(shown).toMatchObject({
        ...{ id: job._id, queue, status, attempt, failures, resets, enqueuedAt },
        ...(status === "running" || status === "succeeded" ? { worker, startedAt } : {}),
        ...(isFinished(status) ? { finishedAt: job.finishedAt } : {}),
        ...(status === "succeeded" ? { result } : {}),
        ...(status === "failed" || status === "timedOut" ? { error: job.error } : {}),
      });
      const progress = rowsOf(fixture, "progress").find((row) => row.job === job._id);
      if (progress !== undefined) expect(shown.progress).toEqual(progress.value);
    }
  });

  test("let a session go on where it was: repeat its last call, beat, report", async () => {
    await upgrade(fixture);
    for (const name of ["busy", "slow"]) {
      const { sessionKey, token, callSeq, leases, last } = sessionOf(fixture, name);
      const again = await world.call(last.path, last.args);
      // The number of workers of the queue is read anew, and not kept with the answer.
      const { fleet: _fleet, places: _places, ...kept } = last.reply as Row;
      expect(again).toMatchObject(kept);
      const beat = await world.call("work:heartbeat", { token, sessionKey, leases });
      const ok = leases.map((lease) => ({ ...lease, answer: "ok" }));
      expect(beat.answers).toEqual(ok);
      const outcome = { kind: "succeeded", result: name };
      const finished = leases.map((lease) => ({ ...lease, outcome }));
      const report = { token, sessionKey, callSeq: callSeq + 1, finished };
      expect((await world.call("work:complete", report)).answers).toEqual(ok);
      expect((await world.call("work:complete", report)).answers).toEqual(ok);
      await expect(world.call(last.path, last.args)).rejects.toMatchObject({
        data: { code: "staleCall" },
      });
    }
  });

  test("fence off a session that had lost its leases, and one with a revoked token", async () => {
    await upgrade(fixture);
    const { sessionKey, token, callSeq, leases } = sessionOf(fixture, "gone-1");
    const finished = leases.map((lease) => ({ ...lease, outcome: { kind: "released" } }));
    const late = await world.call("work:complete", {
      token,
      sessionKey,
      callSeq: callSeq + 1,
      finished,
    });
    expect(late.answers).toEqual(leases.map((lease) => ({ ...lease, answer: "leaseLost" })));
    const stranded = sessionOf(fixture, "stranded");
    await expect(world.call(stranded.last.path, stranded.last.args)).rejects.toMatchObject({
      data: { code: "tokenRevoked" },
    });
  });

  describe("all come to an end, by the hand of a new worker:", () => {
    let told: string[];
    beforeAll(async () => {
      await upgrade(fixture);
      await world.call("app:mend");
      told = await finishAll(world, store, sessionOf(fixture, "lost").token);
    });

    test("each owed callback runs once", () => {
      const dead = new Set(
        rowsOf(fixture, "callbacks")
          .filter(({ state }) => state === "dead")
          .map(({ job, attempt }) => `${job} ${attempt}`),
      );
      expect(new Set(told).size).toBe(told.length);
      for (const job of now("jobs")) {
        const ending = `${job._id} ${job.attempt}`;
        const owed = job.queue !== "quiet" && !dead.has(ending);
        expect({ ending, told: told.includes(ending) }).toEqual({ ending, told: owed });
      }
      for (const { job, attempt } of rowsOf(fixture, "callbacks")) {
        const ending = `${job} ${attempt}`;
        expect({ ending, told: told.includes(ending) }).toEqual({
          ending,
          told: !dead.has(ending),
        });
      }
    });

    // Shows WP-35, M3.
    test("scheduled functions run: no call fails, and none is left", () => {
      const scheduled = now("_scheduled_functions");
      const due = pendingCalls(fixture).filter(({ scheduledTime }) => scheduledTime < world.now());
      expect(due).not.toEqual([]);
      const ended = due.map(({ _id, target }) => ({
        call: target.path as string,
        // A plan is canceled by the try that made it needless, a count by the roll-up that has done it.
        state: scheduled.find((row) => row._id === _id)?.state.kind as string | undefined,
      }));
      for (const { call, state } of ended) {
        const ways =
          call === "edges/callbacks:planCallback" || call === "count/arrivals:countNewJobs"
            ? ["success", "canceled", undefined]
            : ["success", undefined];
        expect(ways, call).toContain(state);
      }
      expect(now("callbacks").every(({ state }) => state === "dead")).toBe(true);
      for (const { leases } of now("sessions")) expect(leases).toEqual([]);
    });

    test("they are purged when their retention is over, with their values stored apart", async () => {
      await world.advance(RETENTION_MS);
      for (const table of ["jobs", "payloads", "progress"]) expect(now(table)).toEqual([]);
    });
  });

  test("may be canceled while they wait, and retried when they have ended", async () => {
    await upgrade(fixture);
    const [waiting] = rowsOf(fixture, "jobs").filter(({ status }) => status === "pending");
    const canceled = await world.call(`${waiting!.queue}:cancel`, { id: waiting!._id });
    expect(canceled).toMatchObject({ canceled: true, status: "canceled" });
    for (const status of ["succeeded", "failed", "canceled", "timedOut"]) {
      const job = rowsOf(fixture, "jobs").find((row) => row.status === status)!;
      const retried = await world.call(`${job.queue}:retry`, { id: job._id });
      expect(retried).toMatchObject({ retried: true, status: "pending" });
      expect(await world.call(`${job.queue}:status`, { id: job._id })).toMatchObject({
        status: "pending",
        attempt: job.attempt,
      });
    }
  });
});

test("a row that the schema does not take is refused, so that this test would notice", async () => {
  const { fixture } = readFixtures()[0]!;
  const broken = decode(JSON.stringify({ ...fixture, sessions: [], tables: [] }));
  broken.tables = fixture.tables.map((table) =>
    table.namespace === COMPONENT && table.name === "jobs"
      ? { ...table, rows: table.rows.map(({ attempt: _, ...row }) => row) }
      : table,
  );
  await expect(upgrade(broken)).rejects.toThrow(/attempt/);
});
