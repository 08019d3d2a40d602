/** Reports of handlers on the way: none of it is lost, none comes twice, and it costs few calls. */
import { describe, expect, test } from "vitest";
import { checkReport } from "../component/attempts/reportChecks.js";
import { conveyorError, REPORT_MAX_BYTES, REPORT_MAX_ITEMS } from "../shared/index.js";
import { manual, startLoop, type Fault } from "./fakes.test.js";
import { UnsentReports } from "./unsentReports.js";

async function oneRunning(options: Parameters<typeof startLoop>[1] = {}) {
  const { begun, handler } = manual();
  const started = startLoop(handler, { leaseMs: 60_000, ...options });
  const id = started.deployment.enqueue();
  await started.clock.advance(400);
  const job = begun[0]!;
  const output = () => started.deployment.outputs.get(id) ?? [];
  return { ...started, ...job.job, begun, id, job, output };
}

describe("output", () => {
  // Shows LF-27, D8.
  test("is sent when a clause ends, a line gets long, or a second has passed, and not before", async () => {
    const { clock, output, write, deployment } = await oneRunning();
    write("one two");
    await clock.advance(900);
    expect(output()).toEqual([]);
    await clock.advance(200);
    expect(output()).toEqual(["one two"]);
    write(" three.");
    await clock.advance(250);
    expect(output()).toEqual(["one two", " three."]);
    write("x".repeat(101));
    await clock.advance(260);
    expect(output()).toHaveLength(3);
    expect(deployment.calls.filter(({ call }) => call === "report")).toHaveLength(3);
  });

  test("written letter by letter is a few parts, together all of it, in order", async () => {
    const { clock, output, write, callsOf } = await oneRunning();
    const text = "The quick brown fox, as they say, jumps over the lazy dog. ".repeat(20);
    for (const letter of text) {
      write(letter);
      await clock.advance(2);
    }
    await clock.advance(2_000);
    expect(output().join("")).toBe(text);
    expect(callsOf("report").length).toBeLessThan(15);
    const at = callsOf("report").map((call) => call.at);
    expect(at.slice(1).every((time, i) => time - at[i]! >= 250)).toBe(true);
  });

  // Shows LF-28.
  test("has no lost tail: the rest goes before the outcome does", async () => {
    const { clock, deployment, output, write, job, id } = await oneRunning();
    write("the end without a mark");
    job.resolve("done");
    await clock.advance(100);
    expect(output()).toEqual(["the end without a mark"]);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
    const order = deployment.calls.map(({ call }) => call);
    expect(order.indexOf("report")).toBeLessThan(order.indexOf("complete"));
  });

  test("of a handler that fails is as complete", async () => {
    const { clock, deployment, output, write, job, id } = await oneRunning();
    write("so far so good");
    job.reject(new Error("boom"));
    await clock.advance(100);
    expect(output()).toEqual(["so far so good"]);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "failed" });
  });

  test.each<[string, Fault]>([
    ["the call was lost", (call) => (call === "report" ? "before" : undefined)],
    ["the answer was lost", (call) => (call === "report" ? "after" : undefined)],
  ])("is repeated when %s, and stands there once", async (_, fault) => {
    const { clock, deployment, output, write, job, id } = await oneRunning();
    deployment.fault = fault;
    for (const word of ["one, ", "two, ", "three, "]) {
      write(word);
      await clock.advance(300);
    }
    job.resolve();
    await clock.advance(500);
    expect(deployment.outcomeOf(id)).toBeUndefined();
    deployment.fault = () => undefined;
    await clock.advance(20_000);
    expect(output().join("")).toBe("one, two, three, ");
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });

  test("waits for the second half of a letter that was written in two", async () => {
    const { clock, output, write, job } = await oneRunning();
    write("a rocket, \uD83D");
    await clock.advance(300);
    write("\uDE80");
    job.resolve();
    await clock.advance(100);
    expect(output()).toEqual(["a rocket, ", "🚀"]);
  });

  test("over the limit of a job's output throws, and the part on its way goes to onEvent", async () => {
    const { clock, deployment, kinds, write, id, job } = await oneRunning();
    deployment.reportAnswers.set(id, { nextIndex: 0, outputFull: true });
    write("too much.");
    await clock.advance(100);
    expect(kinds("reportRefused")).toMatchObject([{ id, output: 9 }]);
    expect(() => write("more")).toThrow(/16777216/);
    job.resolve("done");
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  test("of one attempt alone over the limit of a job's output is refused before it is sent", async () => {
    const { write } = await oneRunning();
    write("x".repeat(16 * 2 ** 20));
    expect(() => write("y")).toThrow(/16777216/);
  });

  // Shows LF-27.
  test("may be tuned: a worker without readers sends seldom", async () => {
    const output = { flushOn: /\n\n/g, flushChars: 1_000, flushMs: 10_000 };
    const { clock, callsOf, write } = await oneRunning({ output });
    for (let i = 0; i < 9; i++) {
      write("a line.\n");
      await clock.advance(1_000);
    }
    expect(callsOf("report")).toHaveLength(0);
    write("\n\n");
    await clock.advance(10);
    write("\n\n");
    await clock.advance(300);
    expect(callsOf("report")).toHaveLength(2);
  });
});

