/** The obstacles of a job of a queue that Convex itself runs; the rest is beside `why.ts` of the component. */
import { describe, expect, test } from "vitest";
import { STUCK_MS } from "./health.js";
import { whyWaits, type InsideFacts, type WaitingFacts } from "./why.js";

const NOW = Date.UTC(2026, 0, 1);
const NOBODY = { serving: 0, quiet: 0, fitting: 0, idle: 0, held: 0, names: [], more: false };
const INSIDE: InsideFacts = {
  ...{
    maxParallelism: 2,
    running: 0,
    more: false,
    names: [],
    isWaiting: false,
    leftUntil: NOW - 1_000,
  },
};

function waits(facts: Partial<WaitingFacts>) {
  return whyWaits({
    ...{
      now: NOW,
      queue: "mails",
      labels: [],
      cost: 1,
      isDraining: false,
      eligibleWorkers: NOBODY,
    },
    ...{ inside: INSIDE, ahead: 0, more: false, claimableAt: NOW - 1_000, claimedAt: null },
    ...facts,
  });
}

const kinds = (facts: Partial<WaitingFacts>) => waits(facts).map(({ kind }) => kind);

describe("a job that Convex itself may run", () => {
  test("needs no worker, and is next", () => {
    expect(kinds({})).toEqual(["next"]);
  });

  test("waits while as many run as may, and is told which", () => {
    const inside = { ...INSIDE, maxParallelism: 5, running: 5, names: ["a", "b", "c"] };
    expect(waits({ inside })).toMatchObject([
      {
        kind: "atCapacity",
        text: "The queue runs 5 jobs inside Convex, its `maxParallelism`: a, b, c and 2 more.",
      },
      { kind: "next" },
    ]);
    // A worker outside could take it.
    const eligibleWorkers = { ...NOBODY, serving: 1, fitting: 1, idle: 1 };
    expect(kinds({ inside, eligibleWorkers })).toEqual(["next"]);
  });

  test("waits for ever where none may run, and for a slot that other queues have", () => {
    expect(kinds({ inside: { ...INSIDE, maxParallelism: 0 } })).toEqual(["atCapacity", "next"]);
    expect(kinds({ inside: { ...INSIDE, isWaiting: true } })).toEqual(["atCapacity", "next"]);
  });

  test("is left to workers outside until then", () => {
    const inside = { ...INSIDE, leftUntil: NOW + 5_000 };
    expect(waits({ inside })[0]).toMatchObject({
      kind: "noWorker",
      text:
        'No worker that serves "mails" is alive. It is reserved for external workers until ' +
        "2026-01-01 00:00:05 UTC, and then runs inside Convex.",
      until: NOW + 5_000,
    });
    const eligibleWorkers = { ...NOBODY, serving: 1, fitting: 1, idle: 1 };
    expect(kinds({ inside, eligibleWorkers })).toEqual(["next"]);
  });

  // Shows K17.
  test("is stuck when there is room and nothing was claimed for a minute, and not a moment sooner", () => {
    const since = (ms: number) => ({
      claimableAt: NOW - 3 * STUCK_MS,
      claimedAt: NOW - ms,
      inside: { ...INSIDE, leftUntil: NOW - 3 * STUCK_MS },
    });
    expect(kinds(since(STUCK_MS))).toEqual(["stuck"]);
    expect(kinds(since(STUCK_MS - 1))).toEqual(["next"]);
    const full = { ...since(STUCK_MS), inside: { ...INSIDE, running: 2, names: ["a", "b"] } };
    expect(kinds(full)).toEqual(["atCapacity", "next"]);
  });
});

test("where neither a worker nor a handler is, both ways out are said", () => {
  const [reason] = waits({ inside: null, eligibleWorkers: NOBODY });
  expect(reason).toMatchObject({
    kind: "noWorker",
    remedy:
      "Start a worker for this queue, or give the queue a handler, so that Convex runs its jobs.",
  });
});

test("with more workers than were read, no worker is said to be missing", () => {
  const eligibleWorkers = { ...NOBODY, serving: 100, more: true };
  expect(kinds({ inside: null, eligibleWorkers, ahead: 100, more: true })).toEqual(["behind"]);
});

test("a job behind other jobs has an estimated start", () => {
  const [reason] = waits({ ahead: 12, startsAt: NOW + 90_000 });
  expect(reason).toMatchObject({
    kind: "behind",
    text: "12 jobs are ahead of it. At the current pace it starts at about 2026-01-01 00:01:30 UTC.",
    until: NOW + 90_000,
  });
});
