/** The status of a worker, and how it is steered while it runs, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";

describe("the state of a worker", () => {
  // Shows L6.
  test("goes from starting through waiting and working to draining and stopped, with an event for each change", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, kinds } = startLoop(handler);
    expect(loop.statusNow().state).toBe("starting");
    await clock.advance(1_000);
    expect(loop.statusNow().state).toBe("waiting");
    deployment.enqueue();
    await clock.advance(100);
    expect(loop.statusNow().state).toBe("working");
    begun[0]!.resolve();
    await clock.advance(100);
    expect(loop.statusNow().state).toBe("waiting");
    deployment.enqueue();
    await clock.advance(100);
    loop.stop();
    expect(loop.statusNow().state).toBe("draining");
    begun[1]!.resolve();
    await clock.advance(100);
    expect(loop.statusNow().state).toBe("stopped");
    const states = kinds("state").map((event) => "state" in event && event.state);
    expect(states).toEqual(["waiting", "working", "waiting", "working", "draining", "stopped"]);
  });

  test("does not flap between two jobs of a backlog", async () => {
    const { clock, deployment, kinds } = startLoop(async () => null);
    for (let job = 0; job < 5; job += 1) deployment.enqueue();
    await clock.advance(1_000);
    expect(deployment.recorded.size).toBe(5);
    expect(kinds("state")).toMatchObject([
      { state: "waiting", before: "starting" },
      { state: "working", before: "waiting" },
      { state: "waiting", before: "working" },
    ]);
  });

  test("is starting for as long as the deployment does not answer", async () => {
    const { clock, deployment, loop } = startLoop(async () => null);
    deployment.fault = (call) => (call === "hello" ? "before" : undefined);
    await clock.advance(60_000);
    expect(loop.statusNow().state).toBe("starting");
  });

  test("works, and is no longer idle, where the deployment has refused its greeting and answers its calls", async () => {
    const { handler } = manual();
    const { clock, deployment, loop, kinds } = startLoop(handler, {
      ...{ leaseMs: 60_000, stopAfter: { idleMs: 5_000 } },
    });
    deployment.fault = (call) => (call === "hello" ? new Error("HTTP 404") : undefined);
    deployment.enqueue();
    await clock.advance(10_000);
    expect(loop.statusNow().state).toBe("working");
    expect(kinds("stopping")).toEqual([]);
  });
});

describe("the status of a worker", () => {
  test("has its slots, the jobs in hand, and how many are done since the start", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop } = startLoop(handler, { concurrency: 3 });
    const ids = [deployment.enqueue(), deployment.enqueue()];
    await clock.advance(100);
    begun[0]!.resolve();
    await clock.advance(100);
    expect(loop.statusNow()).toEqual({
      state: "working",
      since: expect.any(Number),
      startedAt: 0,
      isQuiet: false,
      slots: { used: 1, had: 3 },
      done: 1,
      running: [{ id: ids[1], queue: "tiles", attempt: 1 }],
    });
  });

  // Shows L6.
  test("comes as an event every `statusMs`, and no more once the worker has stopped", async () => {
    const { clock, loop, kinds } = startLoop(async () => null, { statusMs: 1_000 });
    await clock.advance(3_500);
    expect(kinds("status")).toHaveLength(3);
    expect(kinds("status")[0]).toMatchObject({ name: "worker", state: "waiting", done: 0 });
    loop.stop();
    await clock.advance(5_000);
    expect(kinds("status")).toHaveLength(3);
  });
});

describe("the event of a handler's end", () => {
  test("has the thrown value itself, and goes into JSON although that does not", async () => {
    const thrown: Error & { self?: unknown } = new Error("no such file");
    thrown.self = thrown;
    const { clock, deployment, kinds } = startLoop(() => Promise.reject(thrown));
    deployment.enqueue();
    await clock.advance(100);
    const [finished] = kinds("finished");
    expect(finished).toMatchObject({ outcome: "failed", error: "no such file" });
    expect(finished?.kind === "finished" && finished.thrown).toBe(thrown);
    expect(JSON.parse(JSON.stringify(finished))).not.toHaveProperty("thrown");
  });
});

describe("a worker that is steered while it runs", () => {
  test("runs more jobs at once from the moment that it may", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop } = startLoop(handler);
    for (let job = 0; job < 5; job += 1) deployment.enqueue();
    await clock.advance(100);
    expect(begun).toHaveLength(1);
    loop.setConcurrency(3);
    await clock.advance(100);
    expect(begun).toHaveLength(3);
    expect(loop.statusNow().slots).toEqual({ used: 3, had: 3 });
  });

  test("lets jobs above a lower number come to their end, and claims none until there is room", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop } = startLoop(handler, { concurrency: 3 });
    for (let job = 0; job < 5; job += 1) deployment.enqueue();
    await clock.advance(100);
    loop.setConcurrency(1);
    begun[0]!.resolve();
    begun[1]!.resolve();
    await clock.advance(1_000);
    expect(begun).toHaveLength(3);
    expect(deployment.recorded.size).toBe(2);
    begun[2]!.resolve();
    await clock.advance(1_000);
    expect(begun).toHaveLength(4);
  });

  // Shows F20.
  test("claims nothing while it is quiet, keeps the leases of its jobs, and claims at once when it resumes", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, callsOf } = startLoop(handler, { leaseMs: 3_000 });
    const running = deployment.enqueue();
    await clock.advance(100);
    loop.setQuiet(true);
    deployment.enqueue();
    await clock.advance(20_000);
    expect(deployment.held.has(running)).toBe(true);
    begun[0]!.resolve("done");
    await clock.advance(20_000);
    expect(deployment.outcomeOf(running)).toEqual({ kind: "succeeded", result: "done" });
    expect(begun).toHaveLength(1);
    expect(callsOf("complete").every(({ max }) => max === undefined)).toBe(true);
    expect(loop.statusNow()).toMatchObject({ state: "waiting", isQuiet: true });
    loop.setQuiet(false);
    await clock.advance(50);
    expect(begun).toHaveLength(2);
  });
});