describe("log entries", () => {
  test("are kept in order, changed in place, and passed to onEvent too", async () => {
    const { clock, deployment, log, kinds, id } = await oneRunning();
    const first = log("begun", { data: { of: 10 } });
    log("careful", { level: "warn" });
    await clock.advance(300);
    first.update({ message: "at work" });
    first.update({ data: { of: 10, done: 3 } });
    await clock.advance(300);
    expect(deployment.logs.get(id)).toEqual([
      { level: "info", message: "at work", data: { of: 10, done: 3 } },
      { level: "warn", message: "careful" },
    ]);
    expect(kinds("log")).toMatchObject([{ message: "begun" }, { level: "warn" }]);
  });

  test("changed while they are on their way are sent again", async () => {
    const { clock, deployment, log, id } = await oneRunning();
    const entry = log("0 %");
    await clock.advance(2);
    entry.update({ message: "100 %" });
    await clock.advance(300);
    expect(deployment.logs.get(id)).toEqual([{ level: "info", message: "100 %" }]);
  });

  test("of the last moment are recorded before the outcome is", async () => {
    const { clock, deployment, log, job, id } = await oneRunning();
    log("bye");
    job.resolve();
    await clock.advance(100);
    expect(deployment.logs.get(id)).toMatchObject([{ message: "bye" }]);
  });

  test("with a long message are cut, and with large data the handler's mistake to see", async () => {
    const { clock, deployment, log, id } = await oneRunning();
    log("x".repeat(10_000));
    expect(() => log("x", { data: "x".repeat(10_000) })).toThrow(/8192/);
    expect(() => log("x", { data: new Map() })).toThrow();
    await clock.advance(300);
    const [entry, ...others] = deployment.logs.get(id)!;
    expect(entry!.message).toMatch(/^x{4000,}.*cut, 10000 bytes/);
    expect(others).toEqual([]);
  });

  test("that the deployment has no room for go to onEvent", async () => {
    const { clock, deployment, log, kinds, id } = await oneRunning();
    deployment.reportAnswers.set(id, { logsDropped: 1 });
    log("one too many");
    await clock.advance(300);
    expect(kinds("reportRefused")).toMatchObject([{ id, logs: 1, output: 0 }]);
  });
});

