/** When and how outcomes are sent after the deployment has refused one. */
import { expect, test } from "vitest";
import { CONTINUED_MAX, ENQUEUE_MAX_JOBS } from "../shared/index.js";
import { FakeClock } from "./fakes.test.js";
import { Outbox } from "./outbox.js";

function outboxWith(...ids: string[]) {
  const clock = new FakeClock();
  const outbox = new Outbox(clock);
  for (const id of ids) {
    outbox.put({ id, attempt: 1, queue: "tiles", outcome: { kind: "failed", error: "boom" } });
  }
  /** The contents of the next call. */
  const next = () => {
    const sending = outbox.next();
    const ids = sending.reports.map((report) => report.id);
    return { ids, alone: sending.alone, deferCallbacks: sending.deferCallbacks };
  };
  const reject = () => outbox.reject(outbox.next());
  return { clock, outbox, next, reject };
}

test("outcomes go together, with their callbacks, until a batch is refused; then each goes alone", () => {
  const { outbox, next, reject } = outboxWith("a", "b");
  expect(next()).toEqual({ ids: ["a", "b"], alone: false, deferCallbacks: false });
  reject();
  expect(next()).toEqual({ ids: ["a"], alone: true, deferCallbacks: false });
  outbox.settle("a", 1);
  expect(next()).toEqual({ ids: ["b"], alone: true, deferCallbacks: false });
});

test("no more jobs follow the outcomes of one call than one call enqueues", () => {
  const { outbox, next } = outboxWith();
  const continued = Array.from({ length: CONTINUED_MAX }, () => ({ queue: "next", payload: 1 }));
  const outcome = { kind: "succeeded", result: null } as const;
  for (let n = 0; n < 20; n += 1)
    outbox.put({ id: `job${n}`, attempt: 1, queue: "tiles", outcome, continued });
  expect(next().ids).toHaveLength(Math.floor(ENQUEUE_MAX_JOBS / CONTINUED_MAX));
});

test("one that was refused twice alone goes without its callback from then on, and no other does", async () => {
  const { clock, outbox, next, reject } = outboxWith("bad", "good");
  reject();
  reject();
  outbox.settle("good", 1);
  await clock.advance(2_000);
  expect(next()).toEqual({ ids: ["bad"], alone: true, deferCallbacks: false });
  reject();
  for (let tries = 0; tries < 3; tries += 1) {
    await clock.advance(60_000);
    expect(next()).toEqual({ ids: ["bad"], alone: true, deferCallbacks: true });
    reject();
  }
  outbox.put({ id: "new", attempt: 1, queue: "tiles", outcome: { kind: "released" } });
  expect(next()).toEqual({ ids: ["new"], alone: false, deferCallbacks: false });
});

test("it is kept through every refusal, until the deployment has answered for it", async () => {
  const { clock, outbox, reject } = outboxWith("bad");
  for (let tries = 0; tries < 10; tries += 1) {
    reject();
    await clock.advance(60_000);
  }
  expect(outbox.size).toBe(1);
  expect(outbox.settle("bad", 2), "of another attempt it says nothing").toBeUndefined();
  expect(outbox.settle("bad", 1)).toMatchObject({ id: "bad" });
  expect(outbox.size).toBe(0);
});

test("one that is refused even without its callback is handed over once, and asked after until it is answered for", async () => {
  const { clock, outbox, reject } = outboxWith("bad");
  const handOver: boolean[] = [];
  for (let tries = 0; tries < 9; tries += 1) {
    await clock.advance(60_000);
    const sending = outbox.next();
    handOver.push(sending.handOver);
    // The first time, the deployment does not take it.
    if (sending.handOver && tries > 5) outbox.handedOver(sending);
    reject();
  }
  expect(handOver).toEqual([false, false, false, false, false, true, true, false, false]);
});

test("a call carries as many outcomes as fit, with the jobs that follow them, made into jobs already or not", () => {
  for (const made of [true, false]) {
    const outbox = new Outbox(new FakeClock());
    const payload = "x".repeat(1_500_000);
    const following = made
      ? { follows: [{ queue: { name: "next" } as never, jobs: [{ payload }] }] }
      : { continued: [{ queue: "next", payload }] };
    for (const id of ["a", "b", "c", "d"]) {
      const outcome = { kind: "succeeded" as const, result: null };
      outbox.put({ id, attempt: 1, queue: "tiles", outcome, ...following });
    }
    expect(outbox.next().reports.map(({ id }) => id)).toEqual(["a", "b"]);
  }
});
