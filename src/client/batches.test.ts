/** Batches: how they are split, the refusals of one transaction, the error of an action that failed in the middle. */
import { describe, expect, test, vi } from "vitest";
import type { Enqueued, NewJob } from "../shared/index.js";
import { sendAll } from "./batches.js";
import { anything, api, mails, script, setup } from "./enqueueApp.test.js";
import { refusal } from "./setup.test.js";

const MIB = 2 ** 20;
const inMutation = { runMutation: async () => null as never };
const inAction = { ...inMutation, runAction: async () => null };

/** A component that writes down the calls it gets, and fails from the n-th on. */
function component(failFrom = Infinity) {
  const calls: NewJob[][] = [];
  const send = async (jobs: NewJob[]): Promise<Enqueued[]> => {
    if (calls.length >= failFrom) throw new Error("The network is down.");
    calls.push(jobs);
    return jobs.map(({ payload }) => ({ id: `id of ${String(payload).slice(0, 9)}`, isNew: true }));
  };
  return { calls, send };
}

function jobs(count: number, options: NewJob["options"] = {}, payload?: string): NewJob[] {
  return Array.from({ length: count }, (_, n) => ({ payload: payload ?? n, options }));
}

/** Each with a rule of its own, which is a row that is looked up. */
function ownRules(count: number): NewJob[] {
  return Array.from({ length: count }, (_, n) => ({
    payload: n,
    options: { rules: { timeoutMs: 1_000 + n } },
  }));
}

const replacing = { value: "k", onConflict: "replace" } as const;

describe("a batch is split", () => {
  test("by a thousand jobs, and the ids come in order", async () => {
    const { calls, send } = component();
    const enqueued = await sendAll(inMutation, jobs(2_500), { expire: false, send });
    expect(calls.map((call) => call.length)).toEqual([1_000, 1_000, 500]);
    expect(enqueued[2_499]).toEqual({ id: "id of 2499", isNew: true });
  });

  // Shows WP-18, A8.
  test("by four MiB, contexts counted", async () => {
    const { calls, send } = component();
    const half = "x".repeat(MIB / 2);
    const all = jobs(10, { context: half }, half);
    await sendAll(inAction, all, { expire: false, send });
    expect(calls.map((call) => call.length)).toEqual([3, 3, 3, 1]);
  });

  test("by rows, in a queue that writes one for each tag", async () => {
    const { calls, send } = component();
    const tags = Array.from({ length: 16 }, (_, n) => `t${n}`);
    await sendAll(inAction, jobs(900, { tags }), { expire: false, listBy: ["tag"], send });
    expect(calls.map((call) => call.length)).toEqual([470, 430]);
    const many = sendAll(inMutation, jobs(900, { tags }), { expire: false, listBy: ["tag"], send });
    expect((await refusal(many, "invalidArgument")).message).toContain("rows");
    await sendAll(inMutation, jobs(900, { tags }), { expire: false, listBy: ["group"], send });
  });

  test("the largest payload there is goes alone or with further ones, and none is left out", async () => {
    const { calls, send } = component();
    const largest = "x".repeat(MIB - 4_096 - 2);
    await sendAll(inAction, jobs(9, {}, largest), { expire: false, send });
    expect(calls.map((call) => call.length)).toEqual([4, 4, 1]);
  });
});

describe("a batch too large for one mutation is refused before the first call", () => {
  const key = { value: "k" };
  test.each<[string, NewJob[], boolean, string]>([
    ["bytes", jobs(9, {}, "x".repeat(1_000_000)), false, "payloadTooLarge"],
    ["rows", jobs(8_001), false, "invalidArgument"],
    ["rows", jobs(4_001), true, "invalidArgument"],
    ["rows", jobs(4_001, { expiresAfterMs: 60_000 }), false, "invalidArgument"],
    ["rows", jobs(4_001, { deadlineMs: 60_000 }), false, "invalidArgument"],
    ["rows", jobs(4_001, {}, "x".repeat(600)), false, "invalidArgument"],
    ["keys", jobs(2_049, { key }), false, "invalidArgument"],
    ["keys that replace", jobs(501, { key: replacing }), false, "invalidArgument"],
    ["keys and different rules", ownRules(2_049), false, "invalidArgument"],
    [
      "keys and different rules",
      [...ownRules(1_100), ...jobs(1_000, { key })],
      false,
      "invalidArgument",
    ],
  ])("%s", async (argument, many, expire, code) => {
    const { calls, send } = component();
    const refused = await refusal(sendAll(inMutation, many, { expire, send }), code as never);
    expect(refused).toMatchObject({ argument });
    expect(refused.message).toContain("action");
    expect(calls).toEqual([]);
    await sendAll(inAction, many, { expire, send });
    expect(calls.flat()).toHaveLength(many.length);
  });

  test("one that is just within it is sent", async () => {
    const { calls, send } = component();
    await sendAll(inMutation, jobs(8_000), { expire: false, send });
    await sendAll(inMutation, jobs(2_048, { key }), { expire: true, send });
    expect(calls.flat()).toHaveLength(10_048);
    await sendAll(inMutation, ownRules(2_048), { expire: false, send });
    await sendAll(inMutation, jobs(7_999, { rules: { timeoutMs: 1_000 } }), {
      expire: false,
      send,
    });
  });
});