describe("a report", () => {
  test("carries the reports of all jobs", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 3, leaseMs: 60_000 });
    for (let i = 0; i < 3; i++) deployment.enqueue();
    await clock.advance(400);
    begun[0]!.job.progress(1);
    begun[1]!.job.log("two");
    begun[2]!.job.write("three.");
    await clock.advance(300);
    expect(callsOf("report").map(({ ids }) => ids.length)).toEqual([3]);
    expect(deployment.progressed).toEqual([{ id: begun[0]!.id, value: 1 }]);
  });

  test("of a job without an answer, for which the call had no room, is sent again, and its outcome waits for it", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 2, leaseMs: 60_000 });
    const [left, taken] = [deployment.enqueue(), deployment.enqueue()];
    await clock.advance(400);
    const report = deployment.report.bind(deployment);
    const withRoom = ({ id }: { id: string }) => id !== left || callsOf("report").length > 2;
    deployment.report = ({ updates, logs, output }) =>
      report({
        ...{ updates: updates.filter(withRoom), logs: logs.filter(withRoom) },
        output: output.filter(withRoom),
      });
    for (const { job } of begun) job.write("something");
    for (const one of begun) one.resolve();
    await clock.advance(5_000);
    for (const id of [left, taken]) {
      expect(deployment.outputs.get(id)).toEqual(["something"]);
      expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
    }
    const calls = callsOf("report").map(({ ids }) => ids);
    expect(calls.at(-1)).toEqual([left]);
  });

  test("of a job that ends sends no more progress: it is not shown any more, and would be a call", async () => {
    const { clock, callsOf, progress, job } = await oneRunning();
    progress(0.1);
    await clock.advance(10);
    progress(0.9);
    job.resolve();
    await clock.advance(100);
    expect(callsOf("report")).toHaveLength(1);
  });

  test("that is refused is taken apart: one job's part holds up no other, and is given up after three tries", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, kinds } = startLoop(handler, { concurrency: 2, leaseMs: 60_000 });
    const [bad, good] = [deployment.enqueue(), deployment.enqueue()];
    await clock.advance(400);
    deployment.refusesReport = (ids) => ids.includes(bad);
    for (const { job } of begun) job.write("something");
    for (const one of begun) one.resolve();
    await clock.advance(30_000);
    expect(deployment.outputs.get(good)).toEqual(["something"]);
    expect(kinds("reportRefused")).toMatchObject([{ id: bad, output: 9, error: "refused report" }]);
    expect(deployment.outcomeOf(bad)).toMatchObject({ kind: "succeeded" });
    expect(deployment.outcomeOf(good)).toMatchObject({ kind: "succeeded" });
  });

  test("that the deployment refuses always costs no job its outcome: each soon goes without", async () => {
    const { clock, deployment, kinds } = startLoop(async (job) => void job.log("a line"), {
      concurrency: 4,
    });
    deployment.refusesReport = () => true;
    for (let jobs = 0; jobs < 100; jobs += 1) deployment.enqueue();
    await clock.advance(15_000);
    expect(deployment.recorded.size).toBe(100);
    expect(kinds("reportRefused")).toHaveLength(100);
  });

  test("that is never answered holds up no outcome for ever, while the job's beats are answered", async () => {
    const { clock, deployment, write, kinds, job, id } = await oneRunning();
    deployment.fault = (call) => (call === "report" ? "before" : undefined);
    write("unheard");
    job.resolve();
    await clock.advance(180_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
    expect(kinds("reportRefused")).toMatchObject([{ output: 7 }]);
  });

  test("waits for its answer through an outage of all calls, and nothing of it is lost", async () => {
    const { clock, deployment, write, output, job, id } = await oneRunning();
    deployment.fault = () => "before";
    write("unheard");
    job.resolve();
    await clock.advance(50_000);
    deployment.fault = () => undefined;
    await clock.advance(20_000);
    expect(output()).toEqual(["unheard"]);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });

  test("of a token that has written as much as it may goes on with progress alone, and costs no try", async () => {
    const { clock, deployment, kinds, log, progress, write, job, id } = await oneRunning();
    const report = deployment.report.bind(deployment);
    let calls = 0;
    deployment.report = async (reported) => {
      calls += 1;
      if (reported.logs.length + reported.output.length === 0) return await report(reported);
      throw conveyorError("quotaExceeded", "as much as it may");
    };
    progress(0.5);
    log("a line");
    write("some output");
    await clock.advance(1_000);
    expect(deployment.progressed.at(-1)).toEqual({ id, value: 0.5 });
    expect(calls).toBe(2);
    expect(kinds("reportRefused")).toMatchObject([{ logs: 1, output: 11 }]);
    log("the last line");
    job.resolve();
    await clock.advance(50);
    expect(calls).toBe(3);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
  });

  test("that says the lease is lost aborts its handler, and the rest is dropped", async () => {
    const { clock, deployment, callsOf, write, job, id } = await oneRunning();
    deployment.held.delete(id);
    write("into the void.");
    await clock.advance(100);
    expect(job.signal.reason).toMatchObject({ reason: "leaseLost" });
    write("and more.");
    await clock.advance(2_000);
    expect(callsOf("report")).toHaveLength(1);
  });

  test("that says the job is canceled tells its handler so, and is recorded", async () => {
    const { clock, deployment, output, write, job, id } = await oneRunning();
    deployment.canceled.add(id);
    write("nearly there.");
    await clock.advance(50);
    expect(job.signal.reason).toMatchObject({ reason: "canceled" });
    expect(output()).toEqual(["nearly there."]);
  });

  test("on its way when the worker stops is waited for within the grace, and no longer", async () => {
    const { clock, deployment, end, loop, write, job, id } = await oneRunning();
    deployment.fault = (call) => (call === "report" ? "before" : undefined);
    write("unheard");
    job.resolve();
    loop.stop(1_000);
    await clock.advance(2_400);
    expect(deployment.outcomeOf(id)).toBeUndefined();
    await clock.advance(200);
    // The result goes without it.
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "succeeded" });
    expect(end.value).toEqual({});
  });
});

