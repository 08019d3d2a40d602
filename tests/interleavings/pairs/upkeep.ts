/** Upkeep: finished jobs are counted and deleted, and with them the routes without waiting jobs. */
import { ROLL_UP_STAYS_JOBS, ROUTES_KEPT, SHARDS_MAX } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { LEASE_MS, mutation, type Line } from "../line.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { Worker, type CompleteReply } from "../worker.js";

const RETENTION_MS = 60_000;
const RETENTION = {
  succeededMs: RETENTION_MS,
  failedMs: RETENTION_MS,
  canceledMs: RETENTION_MS,
  timedOutMs: RETENTION_MS,
};
/** Longer than a roll-up, the retention of the counted jobs, and the purge's lateness. */
const FORGOTTEN_MS = 3 * RETENTION_MS;

function dueAt(line: Line, kind: string): number {
  const [timer] = line.rows("timers").filter((one) => one["kind"] === kind);
  must(timer !== undefined, `no alarm of the ${kind} is armed`);
  return timer!["dueAt"] as number;
}

/** Lets the roll-up count the finished jobs, which arms the purge. */
const counts = (line: Line) => line.pass(3 * LEASE_MS);

/** Until just when an alarm is due, and before it rings. */
export async function until(line: Line, kind: string): Promise<void> {
  await line.pass(dueAt(line, kind) - 1 - line.now);
  line.transactions.now += 1;
}

function keepsShortly(line: Line): void {
  line.declare(line.queue.name, { retention: RETENTION });
}

/** All jobs are counted that had ended by then: a roll-up comes a minute after the last sweep. */
async function checkCounted(line: Line, count: number): Promise<void> {
  await line.pass(9 * LEASE_MS);
  const minutes = line.rows("periods").filter(({ per }) => per === "minute");
  const counts = minutes as unknown as Record<string, number>[];
  const sum = counts.reduce((n, { succeeded, canceled }) => n + succeeded! + canceled!, 0);
  must(sum === count, "a job was not counted, or twice");
}

/** So many that the roll-up stays for more. */
async function cancelsMany(line: Line): Promise<void> {
  for (const id of await line.enqueue(ROLL_UP_STAYS_JOBS)) await line.do(line.cancels(id));
}

const purgeAndComplete: Pair = {
  of: "the purge that goes, and a completion",
  orders: 6,
  async setUp(line) {
    keepsShortly(line);
    const worker = new Worker(line, "worker");
    await line.enqueue(2);
    await worker.complete(await worker.claim());
    await counts(line);
    await line.pass(dueAt(line, "purge") - LEASE_MS / 2 - line.now);
    const jobs = await worker.claim();
    await until(line, "purge");
    return {
      calls: { complete: worker.completes(jobs) },
      async check(answers, line) {
        must(answers.of<CompleteReply>("complete").answers[0]!.answer === "ok", "not recorded");
        await line.pass(FORGOTTEN_MS);
        must(line.rows("jobs").length === 0, "a finished job is kept for good");
      },
    };
  },
  mutants: [
    {
      without: "arming the purge whenever something was counted",
      changes: [{ in: "rollUp.ts:rollUp", call: "ensurePurge", gives: "row === null && ($it)" }],
      finds: /^a finished job is kept/,
    },
  ],
};

const purgeAndRetry: Pair = {
  of: "the purge of a job, and its retry",
  orders: 6,
  async setUp(line) {
    keepsShortly(line);
    const id = await line.enqueueOne({ context: "x".repeat(600) });
    const worker = new Worker(line, "worker");
    await worker.complete(await worker.claim());
    await counts(line);
    await until(line, "purge");
    return {
      calls: { retry: line.retries(id) },
      refusals: { retry: /No job has the id/ },
      check(answers, line) {
        const isRetried = answers.of<{ retried: boolean } | undefined>("retry")?.retried === true;
        must(line.rows("jobs").length === (isRetried ? 1 : 0), "a retried job has gone");
        must(line.rows("payloads").length === (isRetried ? 1 : 0), "its payload has gone");
      },
    };
  },
  mutants: [UNVALIDATED],
};

// Rules out D7a.
const rollUpAndComplete: Pair = {
  of: "the roll-up that goes, and a completion",
  orders: 12,
  async setUp(line) {
    const worker = new Worker(line, "worker");
    await cancelsMany(line);
    await line.enqueue();
    await until(line, "rollUp");
    await line.pass(1);
    await line.pass(LEASE_MS / 2);
    const jobs = await worker.claim();
    await until(line, "rollUp");
    return {
      calls: { complete: worker.completes(jobs) },
      check: async (_, line) => await checkCounted(line, ROLL_UP_STAYS_JOBS + 1),
    };
  },
  mutants: [
    {
      without: "the sweep's check for uncounted jobs",
      changes: [{ in: "janitor.ts:repair", without: "ensureUpkeep" }],
      finds: /^a job was not counted|^no alarm/,
    },
  ],
};

