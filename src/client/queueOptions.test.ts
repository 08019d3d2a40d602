import { describe, expect, test } from "vitest";
import { RETRY_DEFAULT } from "../shared/index.js";
import { Queue } from "./queue.js";
import { configOf, type QueueOptions } from "./queueOptions.js";
import { refusal } from "./setup.test.js";

describe("a definition comes to a configuration", () => {
  // Shows SG-27.
  test("without options: the old fields, and nothing that would differ from older rows", () => {
    expect(configOf("q", {})).toEqual({ leaseMs: 60_000, maxResets: 3, shards: 8 });
  });

  test("with all of them: short forms written out", () => {
    const config = configOf("q", {
      ...{ graceMs: 500, timeoutMs: 60_000, expiresAfterMs: 5_000, circular: true, restMs: 10 },
      ...{ retry: true, retention: { failedMs: 0 }, onCompleteExclude: ["canceled"] },
      logLevel: "debug",
      listBy: ["tag", "group"],
    });
    expect(config).toMatchObject({
      ...{ graceMs: 500, timeoutMs: 60_000, expiresAfterMs: 5_000, circular: true, restMs: 10 },
      ...{ retry: RETRY_DEFAULT, onCompleteExclude: ["canceled"], logLevel: "debug" },
      retention: { succeededMs: 86_400_000, failedMs: 0 },
      listBy: ["tag", "group"],
    });
  });

  test("lists that are read-only are taken, as those of a job are", () => {
    const lists = { onCompleteExclude: ["canceled"], listBy: ["tag"] } as const;
    expect(configOf("q", lists)).toMatchObject(lists);
  });

  test("a retention that is undefined is the default", () => {
    const retention = { succeededMs: undefined, failedMs: 5 } as never;
    expect(configOf("q", { retention })).toMatchObject({
      retention: { succeededMs: 86_400_000, failedMs: 5 },
    });
  });

  test("a ring has one shard unless it asks for more: least recently worked first is an order", () => {
    expect(configOf("q", { circular: true }).shards).toBe(1);
    expect(configOf("q", { circular: true, shards: 4 }).shards).toBe(4);
    expect(configOf("q", { circular: false })).toEqual({
      leaseMs: 60_000,
      maxResets: 3,
      shards: 8,
    });
  });

  test.each<[string, QueueOptions]>([
    ["retry", { retry: { maxAttempts: 1.5 } }],
    ["retention", { retention: { succeededMs: -1 } }],
    ["timeoutMs", { timeoutMs: 10 }],
    ["graceMs", { graceMs: 1e9 }],
    ["expiresAfterMs", { expiresAfterMs: 10 }],
    ["deadlineMs", { deadlineMs: 999 }],
    ["deadlineMs", { deadlineMs: 5_000, circular: true }],
    ["restMs", { restMs: 10 }],
    ["listBy", { listBy: ["tag", "tag"] }],
  ])("a wrong %s is refused when the app is loaded", async (what, options) => {
    const define = async () => configOf("q", options);
    expect((await refusal(define(), "invalidArgument")).message).toContain(what);
  });
});

test("the name of work pools' queue is refused: its jobs are told as a pool's work is", async () => {
  const define = async () => new Queue({} as never, "workpool", {});
  expect((await refusal(define(), "invalidArgument")).message).toContain('called "workpool"');
});

test("a queue with jobs that bring their handlers may have one for the others, and no second one", async () => {
  const queue = new Queue({} as never, "q", { perJob: true });
  queue.handledBy("function://;one");
  expect((await queue.declaration()).config).toMatchObject({
    ...{ push: true, handler: { kind: "action", handle: "function://;one" } },
  });
  const again = async () => queue.handledBy("function://;two");
  expect((await refusal(again(), "invalidArgument")).message).toContain("has a handler already");
});

describe("a reference that could not be looked up is looked up anew by the next call", () => {
  const HANDLE = "function://;done";

  /** Fails once, as in a module that is loaded while it imports this one. */
  function lateReference(): () => any {
    let calls = 0;
    return () => {
      calls += 1;
      if (calls === 1) throw new Error("internal is not loaded.");
      return HANDLE;
    };
  }

  test.each(["onComplete", "action"] as const)("of its %s", async (option) => {
    const queue = new Queue({} as never, "q", { [option]: lateReference() });
    await expect(queue.declaration()).rejects.toThrow("not loaded");
    const { config } = await queue.declaration();
    expect(option === "onComplete" ? config.onComplete : config.handler?.handle).toBe(HANDLE);
  });
});
