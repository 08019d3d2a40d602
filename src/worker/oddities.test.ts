/** Mistakes of handlers: none of them may keep a job, a slot or another job's outcome for ever. */
import { describe, expect, test } from "vitest";
import { conveyorError } from "../shared/index.js";
import { manual, startLoop } from "./fakes.test.js";

async function throwing(thrown: unknown) {
  const started = startLoop(async () => {
    throw thrown as Error;
  });
  const id = started.deployment.enqueue();
  await started.clock.advance(100);
  return started.deployment.outcomeOf(id);
}

describe("a thrown value", () => {
  test.each([
    [
      "an error with an object as its message",
      Object.assign(new Error(), { message: { code: 7 } }),
    ],
    ["an object without a prototype", Object.create(null)],
    ["a symbol", Symbol("boom")],
    ["one that throws when it is read", throwsWhenRead()],
  ])("%s fails its attempt like any error", async (_, thrown) => {
    const outcome = await throwing(thrown);
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(typeof (outcome as { error: unknown }).error).toBe("string");
  });

  test("a long message is cut between characters: half of one, no call can carry", async () => {
    const outcome = await throwing(new Error(`x${"🙂".repeat(5_000)}`));
    expect(/\p{Surrogate}/u.test((outcome as { error: string }).error)).toBe(false);
    const half = await throwing(new Error("broken \uD83D here"));
    expect(half).toMatchObject({ kind: "failed", error: "broken \uFFFD here" });
    expect(/\p{Surrogate}/u.test((half as { trace: string }).trace)).toBe(false);
    const ours = await throwing(conveyorError("invalidArgument", "broken \uD83D here"));
    expect(ours).toMatchObject({ kind: "failed", error: "broken \uFFFD here" });
  });
});

function hostile(): object {
  const touched = (): never => {
    throw hostile() as Error;
  };
  return new Proxy({}, { get: touched, has: touched, getPrototypeOf: touched, ownKeys: touched });
}

test("one that throws at every touch, thrown by a hook, leaves the worker and the outcome as they are", async () => {
  const thrown: string[] = [];
  const throws = (hook: string) => {
    thrown.push(hook);
    throw hostile() as Error;
  };
  const { clock, deployment, kinds, end } = startLoop(async () => "done", {
    hooks: {
      beforeClaim: async () => (thrown.includes("later") ? undefined : throws("later")),
      backPressure: { check: () => (thrown.includes("at once") ? false : throws("at once")) },
      afterJob: () => throws("afterJob"),
    },
  });
  const id = deployment.enqueue();
  await clock.advance(5_000);
  expect(thrown).toEqual(["at once", "later", "afterJob"]);
  expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "done" });
  expect(kinds("hookFailed")).toHaveLength(3);
  expect(end.value).toBeUndefined();
});

test("one that throws at every touch, thrown or returned, fails its attempt, and the worker goes on", async () => {
  let jobs = 0;
  const { clock, deployment } = startLoop(() => {
    jobs += 1;
    if (jobs === 1) throw hostile() as Error;
    return jobs === 2 ? { deep: hostile() } : "done";
  });
  const ids = [deployment.enqueue(), deployment.enqueue(), deployment.enqueue()];
  await clock.advance(1_000);
  const outcomes = ids.map((id) => deployment.outcomeOf(id));
  expect(outcomes.map((outcome) => outcome?.kind)).toEqual(["failed", "failed", "succeeded"]);
});

describe("a returned value", () => {
  test.each([
    ["half a character", { text: "\uD83D" }],
    ["half a character in a list", [["fine", "\uDE00 not"]]],
    ["one that throws when it is read", throwsWhenRead()],
  ])("%s fails the job at once, and says why", async (_, value) => {
    const { clock, deployment, kinds } = startLoop(async () => value);
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "failed", error: expect.any(String) });
    expect(kinds("resultRefused")).toHaveLength(1);
  });

  test("is taken as it is then: later changes of the object change no repeat", async () => {
    const shared: { n: number; self?: unknown } = { n: 1 };
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler);
    const id = deployment.enqueue();
    await clock.advance(100);
    deployment.fault = (call) => (call === "complete" ? "before" : undefined);
    begun[0]!.resolve(shared);
    await clock.advance(100);
    shared.n = 2;
    shared.self = shared;
    deployment.fault = () => undefined;
    await clock.advance(2_000);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: { n: 1 } });
  });
});

