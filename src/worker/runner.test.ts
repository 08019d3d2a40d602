/** Each end of a handler becomes an outcome; its progress reports on the way are thinned out. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";

describe("a handler's end", () => {
  test.each([
    ["nothing", undefined, { kind: "succeeded", result: null }],
    ["null", null, { kind: "succeeded", result: null }],
    ["a bigint", 5n, { kind: "succeeded", result: 5n }],
    ["a Date", new Date(0), { kind: "failed" }],
    ["a function", () => 1, { kind: "failed" }],
    ["a Map", new Map(), { kind: "failed" }],
    ["more than a document holds", "x".repeat(2 ** 20), { kind: "failed" }],
    ["a cycle", cycle(), { kind: "failed" }],
  ])("returning %s", async (_name, value, outcome) => {
    const { clock, deployment, kinds } = startLoop(async () => value);
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject(outcome);
    expect(kinds("resultRefused")).toHaveLength(outcome.kind === "failed" ? 1 : 0);
    expect(deployment.outcomeOf(id)).not.toMatchObject({ error: "" });
  });

  test.each([
    ["an error", new Error("boom"), "boom"],
    ["a string", "boom", "boom"],
    ["nothing", undefined, "undefined"],
    ["an error without a message", new Error(""), "The handler threw without a message."],
  ])("throwing %s fails the job with a message", async (_name, thrown, error) => {
    const { clock, deployment } = startLoop(async () => {
      throw thrown as Error;
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    const trace = thrown instanceof Error ? { trace: expect.stringMatching(/^Error: /) } : {};
    expect(deployment.outcomeOf(id)).toEqual({ kind: "failed", error, ...trace });
  });

  test("progress is sent at most every 250 ms, the latest value of every job in one call", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 2 });
    deployment.enqueue();
    deployment.enqueue();
    await clock.advance(100);
    for (let percent = 1; percent <= 100; percent++) {
      for (const one of begun) one.progress(percent);
      await clock.advance(10);
    }
    await clock.advance(1_000);
    const at = callsOf("report").map((call) => call.at);
    expect(at.slice(1).every((time, i) => time - at[i]! >= 250)).toBe(true);
    expect(at.length).toBeLessThanOrEqual(6);
    expect(deployment.progressed.slice(-2)).toEqual(begun.map(({ id }) => ({ id, value: 100 })));
  });

  test("the job is one object, and its functions work when they are taken out of it", async () => {
    const { clock, deployment } = startLoop(
      async ({ id, payload, attempt, idempotencyKey, tags, signal, progress, log, ...job }) => {
        const { write, continueWith, isCanceled } = job;
        progress({ half: true });
        log("It goes on.");
        write("text");
        continueWith("tiles", { next: 1 });
        await Promise.resolve();
        return {
          id,
          payload,
          attempt,
          key: idempotencyKey,
          tags,
          aborted: signal.aborted,
          canceled: await isCanceled(),
        };
      },
    );
    const id = deployment.enqueue({ x: 1 });
    await clock.advance(1_000);
    const told = { id, payload: { x: 1 }, attempt: 1, key: id, tags: [] };
    expect(deployment.outcomeOf(id)).toEqual({
      kind: "succeeded",
      result: { ...told, aborted: false, canceled: false },
    });
    expect(deployment.logs.get(id)).toMatchObject([{ message: "It goes on." }]);
    expect(deployment.outputs.get(id)).toEqual(["text"]);
    expect(deployment.continued.get(id)).toEqual([{ queue: "tiles", payload: { next: 1 } }]);
  });

  test("isCanceled answers true for a canceled job, without a call", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { leaseMs: 60_000 });
    const id = deployment.enqueue();
    await clock.advance(1_000);
    const { job } = begun[0]!;
    expect(await job.isCanceled()).toBe(false);
    deployment.cancel(id);
    await clock.advance(10);
    expect(await job.isCanceled()).toBe(true);
    expect(callsOf("heartbeat")).toHaveLength(0);
  });

  test("progress that is too large, or no Convex value, is the handler's mistake to see", async () => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler);
    deployment.enqueue();
    await clock.advance(100);
    expect(() => begun[0]!.progress("x".repeat(10_000))).toThrow(/8192/);
    expect(() => begun[0]!.progress(new Map())).toThrow();
  });
});

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}
