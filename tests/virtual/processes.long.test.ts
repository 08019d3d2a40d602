/** Processes: lanes of many queues in one, long jobs that need a young one, another version, and the death of one. */
import { afterEach, describe, expect, test } from "vitest";
import type { MainLoop } from "../../src/shared/index.js";
import {
  deployAgain,
  every,
  startManyWorld,
  times,
  type ManyOptions,
  type ManyWorld,
} from "./manyWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PROMPT_MS = SECOND;

let many: ManyWorld;
afterEach(async () => await many.world.close());

async function start(options: ManyOptions): Promise<void> {
  many = await startManyWorld(options);
}

/** Scheduled functions that run at this moment: at rest, and between wakes, they are processes. */
const running = () => many.world.backend.runner.occupancy().scheduled;
const longest = (jobs: readonly number[]) => Math.max(...many.waits(jobs));

/** How many processes have been started, processes of an inline handler included. */
function started(): number {
  const { functions } = many.world.stats.snapshot();
  return ["conveyor/push/laneAction:laneProcess", "inline:run"].reduce(
    (sum, name) => sum + (functions[name]?.calls ?? 0),
    0,
  );
}

describe("inline handlers of several queues in one action", () => {
  const each = (queues: number, ms: number) =>
    Array.from({ length: queues }, (_, queue) => ({ queue, ms, at: queue * 50 }));

  test("share one process", async () => {
    await start({ queues: 2, isInline: true });
    const jobs = await many.enqueue(each(2, 10 * SECOND));
    await many.world.advance(SECOND);
    expect(longest(jobs)).toBeLessThan(PROMPT_MS);
    expect(running()).toBe(1);
    await many.world.advance(10 * SECOND);
    expect(many.ended.size).toBe(2);
    expect(running()).toBe(0);
  });

  test("hold at most half of the slots, however many they are, and leave the rest to other queues", async () => {
    await start({ queues: 12, isInline: true });
    const jobs = await many.enqueue(each(12, 5 * MINUTE));
    await many.world.advance(SECOND);
    expect(longest(jobs)).toBeLessThan(PROMPT_MS);
    expect(running()).toBeLessThanOrEqual(2);
    await many.world.advance(5 * MINUTE);
    const more = await many.enqueue(each(12, MINUTE));
    await many.world.advance(SECOND);
    expect(longest(more)).toBeLessThan(PROMPT_MS);
    expect(running()).toBeLessThanOrEqual(2);
  });
});

describe("a job that may run for 25 minutes, while most slots are taken", () => {
  const TIMEOUT_MS = 25 * MINUTE;

  /** Three processes, the last of which receives, and after a while such a job in a queue of its own. */
  async function enterAfter(ms: number): Promise<number> {
    await start({ queues: 5 });
    const busy = [0, 1, 2].map((queue) => ({ queue, ms: 8 * MINUTE, at: queue * 500 }));
    await many.enqueue(busy);
    await many.world.advance(SECOND);
    expect(running()).toBe(3);
    await many.world.advance(ms);
    const [job] = await many.enqueue([{ queue: 4, ms: SECOND, timeoutMs: TIMEOUT_MS }]);
    await many.world.advance(PROMPT_MS);
    return job!;
  }

  test("begins at once in a process that is young enough", async () => {
    const job = await enterAfter(2 * MINUTE);
    expect(longest([job])).toBeLessThan(PROMPT_MS);
    expect(running()).toBe(3);
  });

  test("waits where none is young enough, says why, and begins when a slot is free", async () => {
    const job = await enterAfter(6 * MINUTE);
    expect(many.began.has(job)).toBe(false);
    const why = JSON.stringify(await many.ask("why", { queue: 4 }));
    expect(why).toContain("longer than the running processes have left");
    await many.world.advance(3 * MINUTE);
    const freeAt = Math.min(...[0, 1, 2].map((n) => many.ended.get(n)!));
    expect(many.began.get(job)! - freeAt).toBeLessThan(2 * SECOND);
  });

  test("begins at once where two slots are free, also where another came with it", async () => {
    await start({ queues: 5 });
    const busy = [1, 12, 12].map((minutes, queue) => ({
      queue,
      ms: minutes * MINUTE,
      at: 500 * queue,
    }));
    await many.enqueue(busy);
    await many.world.advance(6 * MINUTE);
    expect(running()).toBe(2);
    const long = { queue: 4, ms: SECOND, timeoutMs: TIMEOUT_MS };
    const jobs = await many.enqueue([long, long]);
    await many.world.advance(10 * SECOND);
    expect(longest(jobs)).toBeLessThan(PROMPT_MS);
  });

  test("keeps no short job waiting meanwhile", async () => {
    await enterAfter(6 * MINUTE);
    const short = await many.enqueue(every(SECOND, 5, { queue: 3, ms: 50 }));
    await many.world.advance(SECOND);
    expect(longest(short)).toBeLessThan(PROMPT_MS);
  });
});

