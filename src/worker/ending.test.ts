/** How a worker ends: when it is asked to, and when it must. */
import { describe, expect, test } from "vitest";
import { COMPONENT_VERSION, conveyorError, WORKER_PROTOCOL } from "../shared/index.js";
import { manual, startLoop } from "./fakes.test.js";

describe("stopping", () => {
  // Shows LF-39, SG-44.
  test("running jobs are finished, nothing is claimed any more, and the run ends", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, callsOf, loop, end } = startLoop(handler);
    const id = deployment.enqueue();
    deployment.enqueue();
    await clock.advance(100);
    loop.stop(25_000);
    await clock.advance(1_000);
    expect(end.value).toBeUndefined();
    begun[0]!.resolve("done");
    await clock.advance(100);
    expect(end.value).toEqual({});
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
    expect(callsOf("complete").every(({ max }) => max === undefined)).toBe(true);
    expect(begun).toHaveLength(1);
  });

  // Shows LF-39, F19.
  test("when the grace is over, handlers are aborted and their jobs given back", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, end } = startLoop(handler, { concurrency: 2 });
    const ids = [deployment.enqueue(), deployment.enqueue()];
    await clock.advance(100);
    loop.stop(1_000);
    await clock.advance(1_100);
    expect(begun.every(({ signal }) => signal.aborted)).toBe(true);
    expect(ids.map((id) => deployment.outcomeOf(id))).toEqual([
      { kind: "released" },
      { kind: "released" },
    ]);
    expect(end.value).toEqual({});
  });

  test("it ends even when the deployment is gone, three seconds after the grace, and reports the outcomes that it could not record", async () => {
    const { handler } = manual();
    const { clock, deployment, loop, end, kinds } = startLoop(handler);
    deployment.enqueue();
    await clock.advance(100);
    deployment.fault = () => "before";
    loop.stop(1_000);
    await clock.advance(3_900);
    expect(end.value).toBeUndefined();
    await clock.advance(200);
    expect(end.value).toEqual({});
    expect(kinds("stopped")).toEqual([{ kind: "stopped", unrecorded: 1 }]);
  });

  test("with nothing in hand the grace is not waited for: a claim without an answer keeps it only a moment", async () => {
    const { handler } = manual();
    const { clock, deployment, loop, end } = startLoop(handler);
    deployment.fault = () => "before";
    deployment.enqueue();
    await clock.advance(100);
    loop.stop(25_000);
    await clock.advance(6_100);
    expect(end.value).toEqual({});
  });

  test("a second stop with less grace hurries the first", async () => {
    const { handler } = manual();
    const { clock, deployment, loop, end } = startLoop(handler);
    deployment.enqueue();
    await clock.advance(100);
    loop.stop(25_000);
    await clock.advance(500);
    loop.stop(0);
    await clock.advance(10);
    expect(end.value).toEqual({});
  });

  test("a second stop with more grace does not prolong the first, which is as short as it was", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, kinds } = startLoop(handler, { leaseMs: 60_000 });
    deployment.enqueue();
    await clock.advance(100);
    loop.stop(1_000);
    loop.stop(8_000);
    await clock.advance(1_100);
    expect(begun[0]!.signal.aborted).toBe(true);
    expect(kinds("stopping")).toEqual([{ kind: "stopping", graceMs: 1_000 }]);
  });

  test("a stop after the grace begins no other grace: jobs have gone back, and last calls have their time", async () => {
    const { handler } = manual();
    const { clock, deployment, loop, end } = startLoop(handler, { leaseMs: 60_000 });
    deployment.enqueue();
    await clock.advance(100);
    deployment.fault = () => "before";
    loop.stop(1_000);
    await clock.advance(1_500);
    loop.stop(8_000);
    await clock.advance(2_600);
    expect(end.value).toEqual({});
  });

  test("a question about the leases of a claim, to which no answer comes, is not waited for longer than other calls", async () => {
    const { clock, deployment, loop, end } = startLoop(async () => null, { leaseMs: 60_000 });
    let claims = 0;
    deployment.fault = (call) => (call === "claim" && (claims += 1) === 1 ? "after" : undefined);
    deployment.heartbeat = () => new Promise(() => {});
    deployment.enqueue();
    await clock.advance(1_000);
    loop.stop(0);
    await clock.advance(4_100);
    expect(end.value).toEqual({});
  });

  test("nor is an outcome that is handed over", async () => {
    const { clock, deployment, loop, end } = startLoop(async () => null, { leaseMs: 60_000 });
    let handedOver = 0;
    deployment.refuses = () => true;
    deployment.completeLater = () => {
      handedOver += 1;
      return new Promise(() => {});
    };
    deployment.enqueue();
    await clock.advance(60_000);
    expect(handedOver).toBe(1);
    loop.stop(0);
    await clock.advance(4_100);
    expect(end.value).toEqual({});
  });

  test("a job that arrives by a claim which was on its way is given back unbegun", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop } = startLoop(handler);
    deployment.fault = (call) => (call === "claim" && clock.now() < 300 ? "after" : undefined);
    const id = deployment.enqueue();
    await clock.advance(100);
    loop.stop(10_000);
    await clock.advance(2_000);
    expect(begun).toHaveLength(0);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "released" });
  });
});

