/** Hooks around handlers, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";
import type { Outcome } from "../shared/index.js";
import type { JobEnd } from "./hookTypes.js";
import type { Handler, Job } from "./types.js";

/** A handler that ends when its signal says so, as `fetch` with it does. */
const untilAborted = ({ signal }: Job) =>
  new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error)),
  );

describe("hooks around a handler", () => {
  test("run in their order, each with the job, and the result is that of the outermost", async () => {
    const seen: string[] = [];
    const { clock, deployment } = startLoop(
      async ({ payload }) => (seen.push("handler"), payload),
      {
        hooks: {
          beforeJob: ({ id }) => void seen.push(`before ${id}`),
          around: async ({ id }, next) => {
            seen.push(`around ${id}`);
            return [await next()];
          },
          afterJob: ({ id }, { outcome }) => void seen.push(`after ${id}: ${outcome}`),
        },
      },
    );
    const id = deployment.enqueue(5);
    await clock.advance(100);
    expect(seen).toEqual([`before ${id}`, `around ${id}`, "handler", `after ${id}: succeeded`]);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: [5] });
  });

  test("beforeJob that throws fails the attempt, and its handler does not run", async () => {
    const { begun, handler } = manual();
    const ends: JobEnd[] = [];
    const { clock, deployment } = startLoop(handler, {
      hooks: {
        beforeJob: () => Promise.reject(new Error("no model")),
        afterJob: (_, end) => void ends.push(end),
      },
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(begun).toEqual([]);
    expect(deployment.outcomeOf(id)).toMatchObject({ kind: "failed", error: "no model" });
    expect(ends).toMatchObject([
      { outcome: "failed", error: "no model", thrown: expect.any(Error) },
    ]);
  });

  test("afterJob that throws changes no outcome: there is an event", async () => {
    const { clock, deployment, kinds } = startLoop(async () => "done", {
      hooks: { afterJob: () => Promise.reject(new Error("disk full")) },
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "done" });
    expect(kinds("hookFailed")).toMatchObject([
      { hook: "afterJob", error: "disk full", id, queue: "tiles", attempt: 1 },
    ]);
  });

  test("around cannot run a handler twice at once, and may run it again after its end", async () => {
    const { begun, handler } = manual();
    const { clock, deployment } = startLoop(handler, {
      hooks: {
        around: async (_, next) => {
          const first = next();
          const refused = await next().catch(({ message }: Error) => message);
          await first.catch(() => {});
          return [refused, await next()];
        },
      },
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(begun).toHaveLength(1);
    begun[0]!.reject(new Error("once more"));
    await clock.advance(100);
    begun[1]!.resolve("done");
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({
      result: [expect.stringContaining("while the handler runs"), "done"],
    });
  });

  test.each([
    ["fails", () => Promise.reject(new Error("slow")), { kind: "failed", error: "slow" }],
    ["returns", () => 1, { kind: "succeeded", result: 1 }],
  ])(
    "around that %s before its handler ends ends no attempt: the handler is in hand until its own end",
    async (_, answer, outcome) => {
      const { begun, handler } = manual();
      const late: (() => Promise<unknown>)[] = [];
      const { clock, deployment, loop, end } = startLoop(handler, {
        hooks: {
          around: (_job, next) => {
            late.push(next);
            void next();
            return answer();
          },
        },
      });
      const id = deployment.enqueue();
      await clock.advance(1_000);
      expect(begun).toHaveLength(1);
      expect(deployment.outcomeOf(id)).toBeUndefined();
      loop.stop(20_000);
      await clock.advance(10_000);
      expect(end.value).toBeUndefined();
      begun[0]!.reject(new Error("too late"));
      await clock.advance(100);
      expect(deployment.outcomeOf(id)).toMatchObject(outcome);
      expect(end.value).toEqual({});
      await expect(late[0]!()).rejects.toThrow("after the end of `around`");
      expect(begun).toHaveLength(1);
    },
  );

  test("a further `next` takes back the jobs that the one before has continued with", async () => {
    let tries = 0;
    const { clock, deployment } = startLoop(
      async ({ continueWith }) => {
        tries += 1;
        continueWith("walls", tries);
        if (tries < 3) throw new Error("once more");
      },
      {
        hooks: {
          beforeJob: ({ continueWith }) => continueWith("walls", "before"),
          around: (_, next) => next().catch(next).catch(next),
        },
      },
    );
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.continued.get(id)!.map(({ payload }) => payload)).toEqual(["before", 3]);
  });

  test.each([
    ["canceled", { kind: "canceled" }, { outcome: "canceled" }],
    [
      "too long",
      { kind: "failed", timedOut: true },
      { outcome: "failed", error: expect.stringContaining("2000 ms") },
    ],
  ])(
    "afterJob of a job that was %s gets the outcome that is recorded",
    async (why, outcome, told) => {
      const { begun, handler } = manual();
      const ends: JobEnd[] = [];
      const { clock, deployment } = startLoop(handler, {
        leaseMs: 60_000,
        hooks: { afterJob: (_, end) => void ends.push(end) },
      });
      const id = deployment.enqueue(null, "tiles", why === "canceled" ? {} : { timeoutMs: 2_000 });
      await clock.advance(1_000);
      if (why === "canceled") deployment.cancel(id);
      await clock.advance(1_500);
      begun[0]!.reject(begun[0]!.signal.reason);
      await clock.advance(100);
      expect(deployment.outcomeOf(id)).toMatchObject(outcome);
      expect(ends).toMatchObject([{ ...told, thrown: expect.any(Error) }]);
    },
  );

  // Shows SG-08.
  test.each<[string, JobEnd["outcome"], (job: Job) => unknown, Outcome["kind"] | undefined]>([
    ["throws", "failed", () => Promise.reject(new Error("no disk")), "failed"],
    ["snoozes", "snoozed", ({ snooze }) => snooze(60_000), "snoozed"],
    ["is given back at a stop", "released", untilAborted, "released"],
    ["has lost its lease", "released", untilAborted, undefined],
  ])(
    "afterJob runs once after a job that %s, as one that has %s",
    async (how, told, handler, recorded) => {
      const ends: JobEnd[] = [];
      const { clock, deployment, loop } = startLoop(handler as Handler, {
        hooks: { afterJob: (_, end) => void ends.push(end) },
      });
      const id = deployment.enqueue();
      await clock.advance(100);
      if (how === "is given back at a stop") loop.stop(0);
      if (how === "has lost its lease") deployment.held.delete(id);
      await clock.advance(5_000);
      expect(ends).toMatchObject([{ outcome: told, thrown: expect.any(Error) }]);
      expect(deployment.outcomeOf(id)?.kind).toBe(recorded);
    },
  );

  test("a job's lease is kept while its hooks run, and no second handler of it begins", async () => {
    let end = () => {};
    const { clock, deployment, callsOf } = startLoop(async () => "done", {
      leaseMs: 3_000,
      hooks: { afterJob: () => new Promise<void>((resolve) => (end = resolve)) },
    });
    const id = deployment.enqueue();
    await clock.advance(10_000);
    expect(deployment.held.has(id)).toBe(true);
    expect(callsOf("heartbeat").length).toBeGreaterThan(3);
    end();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "done" });
  });
});
