/** The loop with work and with calls that fail, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";
import { FIRST_SPREAD_MS, LOOK_AGAIN_MS } from "./limits.js";

describe("claiming", () => {
  // Shows LF-10, SG-07, SG-12, L1.
  test("a job is claimed, run and recorded, and the next comes with the same call", async () => {
    const { clock, deployment, callsOf } = startLoop(async ({ payload }) => ({
      doubled: payload * 2,
    }));
    const first = deployment.enqueue(1);
    const second = deployment.enqueue(2);
    await clock.advance(100);
    expect(deployment.outcomeOf(first)).toEqual({ kind: "succeeded", result: { doubled: 2 } });
    expect(deployment.outcomeOf(second)).toEqual({ kind: "succeeded", result: { doubled: 4 } });
    expect(callsOf("claim")).toHaveLength(1);
    expect(callsOf("complete").map(({ ids, max }) => ({ ids, max }))).toEqual([
      { ids: [first], max: 1 },
      // By then the subscription has said that nothing waits.
      { ids: [second], max: undefined },
    ]);
  });

  // Shows SG-42.
  test("an ordinary job has the events claimed, finished and recorded, and the worker's states around them", async () => {
    const { clock, deployment, events } = startLoop(async () => "done");
    await clock.advance(1_000);
    const before = events.length;
    const id = deployment.enqueue();
    await clock.advance(1_000);
    const about = { id, queue: "tiles", attempt: 1 };
    expect(events.slice(before)).toEqual([
      { kind: "claimed", jobs: [about] },
      { kind: "state", state: "working", before: "waiting" },
      { kind: "finished", outcome: "succeeded", ms: 0, ...about },
      { kind: "recorded", answer: "ok", ...about },
      { kind: "state", state: "waiting", before: "working" },
    ]);
  });

  // Shows LF-37, CR-08, SG-11, D4.
  test("never more handlers than `concurrency` run, and no more is claimed than there is room for", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 3 });
    for (let i = 0; i < 10; i++) deployment.enqueue();
    await clock.advance(500);
    expect(begun).toHaveLength(3);
    expect(callsOf("claim").map(({ max }) => max)).toEqual([3]);
    begun[0]!.resolve();
    begun[2]!.resolve();
    await clock.advance(100);
    expect(begun).toHaveLength(5);
    expect(deployment.held.size).toBe(3);
  });

  test("outcomes that end while a complete is on its way go together with the next: one numbered call at a time", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 4 });
    const ids = [1, 2, 3, 4].map(() => deployment.enqueue());
    await clock.advance(100);
    for (const one of begun) one.resolve();
    await clock.advance(100);
    expect(deployment.mostInFlight).toBe(1);
    expect(
      callsOf("complete")
        .flatMap((call) => call.ids)
        .sort(),
    ).toEqual(ids);
    expect(callsOf("complete").length).toBeLessThanOrEqual(2);
    expect(deployment.calls.filter(({ n }) => n !== undefined).map(({ n }) => n)).toEqual([1, 2]);
  });

  // Shows LF-06, C10, C11.
  test("without work nothing is claimed after two scans: the subscription wakes it", async () => {
    const { clock, callsOf } = startLoop(async () => null);
    await clock.advance(60_000);
    const times = callsOf("claim").map(({ at }) => at);
    expect(times).toEqual([FIRST_SPREAD_MS / 2, LOOK_AGAIN_MS * 1.5]);
  });

  // Shows WP-31.
  // Rules out D17.
  test("claims that come back empty are made ever more seldom while there is said to be work", async () => {
    const { clock, deployment, callsOf } = startLoop(async () => null);
    await clock.advance(1_000);
    deployment.outrun = true;
    deployment.enqueue();
    await clock.advance(30_000);
    const times = callsOf("claim")
      .slice(1)
      .map(({ at }) => at);
    const waits = times.slice(1).map((at, i) => at - times[i]!);
    // Each wait begins with the answer, 5 ms after the call.
    expect(waits.slice(0, 8)).toEqual([55, 105, 205, 405, 805, 1_605, 3_205, 5_005]);
    expect(waits.slice(8).every((wait) => wait === 5_005)).toBe(true);
  });

  // Shows LF-06, C10, C12.
  // Rules out D17.
  test("a wake-up after empty claims makes it scan at once", async () => {
    const { clock, deployment, callsOf } = startLoop(async () => null);
    await clock.advance(10_000);
    const before = callsOf("claim").length;
    const id = deployment.enqueue();
    await clock.advance(50);
    expect(callsOf("claim")).toHaveLength(before + 1);
    expect(deployment.outcomeOf(id)).toBeDefined();
  });
});

describe("a job that comes again while its handler still runs", () => {
  // Shows SG-45, C31.
  test("is not begun in parallel: it waits for a second, and goes back", async () => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler, { leaseMs: 1_000, concurrency: 2 });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(begun).toHaveLength(1);
    deployment.held.delete(id);
    // Long enough that the lost handler keeps no slot.
    await clock.advance(10_000);
    expect(begun[0]!.signal.aborted).toBe(true);
    deployment.enqueue(null, "tiles", { id });
    await clock.advance(900);
    expect(deployment.outcomeOf(id)).toBeUndefined();
    await clock.advance(300);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "released" });
    expect(begun).toHaveLength(1);
    // It comes once more, and the other ends meanwhile.
    deployment.enqueue(null, "tiles", { id });
    await clock.advance(300);
    begun[0]!.resolve("too late");
    await clock.advance(100);
    expect(begun).toHaveLength(2);
    begun[1]!.resolve("in time");
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "in time" });
  });

  test("comes ever more seldom, where no other worker takes it: that handler may never end", async () => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler, { leaseMs: 1_000, concurrency: 2 });
    const id = deployment.enqueue();
    await clock.advance(100);
    deployment.held.delete(id);
    await clock.advance(10_000);
    const comes = async () => {
      deployment.enqueue(null, "tiles", { id });
      await clock.advance(1_200);
      return deployment.outcomeOf(id);
    };
    expect(await comes()).toEqual({ kind: "released" });
    const waits: unknown[] = [];
    for (let times = 0; times < 7; times += 1) waits.push(await comes());
    const seconds = [2, 4, 8, 16, 32, 60, 60];
    expect(waits).toEqual(seconds.map((s) => ({ kind: "snoozed", runAfter: 1_000 * s })));
    expect(begun).toHaveLength(1);
    begun[0]!.resolve("too late");
    await comes();
    expect(begun).toHaveLength(2);
  });
});

describe("a handler that got its signal to stop and returns", () => {
  test.each([
    ["nothing", undefined, { kind: "canceled" }],
    ["a value", "half of it", { kind: "succeeded", result: "half of it" }],
    ["null", null, { kind: "succeeded", result: null }],
  ])("%s has succeeded only if it says so", async (_, value, outcome) => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler);
    const id = deployment.enqueue();
    await clock.advance(100);
    deployment.canceled.add(id);
    await clock.advance(3_000);
    expect(begun[0]!.signal.aborted).toBe(true);
    begun[0]!.resolve(value);
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual(outcome);
  });
});

describe("answers that do not come", () => {
  // Shows LF-11.
  // Rules out D11, P22.
  test("a claim without an answer is repeated under its number, and its jobs are run once", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler);
    let lost = 3;
    deployment.fault = (call) => (call === "claim" && lost-- > 0 ? "after" : undefined);
    deployment.enqueue();
    await clock.advance(2_000);
    expect(callsOf("claim").map(({ n }) => n)).toEqual([1, 1, 1, 1]);
    expect(begun).toHaveLength(1);
    expect(deployment.held.size).toBe(1);
  });

  test("leases that a repeated claim brings are confirmed by a beat, since it is unknown which copy took effect", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { leaseMs: 1_000 });
    deployment.fault = (call) => (call === "claim" && clock.now() < 5_000 ? "before" : undefined);
    deployment.enqueue();
    while (begun.length === 0) await clock.advance(500);
    expect(callsOf("heartbeat")[0]!.ids).toEqual([begun[0]!.id]);
    expect(begun[0]!.signal.aborted).toBe(false);
  });

  test("leases that a slow claim brings are confirmed before their handlers begin: some may be over", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { leaseMs: 1_000, concurrency: 2 });
    const claim = deployment.claim.bind(deployment);
    deployment.claim = async (...args) => {
      const reply = await claim(...args);
      await new Promise<void>((resolve) => clock.after(reply.jobs.length > 0 ? 600 : 0, resolve));
      return reply;
    };
    const [gone, stands] = [deployment.enqueue(), deployment.enqueue()];
    await clock.advance(300);
    deployment.held.delete(gone);
    await clock.advance(600);
    expect(callsOf("heartbeat")[0]!.ids).toEqual([gone, stands]);
    expect(begun.map(({ id }) => id)).toEqual([stands]);
    await clock.advance(700);
    expect(begun[0]!.signal.aborted).toBe(false);
  });

  test("an outcome is kept until it is recorded, and recorded once", async () => {
    const { clock, deployment, callsOf } = startLoop(async () => "done");
    let trouble = 6;
    deployment.fault = (call) =>
      call === "complete" && trouble > 0 ? (trouble-- % 2 === 0 ? "before" : "after") : undefined;
    const id = deployment.enqueue();
    await clock.advance(60_000);
    expect(deployment.recorded.get(id)).toMatchObject({ times: 1, outcome: { result: "done" } });
    expect(new Set(callsOf("complete").map(({ n }) => n))).toEqual(new Set([2]));
  });
});

describe("outcomes that are refused", () => {
  // Shows D17.
  // Rules out D10.
  test("a rejected batch is taken apart: the one that cannot be recorded holds up no other", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 3 });
    const [good, bad, fine] = [1, 2, 3].map(() => deployment.enqueue());
    await clock.advance(100);
    let refuse = true;
    deployment.refuses = (_, id) => refuse && id === bad;
    // All three end while a call is on its way, so that the next carries them together.
    for (const one of begun) one.resolve("done");
    await clock.advance(100);
    expect(callsOf("complete").some(({ ids }) => ids.length === 3)).toBe(true);
    expect(deployment.outcomeOf(good!)).toBeDefined();
    expect(deployment.outcomeOf(fine!)).toBeDefined();
    expect(deployment.outcomeOf(bad!)).toBeUndefined();
    const later = deployment.enqueue();
    await clock.advance(100);
    begun.find(({ id }) => id === later)!.resolve("done");
    await clock.advance(100);
    expect(deployment.outcomeOf(later)).toBeDefined();
    refuse = false;
    await clock.advance(60_000);
    expect(deployment.outcomeOf(bad!)).toMatchObject({ result: "done" });
  });

  // Rules out D10.
  test("an outcome refused twice alone goes without its callback, so that it stands independently of the app", async () => {
    const { clock, deployment, callsOf } = startLoop(async () => "done");
    const id = deployment.enqueue();
    // As when the callback writes a row that the whole app writes: the call loses its conflict every time.
    deployment.refuses = (_outcome, _id, deferred) => !deferred;
    await clock.advance(10_000);
    expect(deployment.recorded.get(id)).toMatchObject({ times: 1, outcome: { result: "done" } });
    const deferred = callsOf("complete").map((call) => call.deferred === true);
    // In the batch, alone, alone again, and then without.
    expect(deferred).toEqual([false, false, false, true]);
  });

  test("after a conflict by bad luck the outcome goes with its callback, and so do later outcomes", async () => {
    const { clock, deployment, callsOf } = startLoop(async () => "done");
    let refusals = 2;
    deployment.refuses = () => refusals-- > 0;
    const first = deployment.enqueue();
    await clock.advance(10_000);
    const second = deployment.enqueue();
    await clock.advance(1_000);
    for (const id of [first, second]) expect(deployment.outcomeOf(id)).toBeDefined();
    expect(callsOf("complete").some((call) => call.deferred === true)).toBe(false);
  });

  // Rules out D10.
  test("an outcome that no completion records is handed over, and its lease kept until it is recorded", async () => {
    const { clock, deployment, callsOf, kinds } = startLoop(async () => "done");
    deployment.refuses = () => true;
    const id = deployment.enqueue();
    await clock.advance(120_000);
    expect(callsOf("completeLater")).toHaveLength(1);
    expect(deployment.outcomeOf(id)).toBeUndefined();
    expect(deployment.held.has(id)).toBe(true);
    deployment.later[0]!();
    deployment.refuses = () => false;
    await clock.advance(120_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
    expect(deployment.recorded.get(id)).toMatchObject({ times: 1 });
    expect(kinds("recorded")).toMatchObject([{ id, answer: "recorded" }]);
  });

  test("a claim that the deployment refuses does not take the outcomes of its call down", async () => {
    const { clock, deployment } = startLoop(async () => "done");
    const id = deployment.enqueue();
    deployment.fault = (call) => {
      const last = deployment.calls.at(-1)!;
      return call === "complete" && last.max !== undefined
        ? new Error("no claims today")
        : undefined;
    };
    await clock.advance(1_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });
});

test("an idle worker beats at its presence interval, to be seen, and not at all where that is 0", async () => {
  const { clock, callsOf } = startLoop(async () => null, { presenceMs: 60_000 });
  await clock.advance(200_000);
  expect(callsOf("heartbeat").map(({ at, ids }) => ({ at, ids }))).toEqual(
    [60_000, 120_000, 180_000].map((at) => ({ at, ids: [] })),
  );
  const unseen = startLoop(async () => null, { presenceMs: 0 });
  await unseen.clock.advance(200_000);
  expect(unseen.callsOf("heartbeat")).toEqual([]);
});

test.each([
  [10_000, [60_000, 129_000]],
  [25_000, [60_000, 140_000]],
])(
  "an idle worker with a claim on its way for %i ms beats after it, or a third of its interval later",
  async (latencyMs, at) => {
    const { clock, deployment, callsOf } = startLoop(async () => null, { presenceMs: 60_000 });
    deployment.outrun = true;
    await clock.advance(119_000);
    deployment.latencyMs = latencyMs;
    deployment.enqueue();
    await clock.advance(22_000);
    expect(callsOf("heartbeat").map((beat) => beat.at)).toEqual(at);
  },
);
