import { expect, test } from "vitest";
import { factsOf, type Answer, type LaneJob } from "../shared/index.js";
import type { Job } from "../worker/types.js";
import { FakeClock } from "../worker/fakes.test.js";
import { claimedOf, Handling, type Ended } from "./index.js";

const job = (id: string, timeoutMs = 60_000): LaneJob => ({
  job: {
    ...{ id, queue: "emails", payload: {}, attempt: 1, failures: 0, resets: 0 },
    ...{ leaseMs: 20_000, enqueuedAt: 0, timeoutMs },
  },
});

const untimed = (id: string) => claimedOf(factsOf(job(id).job));

/** Inline handlers in a process on a manual clock. `stands` has the answer for each attempt. */
function stage() {
  const clock = new FakeClock();
  const stands = new Map<string, Answer["answer"]>();
  const asked: string[][] = [];
  const said: { log: string[]; fails: boolean } = { log: [], fails: false };
  const handling = new Handling(
    {
      report: ({ updates, logs, output }) => {
        if (said.fails) return Promise.reject(new Error("No."));
        said.log.push(...logs.map(({ message }) => message));
        const leases = new Set([...updates, ...logs, ...output].map(({ id }) => id));
        return Promise.resolve(
          [...leases].map((id) => ({ id, attempt: 1, answer: stands.get(id) ?? "ok" })),
        );
      },
      standing: (leases) => {
        asked.push(leases.map(({ id }) => id));
        if (leases.some(({ id }) => stands.get(id) === ("fails" as never)))
          return Promise.reject(new Error("The function has returned."));
        return Promise.resolve(
          leases.map(({ id, attempt }) => ({ id, attempt, answer: stands.get(id) ?? "ok" })),
        );
      },
    },
    clock,
  );
  const ended = new Map<string, Ended>();
  const run = (id: string, work: (job: Job) => unknown, timeoutMs?: number): void => {
    void handling.run(work, job(id, timeoutMs)).then((one) => {
      ended.set(id, one);
    });
  };
  const timers = () => (clock as unknown as { timers: unknown[] }).timers.length;
  return { clock, stands, asked, said, ended, handling, run, timers };
}

const never = () => new Promise(() => {});
const untilAborted = ({ signal }: Job) =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

test("a handler that throws costs its own attempt: the other attempts end as they would", async () => {
  const { clock, ended, run, timers } = stage();
  run("a", () => {
    throw new Error("It was to fail.");
  });
  run("b", () => "fine");
  await clock.advance(0);
  expect(ended.get("a")).toMatchObject({ outcome: { kind: "failed", error: "It was to fail." } });
  expect(ended.get("b")).toEqual({ outcome: { kind: "succeeded", result: "fine" } });
  expect(timers()).toBe(0);
});

test("short jobs ask nothing; one that runs for long is asked after now and then, and is done with when it is another's", async () => {
  const { clock, asked, stands, ended, run, timers } = stage();
  run("short", () => new Promise((resolve) => clock.after(4_000, () => resolve(null))));
  run("long", never);
  await clock.advance(5_000);
  expect(asked).toEqual([["long"]]);
  stands.set("long", "leaseLost");
  await clock.advance(5_000);
  expect(asked).toHaveLength(2);
  expect(ended.get("long")).toEqual({ outcome: { kind: "released" } });
  expect(timers()).toBe(0);
});

// Shows D20.
test("a signal that was taken aborts within a second of a cancel, and only its job is asked after so often", async () => {
  const { clock, asked, stands, ended, run, timers } = stage();
  run("deaf", never);
  run("heeds", untilAborted);
  await clock.advance(3_000);
  expect(asked).toEqual(Array(4).fill(["heeds"]));
  stands.set("heeds", "canceled");
  await clock.advance(999);
  expect(ended.get("heeds")).toEqual({ outcome: { kind: "canceled" } });
  asked.length = 0;
  await clock.advance(4_900);
  expect(asked.flat()).toEqual(["deaf"]);
  stands.set("deaf", "leaseLost");
  await clock.advance(10_000);
  expect(timers()).toBe(0);
});

test("a handler with a function of its own that takes its signal is asked after, until its job is over or its calls fail", async () => {
  const { clock, asked, stands, handling, timers } = stage();
  const taken = (id: string) => handling.actionsOf(handling.begin(untimed(id))!).signal;
  const signal = taken("a");
  await clock.advance(1_000);
  expect(signal.aborted).toBe(false);
  stands.set("a", "canceled");
  await clock.advance(1_000);
  expect(signal.aborted).toBe(true);
  stands.set("a", "leaseLost");
  await clock.advance(10_000);
  expect(timers()).toBe(0);
  asked.length = 0;
  taken("b");
  stands.set("b", "fails" as never);
  await clock.advance(60_000);
  expect(asked).toHaveLength(3);
  expect(timers()).toBe(0);
});

test("a handler with a function of its own that never takes its signal is never asked after", async () => {
  const { clock, asked, handling, timers } = stage();
  handling.actionsOf(handling.begin(untimed("a"))!).progress(1);
  await clock.advance(60_000);
  expect(asked).toEqual([]);
  expect(timers()).toBe(0);
});

test("a handler that goes on after its signal is waited for no longer than 5 s", async () => {
  const { clock, ended, run } = stage();
  run("deaf", never, 10_000);
  await clock.advance(14_999);
  expect(ended.size).toBe(0);
  await clock.advance(1);
  expect(ended.get("deaf")).toMatchObject({
    outcome: {
      ...{ kind: "failed", timedOut: true },
      error: expect.stringMatching(/longer than its timeoutMs/),
    },
  });
});

test("an attempt that is no longer this lane's gives its place back at once", async () => {
  const { clock, stands, ended, run, timers } = stage();
  stands.set("a", "leaseLost");
  run("a", never);
  await clock.advance(5_000);
  expect(ended.get("a")).toEqual({ outcome: { kind: "released" } });
  await clock.advance(60_000);
  expect(timers()).toBe(0);
});

test("a handler's reports are recorded before its outcome; a report that is not accepted holds it up for seconds only", async () => {
  const { clock, ended, run, said } = stage();
  run("a", ({ log }) => void log("last words"));
  await clock.advance(0);
  expect(said.log).toEqual(["last words"]);
  expect(ended.has("a")).toBe(true);
  said.fails = true;
  run("b", ({ log }) => void log("unheard"));
  await clock.advance(10_000);
  expect(ended.get("b")).toEqual({ outcome: { kind: "succeeded", result: null } });
});

test("isCanceled asks, and aborts the signal", async () => {
  const { clock, stands, ended, run } = stage();
  const heard: boolean[] = [];
  run("a", async ({ isCanceled, signal }) => {
    heard.push(await isCanceled(), signal.aborted);
    stands.set("a", "canceled");
    heard.push(await isCanceled(), signal.aborted);
    return "done";
  });
  await clock.advance(0);
  expect(heard).toEqual([false, false, true, true]);
  // It returned a value all the same: its work is done.
  expect(ended.get("a")).toMatchObject({ outcome: { kind: "succeeded", result: "done" } });
});

test("a handler that got its signal to stop and returns nothing has not succeeded", async () => {
  const { clock, stands, ended, run } = stage();
  run("a", async ({ isCanceled }) => {
    stands.set("a", "canceled");
    await isCanceled();
  });
  await clock.advance(0);
  expect(ended.get("a")).toMatchObject({ outcome: { kind: "canceled" } });
});
