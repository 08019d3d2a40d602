/** What a job's life leaves on the deployment's log, by the level of its queue. */
import { afterEach, expect, test, vi } from "vitest";
import type { LogLevel } from "../shared/index.js";
import { api } from "./_generated/api.js";
import { failed, newWorld, succeeded } from "./setup.test.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** One job of each fate. Returns the events that the log has of them, in order. */
async function live(logLevel: LogLevel): Promise<string[]> {
  const lines: { conveyor: string }[] = [];
  for (const level of ["debug", "info", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void lines.push(JSON.parse(line)));
  }
  const world = await newWorld({ logLevel });
  const [first, second, third] = await world.enqueueBatch([1, 2, 3]);
  const worker = world.worker("a");
  const jobs = await worker.claim(2);
  await worker.complete([succeeded(jobs[0]!), failed(jobs[1]!)]);
  await world.t.mutation(api.lib.cancel, { id: third! });
  await world.t.mutation(api.lib.retry, { id: second! });
  for (const id of [first!, second!]) await world.t.mutation(api.operate.deleteJob, { id });
  await world.enqueue(4, { runAfter: 1_000, expiresAfterMs: 1_000 });
  await world.advance(4_000);
  return lines.map(({ conveyor }) => conveyor);
}

const errors = ["attemptFailed", "jobExpired"];
const infos = ["jobSucceeded", "jobCanceled", "jobRetried", "jobDeleted", "jobDeleted"];
const debugs = [
  ...Array<string>(4).fill("jobEnqueued"),
  ...["attemptStarted", "attemptStarted", "jobPromoted"],
];

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
    ...{ conveyor: "jobSucceeded", queue: "tiles", job: id, attempt: 1, worker: "a" },
    ...{ waitMs: 300, runMs: 200 },
  });
});