test("jobs to continue with go with the result, and with nothing else", async () => {
  const { clock, deployment, begun, continueWith, job, id } = await oneRunning();
  continueWith("tiles", { x: 1 }, { priority: 3 });
  expect(() => continueWith("tiles", new Map())).toThrow(/not a Convex value/);
  job.resolve();
  const next = deployment.enqueue();
  await clock.advance(100);
  expect(deployment.continued.get(id)).toEqual([
    { queue: "tiles", payload: { x: 1 }, options: { priority: 3 } },
  ]);
  begun[1]!.job.continueWith("tiles", 2);
  begun[1]!.reject(new Error("no"));
  await clock.advance(100);
  expect(deployment.outcomeOf(next)).toMatchObject({ kind: "failed" });
  expect(deployment.continued.has(next)).toBe(false);
});

// Shows SG-06.
test("a worker's budget is the part that running jobs leave over, and with none left it does not ask", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 4, maxCost: 10 });
  deployment.enqueue(null, "tiles", { cost: 7 });
  await clock.advance(400);
  deployment.outrun = true;
  deployment.enqueue();
  await clock.advance(400);
  expect(callsOf("claim").at(-1)!.maxCost).toBe(3);
  deployment.outrun = false;
  await clock.advance(5_000);
  deployment.enqueue(null, "tiles", { cost: 2 });
  await clock.advance(400);
  const before = callsOf("claim").length;
  deployment.enqueue();
  await clock.advance(10_000);
  expect(callsOf("claim")).toHaveLength(before);
  begun[0]!.resolve();
  await clock.advance(100);
  expect(callsOf("complete").at(-1)).toMatchObject({ max: 2, maxCost: 7 });
});

test("a handler gets its job with the defaults filled in, and a key that is the same for all attempts of a round", async () => {
  const { begun, handler } = manual();
  const { clock, deployment } = startLoop(handler, { concurrency: 2 });
  const plain = deployment.enqueue({ x: 1 });
  const item = deployment.enqueue(null, "tiles", { rounds: 3, tags: ["a"], priority: 2 });
  await clock.advance(400);
  const filled = { priority: 0, tags: [], labels: [], cost: 1, rounds: 0, attempt: 1 };
  expect(begun[0]!.job).toMatchObject({ ...filled, payload: { x: 1 }, idempotencyKey: plain });
  expect(begun[0]!.job).not.toHaveProperty("leaseMs");
  expect(begun[1]!.job).toMatchObject({ priority: 2, tags: ["a"], idempotencyKey: `${item}:3` });
});

test("a report with progress beside much output is one that the deployment takes", () => {
  const unsent = new UnsentReports({ id: "a", attempt: 1 });
  unsent.write("x".repeat(REPORT_MAX_BYTES + 1));
  unsent.show({ percent: 50 });
  const taken = unsent.take({ items: REPORT_MAX_ITEMS, bytes: REPORT_MAX_BYTES }, false);
  expect(taken.updates).toHaveLength(1);
  expect(() => checkReport(taken, 1)).not.toThrow();
});
