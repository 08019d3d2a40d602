/** Statistics after a busy time, compared with all commits in it; and the cost of reading them, in virtual time. */
import { afterEach, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import type { ConvexClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import type { StoredCommit } from "../../local/engine/store.js";
import { isFinished, msOfCommit } from "../../src/shared/index.js";
import type { FinishedStatus, Per, Period, Stats, Status } from "../../src/shared/index.js";
import { COMPONENT, enqueue, startPushWorld, type PushWorld } from "./pushWorld.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Longer than it takes until the last job is counted. */
const COUNTED_MS = 25 * MINUTE;
/** Of two seconds each, with four jobs. */
const ROUNDS = counts(30, 60);

let pushed: PushWorld;
afterEach(async () => {
  await pushed.world.close();
});

type Job = Record<string, unknown> & { status: Status; seq: bigint; enqueuedAt: number };
type Counted = "enqueued" | "started" | FinishedStatus;

/** The history of a queue's jobs by the minute, from the commits alone. */
class History {
  private readonly jobs = new Map<string, Job>();
  private readonly counts = new Map<string, number>();

  constructor(private readonly queue: string) {}

  see({ writes }: StoredCommit): void {
    for (const { namespace, table, id, doc } of writes) {
      if (namespace !== COMPONENT || table !== "jobs") continue;
      const before = this.jobs.get(id);
      const after = doc as Job | null;
      if (after === null) this.jobs.delete(id);
      else this.jobs.set(id, after);
      if (after?.["queue"] !== this.queue) continue;
      if (before === undefined) this.add("enqueued", after.enqueuedAt);
      if (!isFinished(after.status) || before?.seq === after.seq) continue;
      this.add(after.status, msOfCommit(after.seq));
      const { startedAt } = after as { startedAt?: number };
      if (startedAt !== undefined) this.add("started", startedAt);
    }
  }

  of(what: Counted, from: number, to: number): number {
    let sum = 0;
    for (const [key, count] of this.counts) {
      const [name, minute] = key.split(" ") as [string, string];
      if (name === what && Number(minute) >= from && Number(minute) < to) sum += count;
    }
    return sum;
  }

  private add(what: Counted, at: number): void {
    const key = `${what} ${Math.floor(at / MINUTE) * MINUTE}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }
}

async function start(seed: number): Promise<History> {
  pushed = await startPushWorld(seed);
  const history = new History("acted");
  // The queue's declaration has been committed before.
  await pushed.world.advance(COUNTED_MS);
  pushed.store.kept = (commit) => history.see(commit);
  return history;
}

async function stats(per: Per, count: number): Promise<Period[]> {
  const reply = (await pushed.world.call("work:periods", { queue: "acted", per, count })) as Stats;
  return reply.periods;
}

/** Of the component, in the caller's transaction or by itself. */
async function operate(path: string, args: object): Promise<void> {
  await pushed.world.call(path, args, { componentPath: COMPONENT });
}

const PERIODS = { minute: MINUTE, hour: 60 * MINUTE, day: 24 * 60 * MINUTE } as const;

test("statistics agree with the history exactly after a busy time in which jobs were also canceled, retried and deleted", async () => {
  const history = await start(1);
  const { world, store } = pushed;
  const begunAt = world.now();
  const pick = (of: (status: string) => boolean, nth: number) => {
    const jobs = store.jobs("acted").filter(({ status }) => of(status));
    return jobs[(nth * 7) % Math.max(1, jobs.length)]?._id;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const jobs = Array.from({ length: 4 }, (_, i) => ({
      n: 10 + round * 4 + i,
      ms: 100 + ((round * 37 + i * 211) % 900),
      fails: round % 5 === i ? 3 : 0,
    }));
    await enqueue(world, "acted", jobs, round % 10 === 3 ? { runAfter: MINUTE } : {});
    await world.advance(2 * SECOND);
    const waits = (status: string) => status === "pending" || status === "scheduled";
    const canceled = round % 3 === 0 ? pick(waits, round) : undefined;
    if (canceled !== undefined) await operate("operate:cancelJob", { id: canceled });
    const retried = round % 4 === 0 ? pick((status) => status === "failed", round) : undefined;
    if (retried !== undefined) await operate("operate:retryJob", { id: retried });
    const gone = round % 5 === 0 ? pick(() => true, round) : undefined;
    if (gone !== undefined) await operate("operate:deleteJob", { id: gone });
  }
  await world.advance(COUNTED_MS);
  expect(store.docs("ended").length + store.docs("arrived").length).toBe(0);
  for (const per of ["minute", "hour", "day"] as const) {
    const periods = (await stats(per, 60)).filter(({ at }) => at + PERIODS[per] > begunAt);
    for (const { at, waitMs: _waits, runMs: _runs, ...counts } of periods) {
      const was = Object.fromEntries(
        Object.keys(counts).map((what) => [
          what,
          history.of(what as Counted, at, at + PERIODS[per]),
        ]),
      );
      // The day is also that of the jobs which declared the queue.
      if (at < begunAt && per !== "minute") expect(counts.enqueued).toBe(was["enqueued"]! + 1);
      else expect(counts, `${per} ${new Date(at).toISOString()}`).toEqual(was);
    }
  }
  const sum = (what: Counted) => history.of(what, 0, Infinity);
  expect(sum("enqueued")).toBe(4 * ROUNDS);
  for (const what of ["succeeded", "failed", "canceled"] as const) {
    expect(sum(what), what).toBeGreaterThan(3);
  }
}, 120_000);

async function documentsRead(path: string, args: object): Promise<number> {
  pushed.world.stats.reset();
  await pushed.world.call(path, args);
  const { functions } = pushed.world.stats.snapshot();
  return Object.values(functions).reduce((all, { io }) => all + io.documentsRead, 0);
}

test("a query of statistics reads a row per period, and at a gauge at most a thousand jobs of a status, however many there are", async () => {
  await start(2);
  const later = (count: number, n: number) =>
    enqueue(
      pushed.world,
      "acted",
      Array.from({ length: count }, (_, i) => ({ n: n + i, ms: 10 })),
      { runAfter: 20 * 24 * 60 * MINUTE },
    );
  // Other arguments, and another first job: no query is answered from a cache.
  const look = async (other: number) => ({
    stats: await documentsRead("work:periods", { queue: "acted", count: 1_000 - other }),
    gauge: await documentsRead("traced:stats", { queue: "acted" }),
    health: await documentsRead("work:health", { queue: "acted", last: 10 + other }),
  });
  const [first] = await later(1_001, 10);
  const few = await look(0);
  for (let i = 1; i <= counts(1, 3); i += 1) await later(1_000, i * 1_000 + 10);
  await operate("operate:deleteJob", { id: first! });
  const many = await look(1);
  expect(few.gauge).toBeGreaterThan(1_000);
  expect(many.gauge).toBeGreaterThan(1_000);
  expect(many.stats).toBe(few.stats);
  expect(many.health).toBe(few.health);
  expect(many.gauge).toBeLessThanOrEqual(few.gauge + 2);
  expect(many.stats).toBeLessThan(20);
  expect(many.gauge).toBeLessThan(1_150);
}, 120_000);

test("a gauge that is open while a queue is busy is recomputed when its row is rewritten, and reads a few rows", async () => {
  await start(3);
  const { world } = pushed;
  const gauge = makeFunctionReference<"query">("traced:stats");
  const client: ConvexClient = world.client("page");
  const seen: unknown[] = [];
  client.onUpdate(gauge, { queue: "acted" }, (value) => seen.push(value));
  const busy = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      const jobs = Array.from({ length: 2 }, (_, i) => ({ n: 10 + 2 * second + i, ms: 50 }));
      await enqueue(world, "acted", jobs);
      await world.advance(SECOND);
    }
  };
  // Until its roll-up keeps the row.
  await busy(50);
  expect(pushed.store.docs("gauges").map((row) => row["isKept"])).toContain(true);
  world.stats.reset();
  const before = seen.length;
  await busy(60);
  const runs = world.stats.snapshot().functions["traced:stats"];
  expect(seen.length - before).toBeGreaterThan(3);
  expect(seen.length - before).toBeLessThanOrEqual(8);
  expect(runs!.calls).toBeLessThanOrEqual(8);
  expect(runs!.io.documentsRead / runs!.calls).toBeLessThanOrEqual(4);
  void client.close();
}, 120_000);

/** How long after a burst of 20 jobs a second all of it is counted: its jobs, and their ends. */
async function lagAfter(seconds: number): Promise<{ newMs: number; endsMs: number }> {
  const { world } = pushed;
  for (let second = 0; second < seconds; second += 1) {
    const jobs = Array.from({ length: 20 }, (_, i) => ({ n: 10 + 20 * second + i, ms: 50 }));
    await enqueue(world, "acted", jobs);
    await world.advance(SECOND);
  }
  const lag = { newMs: -1, endsMs: -1 };
  for (let ms = 0; Math.min(lag.newMs, lag.endsMs) < 0 && ms < 15 * MINUTE; ms += SECOND) {
    const periods = await stats("minute", 20);
    const sum = (what: "enqueued" | "succeeded") =>
      periods.reduce((all, period) => all + period[what], 0);
    if (lag.newMs < 0 && sum("enqueued") >= 20 * seconds) lag.newMs = ms;
    if (lag.endsMs < 0 && sum("succeeded") >= 20 * seconds) lag.endsMs = ms;
    await world.advance(SECOND);
  }
  return lag;
}

test.each(counts([15], [1, 15, 60]))(
  "a burst of %d s is counted soon after it: its ends within 45 seconds, its jobs within 80",
  async (seconds) => {
    await start(4);
    const lag = await lagAfter(seconds);
    expect(lag.endsMs).toBeGreaterThanOrEqual(0);
    expect(lag.endsMs).toBeLessThanOrEqual(45 * SECOND);
    expect(lag.newMs).toBeGreaterThanOrEqual(0);
    expect(lag.newMs).toBeLessThanOrEqual(80 * SECOND);
  },
  120_000,
);
