import { describe, expect, test } from "vitest";
import { wallEnvironment, type Environment } from "../environment.js";
import { Account } from "../functions/account.js";
import type { Completion, FunctionRunner } from "../functions/types.js";
import { FunctionLogs } from "./functionLogs.js";
import { LOG_POLL_MS } from "./limits.js";

describe("the stream of function logs", () => {
  test("begins where it ends: the first page is there at once", async () => {
    const { logs, complete } = setUp();
    complete("a:b");
    const page = await logs.read(0, never);
    expect(page.entries).toMatchObject([{ identifier: "a:b" }]);
    expect((await setUp().logs.read(0, never)).entries).toEqual([]);
  });

  test("waits for completions after the cursor, and gives none twice and leaves none out", async () => {
    const { logs, complete } = setUp();
    const { newCursor } = await logs.read(0, never);
    const waiting = logs.read(newCursor, never);
    // All within one millisecond.
    complete("first:one");
    complete("second:one");
    const page = await waiting;
    expect(page.entries).toMatchObject([{ identifier: "first:one" }, { identifier: "second:one" }]);
    const next = logs.read(page.newCursor, never);
    complete("third:one");
    expect((await next).entries).toMatchObject([{ identifier: "third:one" }]);
  });

  test("two readers do not wake each other", async () => {
    const { logs, timers } = setUp();
    const [one, two] = [await logs.read(0, never), await logs.read(0, never)];
    void logs.read(one.newCursor, never);
    void logs.read(two.newCursor, never);
    expect(timers).toHaveLength(2);
  });

  test("answers with nothing after half a minute, so that the CLI asks again", async () => {
    const { logs, timers } = setUp();
    const { newCursor } = await logs.read(0, never);
    const waiting = logs.read(newCursor, never);
    expect(timers.map(({ ms }) => ms)).toEqual([LOG_POLL_MS]);
    timers[0]!.run();
    expect((await waiting).entries).toEqual([]);
  });

  test("lets go of a reader that has gone", async () => {
    const { logs } = setUp();
    const { newCursor } = await logs.read(0, never);
    const gone = new AbortController();
    const waiting = logs.read(newCursor, gone.signal);
    gone.abort();
    expect((await waiting).entries).toEqual([]);
  });

  test("tells lines by level and without the prefix that clients get", async () => {
    const { logs, complete } = setUp();
    complete("a:b", "[WARN] 'careful' 3");
    expect((await logs.read(0, never)).entries).toMatchObject([
      { logLines: [{ level: "WARN", messages: ["'careful' 3"], isTruncated: false }] },
    ]);
  });
});

const never = new AbortController().signal;

function setUp() {
  const timers: { ms: number; run: () => void }[] = [];
  const env: Environment = {
    ...wallEnvironment,
    now: () => 1_800_000_000_000,
    timer(ms, run) {
      timers.push({ ms, run });
      return { cancel() {} };
    },
  };
  let listener: (completion: Completion) => void = () => {};
  const runner = {
    onCompletion(given: typeof listener) {
      listener = given;
      return () => {};
    },
  } as unknown as FunctionRunner;
  const complete = (path: string, text?: string): void => {
    const address = { namespace: "", path };
    const line = { level: "WARN" as const, text: text ?? "", at: 1.5, namespace: "", path };
    listener({
      address,
      udfType: "Query",
      requestId: "1",
      startedAt: 0,
      durationMs: 1,
      logs: text === undefined ? [] : [line],
      conflicts: 0,
      billed: 1,
      cached: false,
      refused: false,
      spent: new Account(),
      scheduled: false,
    });
  };
  return { logs: new FunctionLogs(env, runner), complete, timers };
}
