/** Plans written by hand: a wake that waits for a job that has ended already, as its old snapshot does not show. */
import { beforeAll, describe, expect, test } from "vitest";
import { keepSandboxes } from "../../local/virtual/keptSandboxes.js";
import { build, type Built } from "./deployment.js";
import type { Plan, Planned, QueueName } from "./plan.js";
import { play } from "./run.js";

/** The lag of snapshot queries, from then on. */
const OLD = { at: 1_000, do: "old snapshots.begin", seed: 1, maxMs: 1_000 };
/** The first lane is awake, and has left when the second job comes. */
const FIRST_MS = 1_500;
const LATER_MS = [1_700, 1_800, 1_900];

let built: Built;
const sandboxes = keepSandboxes();
beforeAll(async () => {
  built = await build();
}, 60_000);

function planned(queue: QueueName, maxParallelism: number, secondAt: number): Plan {
  const enqueue = (at: number, n: number): Planned => {
    const payload = { n, turns: [{ ms: 0, end: "returns" }] };
    return { at, do: "producers.enqueue", queue, jobs: [{ payload, options: {} }] };
  };
  return {
    ...{ seed: 1, class: "s16", jitter: 0.5, workers: [], crowd: {}, faultsMs: 4_000 },
    queues: { [queue]: { maxParallelism } },
    parts: ["producers", "old snapshots"],
    events: [OLD, enqueue(FIRST_MS, 1), enqueue(secondAt, 2)],
  };
}

async function violations(plan: Plan): Promise<string[]> {
  const played = await play(plan, { built, sandboxes });
  // One more job comes a day after the first ones have ended.
  expect(played.jobs).toBe(3);
  return played.violations.map(({ checker, how }) => `${checker}: ${how}`);
}

describe("a job is begun, though an old snapshot shows", () => {
  test.for(LATER_MS)(
    "a process that has ended as the one to which its lane is handed (%i)",
    async (at) => {
      expect(await violations(planned("inlined", 10, at))).toEqual([]);
    },
  );
  test.for(LATER_MS)("a lane that sleeps as the one that has all the room (%i)", async (at) => {
    expect(await violations(planned("looked", 1, at))).toEqual([]);
  });
});

/** Each in a process of its own. */
const LONG_AT = [500, 1_500, 2_500];

test.for([1, 2, 3, 4])(
  "long jobs leave inline handlers a slot, whichever they take (%i)",
  async (seed) => {
    const job = (at: number, queue: QueueName, n: number, ms: number): Planned => {
      const payload = { n, turns: [{ ms, end: "returns" }] };
      return { at, do: "producers.enqueue", queue, jobs: [{ payload, options: {} }] };
    };
    const played = await play(
      {
        ...{ seed, class: "s16", jitter: 0, workers: [], crowd: {}, faultsMs: 15_000 },
        queues: { acted: { maxParallelism: 20 }, inlined: { maxParallelism: 20 } },
        parts: ["producers"],
        events: [
          ...LONG_AT.map((at, i) => job(at, "acted", i, 30_000)),
          job(3_500, "inlined", 9, 0),
        ],
      },
      { built, sandboxes },
    );
    expect(played.violations).toEqual([]);
  },
);
