/** Waiting for a job's result: with an action's context, and with each kind of client. Clocks are faked. */
import { makeFunctionReference } from "convex/server";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { JobStatus } from "./index.js";
import { JobFailedError, waitForResult } from "./index.js";
import { tiles } from "./setup.test.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Tile = JobStatus<{ pixels: number }, "tiles">;
const status = makeFunctionReference<"query", { id: string }, Tile | null>("tiles:status");

const running = { id: "j1", status: "running" };
const done = { id: "j1", status: "succeeded", result: { pixels: 4 } };
const failed = { id: "j1", status: "failed", error: "no such scene" };

/** Answers with these one after another, and then with the last again. */
function asked(...answers: unknown[]) {
  const times: number[] = [];
  const from = Date.now();
  const query = async () => {
    times.push(Date.now() - from);
    return answers.length > 1 ? answers.shift() : answers[0];
  };
  return { times, query };
}

async function settled<T>(wait: Promise<T>): Promise<T> {
  wait.catch(() => undefined);
  await vi.runAllTimersAsync();
  return await wait;
}

const thrown = async (wait: Promise<unknown>): Promise<any> =>
  await settled(
    wait.then(
      () => expect.fail("it has a result"),
      (error: unknown) => error,
    ),
  );

describe("a client that cannot subscribe", () => {
  test("asks again, ever later, until the job has ended, and has its result with its type", async () => {
    const { query, times } = asked(running, running, running, running, done);
    const result = await settled(waitForResult({ query }, status, "j1"));
    expect(result.pixels).toBe(4);
    expect(times).toEqual([0, 100, 250, 475, 812]);
    // @ts-expect-error the result is typed
    expect(result.frames).toBeUndefined();
  });

  test("gives up after timeoutMs, having read its end once more, and returns how the job stands", async () => {
    const { query, times } = asked(running);
    const error = await thrown(waitForResult({ query }, status, "j1", { timeoutMs: 300 }));
    expect(error.data).toMatchObject({ code: "resultTimedOut", id: "j1", status: "running" });
    expect(error.data.message).toBe(
      "The job has not ended within 300 ms (timeoutMs); it is running, and goes on. Wait longer, or read its status later.",
    );
    expect(times).toEqual([0, 100, 250, 300]);
  });
});

describe("a job that has no result is an error that keeps its text", () => {
  test.each([
    [failed, { status: "failed", error: "no such scene" }],
    [
      { ...failed, status: "timedOut" },
      { status: "timedOut", error: "no such scene" },
    ],
    [
      { ...failed, status: "timedOut", code: "deadlineExceeded" },
      { status: "timedOut", error: "no such scene", code: "deadlineExceeded" },
    ],
    [
      { id: "j1", status: "canceled", reason: "not wanted" },
      { status: "canceled", error: "not wanted" },
    ],
    [
      { id: "j1", status: "canceled" },
      { status: "canceled", error: "The job was canceled." },
    ],
  ])("%o", async (job, outcome) => {
    const error = await thrown(waitForResult(asked(job), status, "j1"));
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error).toMatchObject({ jobId: "j1", outcome, message: outcome.error });
  });

  test("one that is not there is unknown", async () => {
    const error = await thrown(waitForResult(asked(null), status, "j1"));
    expect(error.data.code).toBe("unknownJob");
  });
});

describe("a client that subscribes", () => {
  function watched() {
    const client = {
      asks: 0,
      stops: 0,
      said: (_job: unknown) => undefined as unknown,
      failed: (_error: Error) => undefined as unknown,
      query: () => expect.fail("it was asked"),
      onUpdate: (
        _query: unknown,
        _args: unknown,
        onResult: (job: unknown) => unknown,
        onError?: (error: Error) => unknown,
      ) => {
        client.asks += 1;
        client.said = onResult;
        client.failed = onError!;
        return () => void (client.stops += 1);
      },
    };
    return client;
  }

  test("is notified, asks once, and unsubscribes at the end", async () => {
    const client = watched();
    const wait = waitForResult(client, status, "j1");
    client.said(running);
    client.said(done);
    expect(await wait).toEqual({ pixels: 4 });
    expect(client).toMatchObject({ asks: 1, stops: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("unsubscribes as well when it gives up, or the query throws", async () => {
    const late = watched();
    const error = await thrown(waitForResult(late, status, "j1", { timeoutMs: 50 }));
    expect(error.data).toMatchObject({ code: "resultTimedOut" });
    const refused = watched();
    const wait = waitForResult(refused, status, "j1");
    refused.failed(new Error("Not you."));
    await expect(wait).rejects.toThrow("Not you.");
    expect([late.stops, refused.stops]).toEqual([1, 1]);
  });
});

describe("a queue", () => {
  test("waits in an action for a job of its own", async () => {
    const { query } = asked(running, done);
    const ctx = { runAction: () => null, runMutation: () => null, runQuery: query } as any;
    expect(await settled(tiles.waitForResult(ctx, "j1"))).toEqual({ pixels: 4 });
  });

  test("refuses to wait where nothing could change meanwhile, and a time out of bounds", async () => {
    const mutation = await thrown(tiles.waitForResult({ runQuery: () => null } as any, "j1"));
    expect(mutation.data.message).toMatch(/^Only an action can wait for a result/);
    const wrong = await thrown(waitForResult(asked(done), status, "j1", { timeoutMs: 0 }));
    expect(wrong.data.message).toBe("timeoutMs must be a whole number from 1 to 604800000; got 0.");
  });
});
