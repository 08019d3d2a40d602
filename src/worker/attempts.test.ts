/** Leases in a worker's hands: how they are kept, lost and given back. */
import { expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";

// Shows LF-18, SG-33, F2, L1.
test("all leases are renewed by one beat, three times in a lease, until their outcome is recorded", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 3 });
  const ids = [1, 2, 3].map(() => deployment.enqueue());
  await clock.advance(9_500);
  expect(callsOf("heartbeat").every((beat) => beat.ids.join() === ids.join())).toBe(true);
  expect(callsOf("heartbeat")).toHaveLength(9);
  for (const one of begun) one.resolve();
  await clock.advance(100);
  const before = callsOf("heartbeat").length;
  await clock.advance(10_000);
  expect(callsOf("heartbeat")).toHaveLength(before);
});

test("a beat that says `leaseLost` aborts that handler and no other, and its late result is dropped", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, kinds } = startLoop(handler, { concurrency: 2 });
  const lost = deployment.enqueue();
  const kept = deployment.enqueue();
  await clock.advance(100);
  deployment.held.delete(lost);
  await clock.advance(1_000);
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  expect(begun[0]!.signal.reason).toMatchObject({ name: "JobAborted", reason: "leaseLost" });
  expect(kinds("leaseLost")).toMatchObject([{ id: lost, reason: "leaseLost" }]);
  for (const one of begun) one.resolve("late");
  await clock.advance(100);
  expect(deployment.outcomeOf(lost)).toBeUndefined();
  expect(deployment.outcomeOf(kept)).toMatchObject({ result: "late" });
  expect(kinds("resultDropped")).toMatchObject([{ id: lost }]);
});

// Rules out D32, P25.
test("when no beat gets through, the handler is aborted by the worker's own clock when the lease ends", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, kinds } = startLoop(handler);
  deployment.enqueue();
  await clock.advance(1_500);
  const lastBeat = deployment.calls.findLast(({ call }) => call === "heartbeat")!.at;
  deployment.fault = () => "before";
  await clock.advance(lastBeat + 2_999 - clock.now());
  expect(begun[0]!.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(begun[0]!.signal.aborted).toBe(true);
  expect(kinds("leaseLost")).toMatchObject([{ reason: "expired" }]);
});

test("a handler that gave up because its lease ran out here has not failed: the job is given back", async () => {
  const { begun, handler } = manual();
  const { clock, deployment } = startLoop(handler);
  const id = deployment.enqueue();
  await clock.advance(100);
  deployment.fault = () => "before";
  await clock.advance(4_000);
  begun[0]!.reject(begun[0]!.signal.reason);
  deployment.fault = () => undefined;
  await clock.advance(20_000);
  expect(deployment.outcomeOf(id)).toEqual({ kind: "released" });
});

test("a lease that another worker got meanwhile is refused, and the rest of the batch stands", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, kinds } = startLoop(handler, { concurrency: 2 });
  const lost = deployment.enqueue();
  const kept = deployment.enqueue();
  await clock.advance(100);
  deployment.held.set(lost, 2);
  for (const one of begun) one.resolve("mine");
  await clock.advance(100);
  expect(deployment.outcomeOf(lost)).toBeUndefined();
  expect(deployment.outcomeOf(kept)).toMatchObject({ result: "mine" });
  expect(kinds("leaseLost")).toMatchObject([{ id: lost, reason: "leaseLost" }]);
});

test("a handler that ignores its signal keeps its slot for five seconds, then another job gets it", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, kinds } = startLoop(handler);
  const stuck = deployment.enqueue();
  await clock.advance(100);
  deployment.held.delete(stuck);
  await clock.advance(1_000);
  const next = deployment.enqueue();
  await clock.advance(4_500);
  expect(begun).toHaveLength(1);
  await clock.advance(1_500);
  expect(begun.map(({ id }) => id)).toEqual([stuck, next]);
  expect(kinds("handlerAbandoned")).toMatchObject([{ id: stuck }]);
  begun[0]!.resolve("very late");
  begun[1]!.resolve("in time");
  await clock.advance(100);
  expect(deployment.outcomeOf(stuck)).toBeUndefined();
  expect(deployment.outcomeOf(next)).toMatchObject({ result: "in time" });
});

