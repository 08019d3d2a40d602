/** Log lines of a job's life, by the level of its queue. */
import { afterEach, expect, test, vi } from "vitest";
import type { LogLevel } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { readLine, type Line } from "../claim/lines.test.js";
import { app, failed, newToldWorld, newWorld, succeeded, type World } from "../setup.test.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The name of each job whose lines {@link hear} hears. */
const name = "resize";

/**
 * The lines written from now on, each checked against its event's documented fields. The mock of the platform writes lines
 * with an error beside the text, which are printed as they are.
 */
function hear(): Line[] {
  const lines: Line[] = [];
  for (const level of ["debug", "info", "warn", "error"] as const) {
    const print = console[level].bind(console);
    vi.spyOn(console, level).mockImplementation((line, ...more) => {
      if (more.length > 0) return print(line, ...more);
      lines.push(readLine(line));
      expect(lines.at(-1)!.level).toBe(level);
      // Each line about a job has its name.
      if ("job" in lines.at(-1)!) expect(lines.at(-1)!["name"]).toBe(name);
    });
  }
  return lines;
}

/** One job of each fate. Returns the events that the log has of them, in order. */
async function live(logLevel: LogLevel): Promise<string[]> {
  const lines = hear();
  const world = await newWorld({ logLevel });
  const [first, second, third] = await world.enqueueBatch([1, 2, 3], { name });
  const worker = world.worker("a");
  const jobs = await worker.claim(2);
  await worker.complete([succeeded(jobs[0]!), failed(jobs[1]!)]);
  await world.t.mutation(api.operate.cancelJob, { id: third! });
  await world.t.mutation(api.operate.retryJob, { id: second! });
  for (const id of [first!, second!]) await world.t.mutation(api.operate.deleteJob, { id });
  await world.enqueue(4, { name, runAfter: 1_000, expiresAfterMs: 1_000 });
  await world.advance(4_000);
  return lines.map(({ conveyor }) => conveyor);
}

const errors = ["attemptFailed", "jobExpired"];
const infos = ["jobSucceeded", "jobCanceled", "jobRetried", "jobDeleted", "jobDeleted"];
const debugs = [
  ...Array<string>(4).fill("jobEnqueued"),
  ...["attemptStarted", "attemptStarted", "jobPromoted"],
];

// Shows WP-32, M9.
test.each<[LogLevel, string[]]>([
  ["error", errors],
  ["warn", errors],
  ["info", [...errors, ...infos]],
  ["debug", [...errors, ...infos, ...debugs]],
])("at the level %s", async (level, events) => {
  expect((await live(level)).sort()).toEqual([...events].sort());
});

test("an end says how long the job waited, and how long it ran", async () => {
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  const world = await newWorld({ logLevel: "info" });
  const id = await world.enqueue();
  await world.advance(300);
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await world.advance(200);
  await worker.complete([succeeded(job!)]);
  expect(JSON.parse(info.mock.lastCall![0])).toEqual({
    ...{
      conveyor: "jobSucceeded",
      level: "info",
      queue: "tiles",
      job: id,
      attempt: 1,
      worker: "a",
    },
    ...{ waitMs: 300, runMs: 200 },
  });
});

/** Runs until a worker that has said nothing more is found out. */
const LOST_MS = 12_000;
const queue = "tiles";

async function pastFailures(world: World): Promise<void> {
  await world.enqueue({}, { name });
  const worker = world.worker("a");
  const [job] = await worker.claim();
  await worker.complete([failed(job!)]);
  await world.advance(1_000);
  const [again] = await worker.claim();
  await worker.complete([failed(again!)]);
}

async function pastLosses(world: World): Promise<void> {
  await world.enqueue({}, { name });
  const silent = world.worker("b");
  await silent.claim();
  await world.advance(LOST_MS);
  for (const name of ["c", "d"]) {
    const worker = world.worker(name);
    const [job] = await worker.claim();
    await worker.heartbeat([job!]);
    await world.advance(LOST_MS);
  }
}

async function operated(world: World): Promise<void> {
  const { t } = world;
  await t.mutation(api.operate.pauseQueue, { queue });
  await t.mutation(api.operate.drainQueue, { queue });
  await t.mutation(api.operate.resumeQueue, { queue });
  await t.mutation(api.operate.configureQueue, { queue, overrides: { maxResets: 0 } });
  await world.enqueueBatch(
    Array.from({ length: 101 }, (_, i) => i),
    { name },
  );
  await t.mutation(api.operate.cancelMany, { queue, filter: {} });
  await world.advance(2_000);
}

// Shows SG-42, WP-20, K10.
test("changes of jobs, queues and the component itself are logged by name, each event with its fields, and a job's with the job's name", async () => {
  const lines = hear();
  const retry = { maxAttempts: 2, initialBackoffMs: 1, base: 1, maxBackoffMs: 1 };
  const world = await newWorld({ logLevel: "debug", retry });
  await pastFailures(world);
  await pastLosses(world);
  await world.enqueue({}, { name, rules: { timeoutMs: 1_000 } });
  await world.worker("e").claim();
  await world.advance(4_000);
  await operated(world);
  await world.enqueue({}, { name, runAfter: 1_000 });
  const [alarm] = (await world.all("timers")).filter(({ kind }) => kind === "dispatcher");
  await world.t.run(async (ctx) => ctx.scheduler.cancel(alarm!.scheduledId!));
  await world.advance(8_000);
  await world.t.mutation(api.lib.watch, {});
  const seen = new Set(lines.map(({ conveyor }) => conveyor));
  expect([...seen].sort()).toEqual(
    [
      ...["alarmRevived", "attemptFailed", "attemptLost", "attemptStarted", "attemptTimedOut"],
      ...["attemptUnacknowledged", "bulkEnded", "jobCanceled", "jobEnqueued", "jobLost"],
      ...["jobPromoted", "leasesEnded", "queueConfigured", "queueDraining", "queuePaused"],
      "queueResumed",
    ].sort(),
  );
  const failures = lines.filter(({ conveyor }) => conveyor === "attemptFailed");
  expect(failures).toMatchObject([
    { level: "warn", failures: 1, isLast: false, error: "boom" },
    { level: "error", failures: 2, isLast: true, error: "boom" },
  ]);
  expect(lines.find(({ conveyor }) => conveyor === "queueConfigured")).toMatchObject({
    ...{ level: "info", queue, details: { overrides: { maxResets: 0 } } },
  });
});

test("a round that is over, and a callback that is given up", async () => {
  const lines = hear();
  const world = await newToldWorld({ logLevel: "info", circular: true });
  app.onComplete = () => {
    throw new Error("never");
  };
  await world.enqueue({}, { name });
  const worker = world.worker("a");
  const [job] = await worker.claim();
  // The mock's scheduler logs the failure, which is no line of the component.
  vi.mocked(console.error).mockImplementation((line: string) => {
    if (line.startsWith("{")) lines.push(readLine(line));
  });
  await worker.complete([succeeded(job!)]);
  await world.advance(1_100_000);
  expect(lines.map(({ conveyor }) => conveyor)).toEqual(["roundSucceeded", "callbackGivenUp"]);
  expect(lines[1]).toMatchObject({ level: "error", job: job!.id, name, tries: 10 });
});

test("an event of no single job is logged at every level of the queue", async () => {
  const lines = hear();
  const world = await newWorld({ logLevel: "error" });
  await world.enqueue();
  await world.t.mutation(api.operate.pauseQueue, { queue });
  expect(lines).toEqual([
    { conveyor: "queuePaused", level: "info", queue, message: "No job is claimed." },
  ]);
});