describe("an action", () => {
  test("replaces so many a call that each replaced job may owe a callback", async () => {
    const { calls, send } = component();
    await sendAll(inAction, jobs(1_200, { key: replacing }), { expire: false, send });
    expect(calls.map((part) => part.length)).toEqual([500, 500, 200]);
  });

  test("that fails in the middle reports the enqueued jobs", async () => {
    const { send } = component(2);
    const call = sendAll(inAction, jobs(2_500), { expire: false, send });
    const error = await refusal(call, "batchInterrupted");
    expect(error).toMatchObject({ enqueued: 2_000, total: 2_500 });
    expect((error["ids"] as string[][]).map((ids) => ids.length)).toEqual([1_000, 1_000]);
    expect((error["ids"] as string[][])[1]![0]).toBe("id of 1000");
    expect(error.message).toContain("The network is down.");
  });

  test("waits while the deployment writes too fast, and then goes on; but not for ever", async () => {
    vi.useFakeTimers();
    try {
      let refusals = 3;
      const { calls, send } = component();
      const refusing = async (part: NewJob[]) => {
        if (refusals-- > 0) throw new Error("Too many writes per second. Your deployment …");
        return await send(part);
      };
      const sent = sendAll(inAction, jobs(2_500), { expire: false, send: refusing });
      await vi.advanceTimersByTimeAsync(3_000);
      expect(await sent).toHaveLength(2_500);
      expect(calls).toHaveLength(3);
      refusals = Infinity;
      const never = sendAll(inAction, jobs(1), { expire: false, send: refusing });
      const told = expect(never).rejects.toThrow("Too many writes");
      await vi.advanceTimersByTimeAsync(20_000);
      await told;
    } finally {
      vi.useRealTimers();
    }
  });

  test("that fails at its first call fails with that call's error", async () => {
    const { send } = component(0);
    const call = sendAll(inAction, jobs(2), { expire: false, send });
    await expect(call).rejects.toThrow("The network is down.");
  });

  test("finds a bad job before it enqueues a good one, and says which it is", async () => {
    const { calls, send } = component();
    const many = [...jobs(1_500), { payload: 1, options: { cost: 0 } }];
    const call = sendAll(inAction, many, { expire: false, send });
    expect(await refusal(call, "invalidArgument")).toMatchObject({
      argument: "cost",
      index: 1_500,
    });
    expect(calls).toEqual([]);
  });
});

describe("with the real component", () => {
  test("more than one call takes is there together, or not at all", async () => {
    const t = setup();
    // Two calls of the component.
    const payloads = Array.from({ length: 1_001 }, (_, n) => n);
    const call = t.run(async (ctx) => {
      await anything.enqueueBatch(ctx, payloads);
      throw new Error("Changed my mind.");
    });
    await expect(call).rejects.toThrow("Changed my mind");
    const counts = () => t.run((ctx) => anything.counts(ctx));
    expect((await counts()).pending).toEqual({ count: 0, more: false });
    const ids = await t.run((ctx) => anything.enqueueBatch(ctx, payloads));
    expect(new Set(ids).size).toBe(1_001);
    expect((await counts()).pending).toEqual({ count: 100, more: true });
  }, 20_000);

  test("options may be asked for each, with payload and place", async () => {
    const t = setup();
    const payloads = [{ to: "ann" }, { to: "bob" }, { to: "ann" }];
    const ids = await t.run((ctx) =>
      mails.enqueueBatch(ctx, payloads, ({ to }, index) => ({ key: to, priority: index })),
    );
    expect(ids[2]).toBe(ids[0]);
    expect(await t.run((ctx) => mails.status(ctx, ids[1]!))).toMatchObject({ priority: 1 });
  });

  test("from an action more than a transaction holds goes in", async () => {
    const t = setup();
    const megabyte = "x".repeat(1_000_000);
    script.action = async (ctx) => await anything.enqueueBatch(ctx, Array(10).fill(megabyte));
    expect(await t.action(api.act, {})).toHaveLength(10);
  });
});