describe("a process that drains a backlog when the app is deployed", () => {
  /** Returns how many processes it took, and how long all jobs together. */
  async function deploy(version?: string): Promise<{ processes: number; seconds: number }> {
    await start({ queues: 1, maxParallelism: 4 });
    many.world.stats.reset();
    const from = many.world.now();
    const jobs = await many.enqueue(times(60, { queue: 0, ms: 1_500 }));
    await many.world.advance(5 * SECOND);
    await deployAgain(many, version);
    expect(many.ended.size).toBeLessThan(30);
    await many.world.advance(MINUTE);
    expect(many.ended.size).toBe(jobs.length);
    expect(running()).toBe(0);
    const seconds = (Math.max(...many.ended.values()) - from) / SECOND;
    return { processes: started(), seconds };
  }

  test("goes on where the component is the same", async () => {
    expect((await deploy()).processes).toBe(1);
  });

  test("ends with its next steps where the component is of another version, and another has its place", async () => {
    const { processes, seconds } = await deploy("0.1.1");
    expect(processes).toBe(2);
    // Fifteen times 1.5 seconds, and the time between jobs.
    expect(seconds).toBeLessThan(30);
  });
});

test("a process that dies takes down no jobs but its own, which are found within half a minute and retried", async () => {
  await start({ queues: 2, maxResets: 1 });
  const again = new Map<number, number>();
  many.world.backend.runner.onLog(({ text }) => {
    const n = Number(/began (\d+)/.exec(text)?.[1] ?? NaN);
    if (many.began.has(n) && many.began.get(n) !== many.world.now()) again.set(n, many.world.now());
  });
  const first = await many.enqueue(times(6, { queue: 0, ms: MINUTE }));
  const second = await many.enqueue(times(6, { queue: 1, ms: MINUTE }));
  await many.world.advance(10 * SECOND);
  expect(running()).toBe(2);
  let lost = 0;
  // The first that is asked about is the one that has run longest.
  many.world.backend.runner.loseActions(
    ({ address }) => address.path === "push/laneAction:laneProcess" && lost++ === 0,
  );
  const diedAt = many.world.now();
  await many.world.advance(5 * SECOND);
  expect((await many.ask<MainLoop>("mainLoop", {})).status).toBe("stalled");
  await many.world.advance(3 * MINUTE - 5 * SECOND);
  expect((await many.ask<MainLoop>("mainLoop", {})).status).not.toBe("stalled");
  expect([...again.keys()].sort((a, b) => a - b)).toEqual(first);
  for (const at of again.values()) {
    expect(at - diedAt).toBeGreaterThan(10 * SECOND);
    expect(at - diedAt).toBeLessThan(31 * SECOND);
  }
  for (const n of second)
    expect(many.ended.get(n)! - many.began.get(n)!).toBeLessThan(MINUTE + SECOND);
});

describe("the main loop, as queues() shows it", () => {
  const shown = () => many.ask<MainLoop>("mainLoop", {});

  test("is idle before the first job and after the last, and counts the processes", async () => {
    await start({ queues: 6 });
    const places = { used: 0, left: 56 };
    const lanes = { awake: 0, jobs: 0, more: false };
    const atRest = {
      ...{ status: "idle", slots: 4, places, lanes, queues: [], processes: [], waiting: [] },
    };
    expect(await shown()).toEqual({ ...atRest, generation: 0 });
    await many.enqueue([0, 1].map((queue) => ({ queue, ms: 10 * SECOND, at: queue * 500 })));
    await many.world.advance(SECOND);
    const { processes, ...rest } = await shown();
    expect(rest).toMatchObject({
      ...{ status: "running", generation: 2, places: { used: 2, left: 54 } },
      lanes: { awake: 2, jobs: 2, more: false },
    });
    expect(rest.queues.map(({ lanes, jobs, isWaiting }) => [lanes, jobs, isWaiting])).toEqual([
      [1, 1, false],
      [1, 1, false],
    ]);
    for (const one of processes) {
      expect(one).toMatchObject({
        ...{ generation: 1, places: 1, isReceiving: false, isInline: false, hasEnded: false },
      });
      expect(one.endsAt - one.openedAt).toBe(29.5 * MINUTE);
    }
    await many.world.advance(MINUTE);
    // What is left is to count and to purge these jobs.
    const { next, ...later } = await shown();
    expect(later).toEqual({ ...atRest, generation: 2 });
    expect(next!.dueAt).toBeGreaterThan(many.world.now());
  });

  test("shows places as processes hold them, and names queues that wait for one", async () => {
    await start({ queues: 6, maxParallelism: 20 });
    const jobs = [0, 1, 2, 3].flatMap((queue) => times(20, { queue, ms: 10 * MINUTE, at: queue }));
    await many.enqueue(jobs);
    await many.world.advance(5 * SECOND);
    const { status, places, processes, waiting } = await shown();
    expect(places.used).toBe(processes.reduce((sum, one) => sum + one.places, 0));
    expect(places.used + places.left).toBe(56);
    expect(places.used).toBeGreaterThanOrEqual(many.most);
    expect(processes.some(({ isReceiving }) => isReceiving)).toBe(true);
    expect(status).toBe("waiting");
    expect(waiting.length).toBeGreaterThan(0);
    const { queues, lanes } = await shown();
    expect(lanes.jobs).toBe(queues.reduce((sum, { jobs }) => sum + jobs, 0));
    expect(lanes.jobs).toBeLessThanOrEqual(places.used);
    const isNamed = (name: string) => queues.some((one) => one.queue === name && one.isWaiting);
    expect(waiting.filter((name) => !isNamed(name))).toEqual([]);
  });
});
