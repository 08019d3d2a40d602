/** How long an action may take, and how much it may have in flight, on virtual time. */
import { afterEach, expect, test } from "vitest";
import type { VirtualClock } from "../virtual/clock.js";
import { PRELUDE, startVirtualBackend, type TestBackend } from "./testing.js";
import type { RunnerOptions } from "./types.js";

const MINUTE_MS = 60_000;

let backend: TestBackend;
let clock: VirtualClock;
afterEach(() => clock.run(() => backend.stop()));

const ACTIONS = `
  export const sleep = action(async (ctx, { ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await ctx.runMutation(api.lib.note, { text: "slept" });
    return "awake";
  });
`;
const LIB = `${PRELUDE}
  ${ACTIONS}
  export const note = mutation((ctx, { text }) => ctx.db.insert("notes", { text }));
  export const notes = query(async (ctx) => (await ctx.db.query("notes").collect()).map(({ text }) => text));
  export const sleepLater = mutation((ctx, { ms }) => ctx.scheduler.runAfter(0, api.lib.sleep, { ms }));
  export const scheduled = query((ctx) => ctx.db.system.query("_scheduled_functions").collect());
  export const callSleep = action(async (ctx, { ms }) => {
    try {
      return await ctx.runAction(api.lib.sleep, { ms });
    } catch (error) {
      return "caught: " + error.message;
    }
  });
  export const read = query(async (ctx, { i }) => (await ctx.db.query("notes").collect()).length + i);
  export const readMany = action((ctx, { calls }) =>
    Promise.all(Array.from({ length: calls }, (_, i) => ctx.runQuery(api.lib.read, { i }))));
`;
const NODE = `"use node";
  ${PRELUDE}
  ${ACTIONS}
`;

async function start(runner: RunnerOptions = {}): Promise<void> {
  const sources = { "": { "lib.ts": LIB, "node.ts": NODE } };
  const costs = ({ kind }: { kind: string }) => (kind === "read" ? 10 : 0);
  ({ backend, clock } = await startVirtualBackend(sources, { runner, costs }));
}

const act = (path: string, args: object): Promise<any> =>
  clock.run(() => backend.action(path, args));

test.each([
  ["lib:sleep", 30, "Function execution timed out (maximum duration: 1800s)"],
  ["node:sleep", 10, "Action `node:sleep` execution timed out (maximum duration 600s)"],
])("%s may take %i minutes", async (path, minutes, message) => {
  await start();
  expect(await act(path, { ms: minutes * MINUTE_MS - 1000 })).toBe("awake");
  const begun = clock.now();
  await expect(act(path, { ms: minutes * MINUTE_MS + 1000 })).rejects.toThrow(message);
  expect(clock.now() - begun).toBeCloseTo(minutes * MINUTE_MS, -2);
  await clock.advance(10 * MINUTE_MS);
  // The calls after its wait do not happen any more.
  expect(await clock.run(() => backend.query("lib:notes"))).toEqual(["slept"]);
});

test("a scheduled action that takes too long has failed with that", async () => {
  await start({ actionTimeoutMs: { v8: 5000 } });
  await clock.run(() => backend.mutation("lib:sleepLater", { ms: 6000 }));
  await clock.advance(10_000);
  expect(await clock.run(() => backend.query("lib:scheduled"))).toMatchObject([
    { state: { kind: "failed", error: "Function execution timed out (maximum duration: 5s)" } },
  ]);
});

test("an action that calls another can catch that it took too long, and has its own time", async () => {
  await start({ actionTimeoutMs: { v8: 5000, node: 1000 } });
  const long = clock.run(() => backend.action("lib:callSleep", { ms: 4000 }));
  expect(await long).toBe("awake");
  await expect(act("node:sleep", { ms: 2000 })).rejects.toThrow("maximum duration 1s");
});

test("time spent waiting for a permit does not count", async () => {
  await start({ actionTimeoutMs: { v8: 5000 }, classLimits: { v8Actions: 1 } });
  const both = clock.run(() =>
    Promise.all([4000, 4000].map((ms) => backend.action("lib:sleep", { ms }))),
  );
  expect(await both).toEqual(["awake", "awake"]);
});

test.each([
  [undefined, 10],
  [1000, 10],
  [8, 50],
])(
  "with actionOperations %s, 40 reads of 10 ms that are started together take %i ms",
  async (actionOperations, expected) => {
    await start({
      classLimits: { queries: 100 },
      ...(actionOperations === undefined ? {} : { actionOperations }),
    });
    const begun = clock.now();
    const values = await act("lib:readMany", { calls: 40 });
    expect(values).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(clock.now() - begun).toBe(expected);
  },
);
