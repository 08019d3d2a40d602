import { anyApi } from "convex/server";
import { describe, expect, test, vi } from "vitest";
import type { WorkerFacts } from "../shared/index.js";
import { Description } from "./description.js";
import { startLoop, manual } from "./fakes.test.js";
import { OperatorQuiet } from "./operatorQuiet.js";
import type { WorkerApi } from "./types.js";
import { transportOver } from "./wire.js";

describe("what a worker says of itself", () => {
  let facts: WorkerFacts = { startedAt: 1, version: "1.0.0", slots: 1 };

  test("goes with the first call that is answered, and with the next one after a change", async () => {
    const description = new Description(() => facts);
    const said: unknown[] = [];
    const call = (fails = false) =>
      description.with(async ({ about }) => {
        said.push(about?.slots);
        if (fails) throw new Error("not answered");
      });
    await expect(call(true)).rejects.toThrow();
    await call();
    await call();
    facts = { ...facts, slots: 2 };
    await call();
    await call();
    expect(said).toEqual([1, 1, undefined, 2, undefined]);
  });

  test("is nothing where there is none", async () => {
    const call = vi.fn(async (about: object) => about);
    expect(await new Description(undefined).with(call)).toEqual({});
  });
});

test("a session that the deployment has forgotten says all of itself again, with the call after the answer that shows it", async () => {
  const rows = ["row1", "row1", "row2", "row2"];
  const said: unknown[] = [];
  const transport = transportOver(
    {
      ...{ token: "t", sessionKey: "s", name: "w", queues: ["tiles"] },
      api: anyApi["worker"] as unknown as WorkerApi,
      facts: () => ({ startedAt: 1, version: "1.0.0", slots: 1 }),
    },
    {
      query: async () => null,
      mutation: async (_, { about }: { about?: WorkerFacts }) => {
        said.push(about?.slots);
        return { jobs: [], session: rows.shift() };
      },
      beat: async (_, { about }: { about?: WorkerFacts }) => {
        said.push(about?.slots);
        return { answers: [] };
      },
      follow: () => () => {},
      close: async () => {},
    },
  );
  await transport.claim(1, { max: 1 });
  await transport.complete(2, []);
  await transport.claim(3, { max: 1 });
  await transport.heartbeat([]);
  await transport.claim(4, { max: 1 });
  expect(said).toEqual([1, undefined, undefined, 1, undefined]);
});

describe("an operator's word", () => {
  test("is followed from the answer that has it to its end, and each change of it is told once", () => {
    const told: boolean[] = [];
    const unfollow = vi.fn();
    let say = (_isQuiet: boolean) => {};
    const follow = vi.fn((onValue: (isQuiet: boolean) => void) => ((say = onValue), unfollow));
    const quiet = new OperatorQuiet(follow, (isQuiet) => void told.push(isQuiet));
    quiet.learns(false);
    expect(follow).not.toHaveBeenCalled();
    quiet.learns(true);
    quiet.learns(true);
    say(true);
    expect(told).toEqual([true]);
    say(false);
    expect(told).toEqual([true, false]);
    expect(follow).toHaveBeenCalledTimes(1);
    expect(unfollow).toHaveBeenCalledTimes(1);
  });

  test("keeps the worker from claiming, beside its own program's: each ends by itself alone", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, loop, kinds, callsOf } = startLoop(handler);
    await clock.advance(100);
    loop.setQuiet(true, "operator");
    loop.setQuiet(true);
    deployment.enqueue();
    loop.setQuiet(false);
    await clock.advance(130_000);
    expect(begun).toHaveLength(0);
    expect(loop.statusNow()).toMatchObject({ state: "waiting", isQuiet: true });
    expect(callsOf("heartbeat"), "though it has no presence beats otherwise").toHaveLength(2);
    loop.setQuiet(false, "operator");
    await clock.advance(100);
    expect(begun).toHaveLength(1);
    expect(kinds("quiet")).toMatchObject([
      { isQuiet: true, by: "operator" },
      { isQuiet: true, by: "worker" },
      { isQuiet: false, by: "worker" },
      { isQuiet: false, by: "operator" },
    ]);
  });
});