// Rules out D31b.
/** No lease ends with it, so no sweep comes after it. */
const rollUpAndCancel: Pair = {
  of: "the roll-up that goes, and a cancel",
  orders: 12,
  async setUp(line) {
    await cancelsMany(line);
    const [last] = await line.enqueue();
    await until(line, "rollUp");
    await line.pass(1);
    await until(line, "rollUp");
    return {
      calls: { cancel: line.cancels(last!) },
      check: async (_, line) => await checkCounted(line, ROLL_UP_STAYS_JOBS + 1),
    };
  },
  mutants: [
    {
      without: "the real read of finished jobs before the roll-up goes",
      changes: [{ in: "rollUp.ts:rollUp", condition: "hasMore", is: true }],
      finds: /^a job was not counted/,
    },
    UNVALIDATED,
  ],
};

const rollUpOfFew: Pair = {
  of: "the roll-up that has counted a few and goes, and a cancel",
  orders: 45,
  async setUp(line) {
    const [one, two] = await line.enqueue(2);
    await line.do(line.cancels(one!));
    await until(line, "rollUp");
    return {
      calls: { cancel: line.cancels(two!) },
      check: async (_, line) => await checkCounted(line, 2),
    };
  },
  mutants: [
    {
      without: "the real read of finished jobs behind the first few",
      changes: [{ in: "rollUp.ts:rollUp", condition: "hasMore", is: true }],
      finds: /^a job was not counted/,
    },
    UNVALIDATED,
  ],
};

// Rules out D31b.
/** The sweep comes a little later than the leases end, and till then its session may still speak. */
const completeAndLastSweep: Pair = {
  of: "a completion of the last lease, and the sweep that finds that it was over",
  orders: 12,
  async setUp(line) {
    await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    await line.do(worker.beats(jobs));
    await line.untilSweep();
    return {
      calls: { complete: worker.completes(jobs) },
      async check(answers, line) {
        const isRecorded = answers.of<CompleteReply>("complete").answers[0]!.answer === "ok";
        await checkCounted(line, isRecorded ? 1 : 0);
      },
    };
  },
  mutants: [UNVALIDATED],
};

const dropAndEnqueue: Pair = {
  of: "the purge that drops a route in which nothing waits, and an enqueue there",
  orders: 6,
  async setUp(line) {
    keepsShortly(line);
    const labels = Array.from({ length: ROUTES_KEPT + 1 }, (_, n) => [`label-${n}`]);
    for (const some of labels) {
      await line.do(line.cancels(await line.enqueueOne({ labels: some })));
    }
    await counts(line);
    await until(line, "purge");
    const enqueues = labels.map((some) => ({ payload: 1, options: { labels: some } }));
    const asked = { queue: line.queue, jobs: enqueues };
    return {
      calls: { enqueue: mutation("lib:enqueue", asked) },
      check: (_, line) => checkFound(line),
      restore: cancelWaiting,
    };
  },
  mutants: [
    {
      without: "the check for jobs that wait in a route",
      changes: [{ in: "routes.ts:dropUnused", call: "emptyIn", gives: "priorities" }],
      finds: /^a job waits where no claim scans/,
    },
    UNVALIDATED,
  ],
};

/** Two of them, so far apart that the purge drops the route of one, whichever it begins with. */
const dropAndRetry: Pair = {
  of: "the purge that drops routes in which nothing waits, and retries of jobs there",
  orders: 126,
  async setUp(line) {
    line.declare(line.queue.name, { retention: { ...RETENTION, failedMs: 60 * RETENTION_MS } });
    const kept: string[] = [];
    for (let n = 0; n <= ROUTES_KEPT; n += 1) {
      const labels = [`label-${n}`];
      if (n % ROUTES_KEPT === 0) {
        kept.push(await line.enqueueOne({ labels, expiresAfterMs: 1_000 }));
      } else await line.do(line.cancels(await line.enqueueOne({ labels })));
    }
    await counts(line);
    must(
      kept.every((id) => line.job(id).status === "failed"),
      "a job has not expired",
    );
    await until(line, "purge");
    const [one, two] = kept;
    return {
      calls: { one: line.retries(one!), two: line.retries(two!) },
      check: (_, line) => checkFound(line),
      restore: cancelWaiting,
    };
  },
  mutants: [
    {
      without: "the check for jobs that wait in a route",
      changes: [{ in: "routes.ts:dropUnused", call: "emptyIn", gives: "priorities" }],
      finds: /^a job waits where no claim scans/,
    },
    UNVALIDATED,
  ],
};

function checkFound(line: Line): void {
  const numbers = new Set(line.rows("routes").map((route) => route["number"] as number));
  const waiting = line.rows("jobs").filter(({ status }) => status === "pending");
  const isLost = waiting.some(
    (job) => !numbers.has(Math.floor((job["shard"] as number) / SHARDS_MAX)),
  );
  must(!isLost, "a job waits where no claim scans");
}

async function cancelWaiting(line: Line): Promise<void> {
  for (const { _id, status } of line.rows("jobs")) {
    if (status === "pending") await line.do(line.cancels(_id));
  }
}

export const UPKEEP: readonly Pair[] = [
  purgeAndComplete,
  purgeAndRetry,
  rollUpAndComplete,
  rollUpAndCancel,
  rollUpOfFew,
  completeAndLastSweep,
  dropAndEnqueue,
  dropAndRetry,
];
