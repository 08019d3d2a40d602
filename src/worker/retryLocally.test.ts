/** Parts of a handler that are tried again, on a manual clock. */
import { describe, expect, test } from "vitest";
import { NonRetryableError, RetryAfterError } from "../shared/index.js";
import { FakeClock, startLoop } from "./fakes.test.js";
import { retryLocally } from "./retryLocally.js";
import type { Handler, RetryLocallyOptions } from "./types.js";

/** Throws these one after the other, and returns then; the times of the tries. */
function failing(errors: unknown[], options: RetryLocallyOptions = {}) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const times: number[] = [];
  const run = (attempt: number) => {
    times.push(clock.now());
    if (attempt <= errors.length) throw errors[attempt - 1];
    return `try ${attempt}`;
  };
  const ending = retryLocally(run, options, { clock, signal: abort.signal });
  const end = ending.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  return { clock, abort, times, end };
}

describe("a part of a handler that throws", () => {
  // Shows LF-29, D23.
  test("is tried again after waits that double, and returns its result", async () => {
    const errors = [1, 2, 3].map((n) => new Error(`failure ${n}`));
    const { clock, times, end } = failing(errors, { attempts: 5, minMs: 100, maxMs: 300 });
    await clock.advance(10_000);
    expect(await end).toEqual({ result: "try 4" });
    // Three quarters of 100, 200 and 300.
    expect(times).toEqual([0, 75, 225, 450]);
  });

  // Shows LF-29, D23.
  test("throws its last error when all tries have failed", async () => {
    const errors = [1, 2, 3].map((n) => new Error(`failure ${n}`));
    const { clock, times, end } = failing(errors);
    await clock.advance(60_000);
    expect(await end).toEqual({ error: errors[2] });
    expect(times).toHaveLength(3);
  });

  test.each([
    ["asks for no retry", new NonRetryableError("gone")],
    ["asks for a later attempt", new RetryAfterError(5_000)],
  ])("is not tried again where its error %s", async (_, error) => {
    const { clock, times, end } = failing([error]);
    await clock.advance(60_000);
    expect(await end).toEqual({ error });
    expect(times).toHaveLength(1);
  });

  test("is not tried again where the app says so", async () => {
    const error = new Error("404");
    const { clock, times, end } = failing([error], {
      shouldRetry: (one) => !(one instanceof Error && one.message === "404"),
    });
    await clock.advance(60_000);
    expect(await end).toEqual({ error });
    expect(times).toHaveLength(1);
  });

  test("waits no longer when the job's signal aborts, and throws its reason", async () => {
    const { clock, abort, times, end } = failing([new Error("down")], {
      minMs: 60_000,
      maxMs: 60_000,
    });
    await clock.advance(1_000);
    abort.abort(new Error("canceled"));
    expect(await end).toEqual({ error: new Error("canceled") });
    await clock.advance(60_000);
    expect(times).toHaveLength(1);
  });

  test("is refused with bounds that contradict each other", async () => {
    const { end } = failing([], { minMs: 200, maxMs: 100 });
    expect(await end).toMatchObject({ error: { data: { code: "invalidArgument" } } });
  });
});

test("a job with a handler that tries again by itself has one attempt, and nothing is reported before its end", async () => {
  const handler: Handler = ({ retryLocally }) =>
    retryLocally((attempt) => (attempt < 3 ? Promise.reject(new Error("busy")) : attempt));
  const { clock, deployment, kinds, callsOf } = startLoop(handler);
  const id = deployment.enqueue();
  await clock.advance(10_000);
  expect(deployment.recorded.get(id)).toMatchObject({
    attempt: 1,
    outcome: { kind: "succeeded", result: 3 },
  });
  expect(kinds("finished")).toHaveLength(1);
  expect(callsOf("complete")).toHaveLength(1);
});
