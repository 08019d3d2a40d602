/** The end of programs that are stopped: a worker with a job in hand, and all processes of `npm start`. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { api } from "../support/app/convex/_generated/api.js";
import { root } from "../support/paths.js";
import { start, type Program } from "../support/program.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { until } from "../../local/until.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";
import { jobCalls } from "../../src/shared/index.js";

const sums = jobCalls(api.sums);

describe("a worker process", () => {
  /** Far longer than any test waits: such a handler ends with its process. */
  const ENDLESS_MS = 600_000;

  let app: TestApp;
  let token: string;
  let worker: WorkerProcess;

  beforeAll(async () => {
    app = await startApp();
    token = await app.token();
  });
  afterEach(() => killAll([worker]));
  afterAll(() => app?.close());

  const status = (id: string) => app.client.query(...sums.status(id));

  /** A worker in the middle of a job; returns the job. */
  async function working(name: string, workMs: number, graceMs?: number): Promise<string> {
    const grace = graceMs === undefined ? {} : { graceMs };
    worker = startWorker({ url: app.url, token, name, ...grace });
    const id = await app.client.mutation(...sums.enqueue("sums", { n: 12, workMs }));
    await worker.line((line) => line.started === id);
    return id;
  }

  const event = (kind: string) => worker.line((line) => line.event?.kind === kind);

  /** How often the job was given back, which no function of the app tells: from the component's own row. */
  async function releases(id: string): Promise<unknown> {
    const jobs = { table: "jobs", index: "by_id", range: [], order: "asc" as const };
    for await (const row of app.backend.database.begin().stream("conveyor", jobs)) {
      if (row._id === id) return row["releases"];
    }
    return undefined;
  }

  /** Ends the job that the test before has left in the queue. */
  async function doneByNext(id: string) {
    await killAll([worker]);
    worker = startWorker({ url: app.url, token, name: "next" });
    return await until(
      () => status(id),
      (job) => job?.status === "succeeded",
    );
  }

  // Shows F19.
  test("SIGINT lets the job in hand end, and the process exits with 0 once it is recorded", async () => {
    const id = await working("interrupted", 1_000);
    worker.process.kill("SIGINT");
    expect(await worker.exited).toBe(0);
    expect((await event("stopped")).event).toMatchObject({ unrecorded: 0 });
    expect(await status(id)).toMatchObject({
      status: "succeeded",
      worker: "interrupted",
      attempt: 1,
      result: { square: 144 },
    });
  });

  test("a second signal waits for no handler: the job is given back and the process ends", async () => {
    const id = await working("hurried", ENDLESS_MS);
    worker.process.kill("SIGINT");
    await event("stopping");
    // Passed on by a launcher, the same Ctrl-C arrives again, and is no second one.
    worker.process.kill("SIGINT");
    await pause(600);
    expect(await status(id)).toMatchObject({ status: "running" });
    worker.process.kill("SIGINT");
    expect(await worker.exited).toBe(0);
    expect(worker.lines.some((line) => line.finished === id)).toBe(false);
    expect(await status(id)).toMatchObject({ status: "pending", attempt: 1, resets: 0 });
    expect(await releases(id)).toBe(1);
    await doneByNext(id);
  });

  test("a handler that goes on past the grace has its job given back: a release, not a reset, and the attempt is kept", async () => {
    const id = await working("stubborn", ENDLESS_MS, 300);
    worker.process.kill("SIGTERM");
    expect((await event("leaseLost")).event).toMatchObject({ id, reason: "stopping" });
    expect(await worker.exited).toBe(0);
    expect((await event("stopped")).event).toMatchObject({ unrecorded: 0 });
    expect(await status(id)).toMatchObject({
      status: "pending",
      attempt: 1,
      failures: 0,
      resets: 0,
    });
    expect(await releases(id)).toBe(1);
    // The next claim is the second attempt: the number is a fence, and is never handed out twice.
    expect(await doneByNext(id)).toMatchObject({ worker: "next", attempt: 2, resets: 0 });
  });
});

// The processes of a test are read from the system: every process inherits the environment that the test gave the first.
describe.skipIf(!existsSync("/proc/self/environ"))("npm start", () => {
  const [name, value] = ["CONVEYOR_STOPPING_TEST", randomUUID()];

  afterEach(() => {
    for (const pid of left()) process.kill(pid, "SIGKILL");
  });

  /** The processes that came of this test and are alive. */
  function left(): number[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => environmentOf(pid).split("\0").includes(`${name}=${value}`))
      .map(Number);
  }

  /** The starter has waited for its own children; grandchildren need a moment to notice. */
  const nobodyLeft = () =>
    until(
      async () => left(),
      (pids) => pids.length === 0,
      10_000,
    );

  /** The command of `npm start`, without npm: interrupted, npm ends by the signal, with any exit code of its script. */
  function run(...options: string[]): Program {
    const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
      scripts: { start: string };
    };
    const [command, ...args] = scripts.start.split(" ");
    const binary = path.join(root, "node_modules/.bin", command!);
    return start(binary, [...args, ...options], { [name]: value });
  }

  test("Ctrl-C at the open farm exits with 0 and leaves no process behind", async () => {
    const program = run("--page-port", "5372");
    await program.prints(/Ctrl-C stops everything/, 90_000);
    // The starter, the backend and two workers.
    expect(left().length).toBeGreaterThanOrEqual(4);
    // Twice, as from npm in a terminal: all processes of the group get the signal, and npm sends it to its child again.
    void program.interrupt();
    expect(await program.interrupt()).toBe(0);
    await nobodyLeft();
  }, 120_000);

  test("Ctrl-C before the picture of --once is done exits with 130, as shells have it, and leaves no process behind", async () => {
    const program = run("--once");
    await program.prints(/Pushing the functions/, 90_000);
    expect(await program.interrupt()).toBe(130);
    await nobodyLeft();
  }, 120_000);
});

/** Empty for a process that is gone, or of another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}