test("a busy worker of short jobs beats for its long one with its other calls, and sends no beat", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf, kinds } = startLoop(handler, { concurrency: 2 });
  deployment.answersHeld = true;
  deployment.enqueue();
  await clock.advance(700);
  for (let i = 1; i <= 20; i++) {
    deployment.enqueue();
    await clock.advance(500);
    begun[i]!.resolve();
    await clock.advance(100);
  }
  expect(callsOf("heartbeat")).toEqual([]);
  expect(kinds("leaseLost")).toEqual([]);
});

test("a worker that claims in vain, again and again, hears within a lease that a job in hand is lost", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf } = startLoop(handler, { leaseMs: 60_000, concurrency: 2 });
  const id = deployment.enqueue();
  await clock.advance(1_000);
  deployment.outrun = true;
  deployment.enqueue();
  await clock.advance(1_000);
  // As where the machine has slept, and its clock with it.
  deployment.held.delete(id);
  await clock.advance(60_000);
  expect(callsOf("claim").length).toBeGreaterThan(10);
  expect(callsOf("heartbeat")).toHaveLength(1);
  expect(begun[0]!.signal.reason).toMatchObject({ reason: "leaseLost" });
});

// Rules out D24.
test("a completion that hangs holds beats up for a third of a lease, and no longer", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf, kinds } = startLoop(handler, { concurrency: 2 });
  deployment.enqueue();
  deployment.enqueue();
  await clock.advance(900);
  deployment.fault = (call) => (call === "complete" ? "before" : undefined);
  begun[0]!.resolve();
  await clock.advance(10_000);
  expect(callsOf("heartbeat").length).toBeGreaterThan(4);
  expect(kinds("leaseLost")).toEqual([]);
});

test("a beat that hangs costs no lease: the next one goes in its time beside it, and a late answer counts", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf, kinds } = startLoop(handler);
  const id = deployment.enqueue();
  await clock.advance(100);
  const beat = deployment.heartbeat.bind(deployment);
  const hung: (() => void)[] = [];
  deployment.heartbeat = async (...args) => {
    if (hung.length > 0) return await beat(...args);
    await new Promise<void>((resolve) => hung.push(resolve));
    deployment.canceled.add(id);
    return await beat(...args);
  };
  await clock.advance(9_500);
  expect(callsOf("heartbeat")).toHaveLength(8);
  expect(kinds("leaseLost")).toEqual([]);
  hung[0]!();
  await clock.advance(100);
  expect(begun[0]!.signal.reason).toMatchObject({ reason: "canceled" });
});

test("other calls do not stand in for beats where only beats would tell of a cancellation", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 2 });
  deployment.enqueue();
  await clock.advance(700);
  deployment.failCancellations(new Error("not exported"));
  for (let i = 1; i <= 20; i++) {
    deployment.enqueue();
    await clock.advance(500);
    begun[i]!.resolve();
    await clock.advance(100);
  }
  expect(callsOf("heartbeat").length).toBeGreaterThan(8);
});

test("a completion that answers for the other held leases is a full beat: it reports cancellations too", async () => {
  const { begun, handler } = manual();
  const { clock, deployment, callsOf } = startLoop(handler, { concurrency: 2, leaseMs: 30_000 });
  deployment.answersHeld = true;
  const long = deployment.enqueue();
  await clock.advance(700);
  deployment.failCancellations(new Error("not exported"));
  deployment.canceled.add(long);
  deployment.enqueue();
  await clock.advance(200);
  begun[1]!.resolve();
  await clock.advance(100);
  expect(begun[0]!.signal.reason).toMatchObject({ reason: "canceled" });
  expect(callsOf("heartbeat")).toEqual([]);
});