describe("a report on the way", () => {
  async function running() {
    const { begun, handler } = manual();
    const started = startLoop(handler, { leaseMs: 60_000, concurrency: 2 });
    const id = started.deployment.enqueue();
    await started.clock.advance(100);
    return { ...started, begun, id, job: begun[0]!.job };
  }

  test("is taken as it is then, though the object goes on changing", async () => {
    const { clock, deployment, id, job, begun } = await running();
    const state: Record<string, unknown> = { done: 1 };
    job.progress(state);
    job.log("one", { data: state });
    job.continueWith("tiles", state, { context: state });
    Object.assign(state, { done: 2, self: state });
    await clock.advance(300);
    expect(deployment.progressed).toEqual([{ id, value: { done: 1 } }]);
    expect(deployment.logs.get(id)).toMatchObject([{ data: { done: 1 } }]);
    begun[0]!.resolve();
    await clock.advance(100);
    expect(deployment.continued.get(id)).toEqual([
      { queue: "tiles", payload: { done: 1 }, options: { context: { done: 1 } } },
    ]);
  });

  test("is none after the handler's end: a job that it continues with then follows no outcome that is on its way", async () => {
    const { clock, deployment, id, job, begun } = await running();
    deployment.fault = (call) => (call === "complete" ? "before" : undefined);
    job.continueWith("tiles", "in time");
    begun[0]!.resolve();
    await clock.advance(100);
    job.continueWith("tiles", "late");
    deployment.fault = () => undefined;
    await clock.advance(2_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
    expect(deployment.continued.get(id)).toEqual([{ queue: "tiles", payload: "in time" }]);
  });

  test.each([
    ["nested too deeply", nested(20)],
    ["half a character", "\uD83D"],
    ["too many fields", Object.fromEntries(Array.from({ length: 1_025 }, (_, i) => [`f${i}`, 1]))],
  ])(
    "is refused where it is said if it is %s: the deployment would refuse all of it",
    async (_, value) => {
      const { job } = await running();
      expect(() => job.progress(value)).toThrow();
      expect(() => job.log("x", { data: value })).toThrow();
      expect(() => job.continueWith("tiles", value)).toThrow();
      expect(() => job.continueWith("tiles", 1, { context: value })).toThrow();
    },
  );

  test("a message may be anything, and half a character in it is marked", async () => {
    const { clock, deployment, id, job } = await running();
    job.log(new Error("boom") as never);
    job.log("broken \uD83D");
    expect(() => job.log("x", { level: "fatal" as never })).toThrow(/level/);
    await clock.advance(300);
    expect(deployment.logs.get(id)?.map(({ message }) => message)).toEqual([
      "Error: boom",
      "broken \uFFFD",
    ]);
  });

  test.each([
    ["an option that there is not", { delay: 5 }],
    ["a priority in words", { priority: "high" }],
    ["a key that replaces another job", { key: { value: "k", onConflict: "replace" } }],
    ["a date for a context", { context: new Date(0) }],
  ])(
    "a job to continue with is refused where it is said, for %s: its outcome could never be sent",
    async (_, options) => {
      const { job } = await running();
      expect(() => job.continueWith("tiles", 1, options as never)).toThrow(/continue/);
    },
  );

  test.each([undefined, null, 5, "", "no name", "\uD83D"])(
    "a job to continue with is refused where it is said, for %j in the place of a queue",
    async (queue) => {
      const { job } = await running();
      expect(() => job.continueWith(queue as never, 1)).toThrow(/name of the queue/);
    },
  );

  test("jobs to continue with are as many, and as large, as one call can carry", async () => {
    const { job } = await running();
    for (let i = 0; i < 64; i += 1) job.continueWith("tiles", i);
    expect(() => job.continueWith("tiles", 64)).toThrow(/64/);
    const { job: other } = await running();
    for (let i = 0; i < 4; i += 1) other.continueWith("tiles", "x".repeat(1_000_000));
    const large = { context: "x".repeat(1_000_000) };
    expect(() => other.continueWith("tiles", 1, large)).toThrow(/4194304/);
  });

  // Rules out D24.
  test("a chatty handler holds up no other's outcome", async () => {
    const { clock, deployment, begun, job } = await running();
    const other = deployment.enqueue();
    await clock.advance(100);
    const entries = Array.from({ length: 300 }, (_, i) => job.log(`line ${i}`));
    begun[1]!.job.log("last words");
    begun[1]!.resolve("done");
    for (let i = 0; i < 50; i += 1) {
      await clock.advance(2);
      for (const entry of entries) entry.update({ message: `line, ${i}` });
    }
    expect(deployment.outcomeOf(other)).toMatchObject({ result: "done" });
    expect(deployment.logs.get(other)).toMatchObject([{ message: "last words" }]);
  });

  test("of two that talk without end, each has its turn", async () => {
    const { clock, deployment, begun, job } = await running();
    const other = deployment.enqueue();
    await clock.advance(100);
    const entries = Array.from({ length: 300 }, (_, i) => job.log(`line ${i}`));
    begun[1]!.job.log("a word");
    for (let i = 0; i < 300; i += 1) {
      await clock.advance(2);
      for (const entry of entries) entry.update({ message: `line, ${i}` });
    }
    expect(deployment.logs.get(other)).toMatchObject([{ message: "a word" }]);
  });

  test("more entries than a job may have are neither kept nor sent, and the end says how many", async () => {
    const { clock, deployment, id, job, begun, kinds } = await running();
    for (let i = 0; i < 1_500; i += 1) job.log(`line ${i}`).update({ message: `line ${i}!` });
    await clock.advance(2_000);
    expect(deployment.logs.get(id)).toHaveLength(1_000);
    begun[0]!.resolve();
    await clock.advance(300);
    expect(kinds("reportRefused")).toMatchObject([{ logs: 500, output: 0 }]);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });
});

test("an answer that no deployment of ours gives ends the run, and its beats: its jobs go to other workers", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, end, callsOf } = startLoop(handler, { concurrency: 2 });
  deployment.enqueue();
  await clock.advance(100);
  deployment.claim = async () => ({}) as never;
  deployment.enqueue();
  await clock.advance(1_000);
  expect(end.value?.error).toBeInstanceOf(TypeError);
  expect(begun[0]!.signal.aborted).toBe(true);
  const beats = callsOf("heartbeat").length;
  await clock.advance(60_000);
  expect(callsOf("heartbeat")).toHaveLength(beats);
});

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)];
}

function throwsWhenRead(): object {
  return Object.defineProperty({}, "field", {
    enumerable: true,
    get: () => {
      throw new Error("not to be read");
    },
  });
}
