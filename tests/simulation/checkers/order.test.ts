/** Which waiting jobs this checker holds against the claim of another one. */
import { expect, test } from "vitest";
import { commitTimeOf } from "../../../src/shared/index.js";
import { Tables, type Row } from "../observed.js";
import type { Plan } from "../plan.js";
import { order } from "./order.js";

const NOW = 1_000_000;
const LONG_AGO = commitTimeOf(NOW - 60_000);

/**
 * The checker's violations where a job is claimed while this other one of higher priority waits, so long after the queue of four
 * shards was given one.
 */
function saidOf(waiting: object, loweredMs?: number): string[] {
  const said: string[] = [];
  let date = NOW;
  const tables = new Tables();
  const put = (table: string, rows: object[]) =>
    tables.apply({
      ...{ ts: 1n, reads: [] },
      writes: rows.map((doc) => ({
        ...{ namespace: "conveyor", table, id: (doc as Row)._id, doc },
      })),
    } as never);
  const job = { queue: "q", status: "pending", attempt: 0, seq: LONG_AGO, _creationTime: 1 };
  put("queues", [{ _id: "queue", name: "q", config: {}, shardsEver: 4 }]);
  put("sessions", [{ _id: "session", name: "worker" }]);
  put("jobs", [
    { ...job, _id: "low", order: 20 },
    { ...job, _id: "high", order: 10, ...waiting },
  ]);
  const watching = order.watch({
    ...{ plan: { jitter: 0, parts: [], workers: [] } as unknown as Plan, tables },
    ...{ runs: [], asked: [], now: () => date, date: () => date, nameOf: (id) => id },
    ...{ happened: () => undefined, broken: (how) => said.push(how) },
  });
  if (loweredMs !== undefined) {
    date = NOW - loweredMs;
    const queue = { _id: "queue", name: "q", config: { shards: 1 }, shardsEver: 4 };
    watching.commit?.({ at: date, changes: put("queues", [queue]) });
    date = NOW;
  }
  const claimed = { ...job, _id: "low", order: 20, status: "running", attempt: 1 };
  const changes = put("jobs", [{ ...claimed, session: "session" }]);
  watching.commit?.({ at: NOW, changes });
  return said;
}

test("one of higher priority that waits for long", () => {
  expect(saidOf({})).toEqual(["low is taken, and high waits before it"]);
});

test.each([
  ["has expired", { expiresAt: NOW }],
  ["has no time left until its deadline", { deadline: { at: NOW } }],
  ["is paused", { paused: true }],
  ["has come just now", { seq: commitTimeOf(NOW) }],
  ["fell to another worker", { status: "running", attempt: 1 }],
])("none that %s", (_how, waiting) => {
  expect(saidOf(waiting)).toEqual([]);
});

test("one that expires later", () => {
  expect(saidOf({ expiresAt: NOW + 1 })).toHaveLength(1);
  expect(saidOf({ deadline: { at: NOW + 1 } })).toHaveLength(1);
});

test("one that has come before, where the queue has had one shard for longer than a claim may be old", () => {
  const before = { order: 20, seq: LONG_AGO - 1n };
  expect(saidOf(before)).toEqual([]);
  expect(saidOf(before, 500)).toEqual([]);
  expect(saidOf(before, 30_000)).toHaveLength(1);
  expect(saidOf({ order: 20, seq: LONG_AGO + 1n }, 30_000)).toEqual([]);
});
