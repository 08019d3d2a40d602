import { ConvexError } from "convex/values";
import { expect, test } from "vitest";
import { factsOf, type Handler, type LaneJob, type Outcome } from "../shared/index.js";
import { FakeClock } from "../worker/fakes.test.js";
import { outcomeOfThrown, runByHandle } from "./index.js";

const job = (more: object = {}, handler: Partial<Handler> = {}): LaneJob => ({
  job: {
    ...{ id: "j", queue: "emails", payload: { to: "a" }, attempt: 1, failures: 0, resets: 0 },
    ...{ leaseMs: 20_000, enqueuedAt: 0, ...more },
  },
  handler: { kind: "action", handle: "function://x", takes: "payload", ...handler },
});

const runs = (runAction: (...args: any[]) => Promise<unknown>) =>
  ({ runAction, runQuery: () => Promise.reject(new Error("no query")) }) as never;

test("a handler that never settles is failed when its time is over, and its later result is dropped", async () => {
  const clock = new FakeClock();
  let end: (value: unknown) => void = () => {};
  const outcomes: Outcome[] = [];
  const ctx = runs(() => new Promise((resolve) => (end = resolve)));
  void runByHandle(ctx, job({ timeoutMs: 5_000 }), clock).then(({ outcome }) =>
    outcomes.push(outcome),
  );
  await clock.advance(4_999);
  expect(outcomes).toEqual([]);
  await clock.advance(1);
  end("late");
  await clock.advance(1_000);
  expect(outcomes).toEqual([
    {
      ...{ kind: "failed", timedOut: true },
      error: "The attempt ran longer than its timeoutMs, 5000 ms.",
    },
  ]);
});

test("a handler that ends in time leaves no timer behind", async () => {
  const clock = new FakeClock();
  const { outcome } = await runByHandle(
    runs(() => Promise.resolve("done")),
    job({ timeoutMs: 5_000 }),
    clock,
  );
  expect(outcome).toEqual({ kind: "succeeded", result: "done" });
  expect((clock as unknown as { timers: unknown[] }).timers).toEqual([]);
});

test("a function that is not there is waited for, ever longer, and up to minutes", () => {
  const error = new Error("Could not find function for 'emails:send'.");
  const wait = (attempt: number) => {
    const outcome = outcomeOfThrown(error, { attempt, failures: 0 });
    return outcome.kind === "snoozed" ? outcome.runAfter : NaN;
  };
  expect(wait(1)).toBeGreaterThanOrEqual(500);
  expect(wait(1)).toBeLessThanOrEqual(1_500);
  expect(wait(7)).toBeGreaterThanOrEqual(32_000);
  expect(wait(1_000)).toBeLessThanOrEqual(450_000);
});

test("a handler with the same error from its own call has begun: it has failed", () => {
  const error = new Error("Uncaught Error: Could not find function for 'emails:log'.");
  expect(outcomeOfThrown(error, { attempt: 1, failures: 0 }).kind).toBe("failed");
});

test("a function of another kind, or one that takes no job, is a mismatch; the same error from a handler's own call is its failure", async () => {
  const kind = "Trying to execute emails:send as Action, but it is defined as Mutation.";
  const takes =
    "ArgumentValidationError: Object contains extra field `job` that is not in the validator.";
  const ends = async (error: string) =>
    (
      await runByHandle(
        runs(() => Promise.reject(new Error(error))),
        job({}, { takes: "job" }),
      )
    ).outcome;
  for (const error of [kind, takes])
    expect(await ends(error)).toMatchObject({
      ...{ kind: "failed", retryable: false, error: expect.stringMatching(/^handlerMismatch: /) },
    });
  for (const error of [kind, takes]) {
    const outcome = await ends(`Uncaught Error: ${error}`);
    expect(outcome).toMatchObject({ kind: "failed", error: expect.stringContaining(error) });
    expect(outcome).not.toMatchObject({ retryable: false });
  }
});

test("a payload that the handler does not take is a mismatch that says so: a deploy may have changed its shape", async () => {
  const error =
    "ArgumentValidationError: Object is missing the required field `cc`. Consider wrapping the field validator in " +
    '`v.optional(...)` if this is expected.\n\nPath: .payload\n\nObject: {to: "a"}\nValidator: v.object({cc: v.string()})';
  const { outcome } = await runByHandle(
    runs(() => Promise.reject(new Error(error))),
    job({}, { takes: "job" }),
  );
  expect(outcome).toMatchObject({ kind: "failed", retryable: false });
  const text = (outcome as { error: string }).error;
  expect(text).toMatch(/^handlerMismatch: the payload does not fit the queue's action\./);
  expect(text).not.toContain("does not take a job");
  expect(text).toContain("Path: .payload");
});

test("only a function that takes its job adds jobs to follow", async () => {
  const result = { __conveyorResult: 1, continued: [] };
  const returns = runs(() => Promise.resolve(result));
  expect(await runByHandle(returns, job({}, { takes: "job" }))).toEqual({
    ...{ outcome: { kind: "succeeded", result: 1 }, follows: [] },
  });
  expect(await runByHandle(returns, job())).toEqual({
    outcome: { kind: "succeeded", result },
  });
});

test("a handler with its job is called with both; without, its payload must be its arguments", async () => {
  const calls: unknown[] = [];
  const ctx = runs((_handle, args) => Promise.resolve(void calls.push(args)));
  await runByHandle(ctx, job({}, { takes: "job" }));
  await runByHandle(ctx, job());
  expect(calls).toEqual([{ payload: { to: "a" }, job: factsOf(job().job) }, { to: "a" }]);
  for (const payload of ["text", null, [1], new ArrayBuffer(1)]) {
    const { outcome } = await runByHandle(ctx, job({ payload }));
    expect(outcome).toMatchObject({ kind: "failed", error: expect.stringMatching(/no object/) });
  }
  expect(calls).toHaveLength(2);
});

test("an error that asks for an outcome has its effect, though only its data have crossed", async () => {
  const ctx = runs(() =>
    Promise.reject(new ConvexError({ conveyor: "nonRetryable", message: "No such page." })),
  );
  expect((await runByHandle(ctx, job())).outcome).toMatchObject({
    ...{ kind: "failed", error: "No such page.", retryable: false },
  });
});

test("a queue that was given an inline handler meanwhile is left to a lane that runs in it", async () => {
  const { outcome } = await runByHandle(
    runs(() => Promise.reject(new Error("called"))),
    job({}, { kind: "inline" }),
  );
  expect(outcome).toMatchObject({ kind: "snoozed" });
});