describe("errors that end a worker", () => {
  test.each(["tokenUnknown", "tokenRevoked", "tokenForeign", "sessionForbidden"] as const)(
    "%s stops it at once, with that error and its sentence",
    async (code) => {
      const { clock, deployment, end } = startLoop(async () => null);
      deployment.fault = () => conveyorError(code, "what to do");
      await clock.advance(100);
      expect(end.value?.error).toMatchObject({ data: { code }, message: "what to do" });
    },
  );

  test("a token revoked in the middle aborts running handlers: their results would be refused", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, end } = startLoop(handler);
    deployment.enqueue();
    await clock.advance(100);
    deployment.fault = () => conveyorError("tokenRevoked", "revoked");
    await clock.advance(2_000);
    expect(end.value?.error).toMatchObject({ data: { code: "tokenRevoked" } });
    expect(begun[0]!.signal.aborted).toBe(true);
  });

  test("functions that were never there: workerApiMissing names the export that is missing", async () => {
    const { clock, deployment, end } = startLoop(async () => null);
    deployment.fault = () => new Error("Could not find public function for 'worker:claim'.");
    await clock.advance(100);
    expect(end.value?.error).toMatchObject({ data: { code: "workerApiMissing" } });
    expect((end.value?.error as Error).message).toMatch(
      /no public function worker:claim\. .*conveyor\.workerApi/,
    );
  });

  test("functions of an older release: it reports both versions and the way out, before it claims anything", async () => {
    const { clock, deployment, end, callsOf } = startLoop(async () => null);
    deployment.enqueue();
    deployment.hi = { protocol: 0, version: "0.0.9" };
    await clock.advance(1_000);
    expect(end.value?.error).toMatchObject({ data: { code: "workerApiMissing" } });
    const { message } = end.value?.error as Error;
    expect(message).toContain("0.0.9");
    expect(message).toContain(COMPONENT_VERSION);
    expect(message).toContain("Deploy the app's functions");
    expect(callsOf("claim")).toEqual([]);
  });

  test("functions of a later release serve it", async () => {
    const { clock, deployment } = startLoop(async () => "done");
    deployment.hi = { protocol: WORKER_PROTOCOL + 1, version: "9.0.0" };
    const id = deployment.enqueue();
    await clock.advance(1_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  test("a deployment out of reach at the start is asked until it answers, once", async () => {
    const { clock, deployment, kinds } = startLoop(async () => "done");
    let hellos = 0;
    deployment.fault = (call) => (call === "hello" && (hellos += 1) < 3 ? "before" : undefined);
    const id = deployment.enqueue();
    await clock.advance(10_000);
    expect(hellos).toBe(3);
    expect(kinds("callRepeated")).toMatchObject([{ call: "hello" }, { call: "hello" }]);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  test("one that is stopped while its deployment is out of reach ends all the same", async () => {
    const { clock, deployment, end, loop } = startLoop(async () => null);
    deployment.fault = () => "before";
    await clock.advance(1_000);
    loop.stop(0);
    await clock.advance(10_000);
    expect(end.value).toEqual({});
  });

  test("queues of its token that are not served are reported at its start, and it works on", async () => {
    const { clock, deployment, kinds } = startLoop(async () => "done");
    deployment.hi = { notServed: ["tyles"] };
    const id = deployment.enqueue();
    await clock.advance(1_000);
    expect(kinds("queuesNotServed")).toEqual([{ kind: "queuesNotServed", queues: ["tyles"] }]);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  test("a result of a queue that is served no longer is dropped, and its slot is free", async () => {
    const { clock, deployment, kinds } = startLoop(async () => "done");
    deployment.unserved = true;
    const id = deployment.enqueue();
    await clock.advance(1_000);
    expect(kinds("leaseLost")).toMatchObject([{ id, reason: "queueNotServed" }]);
    expect(kinds("resultDropped")).toMatchObject([{ id, outcome: "succeeded" }]);
    expect(kinds("recorded")).toEqual([]);
    deployment.unserved = false;
    const next = deployment.enqueue();
    await clock.advance(1_000);
    expect(deployment.outcomeOf(next)).toMatchObject({ result: "done" });
  });

  // Shows LF-11, L7.
  test("functions that are gone for a while, as in a deploy, do not end a worker that has worked", async () => {
    const { clock, deployment, end } = startLoop(async () => "done");
    await clock.advance(100);
    deployment.fault = () => new Error("Could not find public function for 'worker:claim'.");
    const id = deployment.enqueue();
    await clock.advance(10_000);
    expect(end.value).toBeUndefined();
    deployment.fault = () => undefined;
    await clock.advance(10_000);
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  test("a queue that is not served: running jobs are finished before it ends with the error", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, end } = startLoop(handler, { concurrency: 2 });
    const id = deployment.enqueue();
    await clock.advance(100);
    deployment.fault = (call) =>
      call === "claim" ? conveyorError("unknownQueue", "not served") : undefined;
    deployment.enqueue();
    await clock.advance(1_000);
    expect(end.value).toBeUndefined();
    begun[0]!.resolve("done");
    await clock.advance(100);
    expect(end.value?.error).toMatchObject({ data: { code: "unknownQueue" } });
    expect(deployment.outcomeOf(id)).toMatchObject({ result: "done" });
  });

  // Shows K21.
  test("a job of a queue without a handler is given back, and the worker ends with handlerMissing", async () => {
    const { clock, deployment, end } = startLoop(async () => null);
    const id = deployment.enqueue(null, "strange");
    await clock.advance(1_000);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "released" });
    expect(end.value?.error).toMatchObject({ data: { code: "handlerMissing" } });
  });
});
