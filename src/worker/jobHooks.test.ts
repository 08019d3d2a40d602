/** Hooks around handlers, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";
import type { JobEnd } from "./hookTypes.js";

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
    expect(kinds("hookFailed")).toMatchObject([{ hook: "afterJob", error: "disk full" }]);
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
