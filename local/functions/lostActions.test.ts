/** Actions that lose their machine: their earlier requests take effect, and nothing else does. On virtual time. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { VirtualClock } from "../virtual/clock.js";
import { ACTION_LOST } from "./scheduledRuns.js";
import { PRELUDE, startVirtualBackend, type TestBackend } from "./testing.js";

const LIB = `${PRELUDE}
  export const slow = action(async (ctx, { text }) => {
    await ctx.runMutation(api.lib.note, { text: text + " began" });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await ctx.runMutation(api.lib.note, { text: text + " ended" });
    await ctx.runMutation(api.lib.note, { text: text + " went on" });
  });
  export const calls = action(async (ctx) => {
    try {
      await ctx.runAction(api.lib.slow, { text: "callee" });
    } catch (error) {
      await ctx.runMutation(api.lib.note, { text: "the caller heard" });
    }
  });
  // A listener's error has no caller: it would end the process that the code runs in.
  const left = () => {
    const controller = new AbortController();
    controller.signal.addEventListener("abort", () => clearTimeout(1));
    return () => controller.abort();
  };
  export const listens = action(async (ctx) => {
    const abort = left();
    await ctx.runMutation(api.lib.note, { text: "listened" });
    abort();
  });
  export const returns = action((ctx) => {
    const abort = left();
    void ctx.runMutation(api.lib.note, { text: "returned" }).then(abort);
    return null;
  });
  export const note = mutation((ctx, { text }) => ctx.db.insert("notes", { text }));
  export const notes = query(async (ctx) => (await ctx.db.query("notes").collect()).map(({ text }) => text));
  export const later = mutation((ctx, { path }) => ctx.scheduler.runAfter(0, api.lib[path], { text: "it" }));
  export const scheduled = query((ctx) => ctx.db.system.query("_scheduled_functions").collect());
`;

let backend: TestBackend;
let clock: VirtualClock;
beforeEach(async () => {
  const costs = ({ kind }: { kind: string }) => (kind === "persist" ? 10 : 1);
  ({ backend, clock } = await startVirtualBackend({ "": { "lib.ts": LIB } }, { costs }));
});
afterEach(() => clock.run(() => backend.stop()));

const schedule = (path: string) => clock.run(() => backend.mutation("lib:later", { path }));
const notes = (): Promise<string[]> => clock.run(() => backend.query("lib:notes"));
const lose = (path: string) =>
  backend.runner.loseActions(({ address }) => address.path === `lib:${path}`);
const LOST = [{ state: { kind: "failed", error: ACTION_LOST } }];

test("one that runs does nothing more, and its scheduled function has failed for good", async () => {
  await schedule("slow");
  await clock.advance(500);
  expect(lose("slow")).toBe(1);
  await clock.advance(60_000);
  expect(await notes()).toEqual(["it began"]);
  expect(await clock.run(() => backend.query("lib:scheduled"))).toMatchObject(LOST);
  expect(lose("slow")).toBe(0);
});

test("one that has begun, but for its first line, does nothing at all", async () => {
  await schedule("slow");
  await clock.until(() => lose("slow") === 1);
  await clock.advance(60_000);
  expect(await notes()).toEqual([]);
  expect(await clock.run(() => backend.query("lib:scheduled"))).toMatchObject(LOST);
});

test("its requests take effect, and it receives no answer", async () => {
  let made = 0;
  // Its second note is written, and the answer is on its way.
  backend.runner.onCompletion(({ address: { path } }) => {
    if (path === "lib:note" && ++made === 2) lose("slow");
  });
  await schedule("slow");
  await clock.advance(60_000);
  expect(await notes()).toEqual(["it began", "it ended"]);
  expect(await clock.run(() => backend.query("lib:scheduled"))).toMatchObject(LOST);
});

test("one that was called by another goes on when its caller is lost, and is an error to its caller when it is lost itself", async () => {
  await schedule("calls");
  await clock.advance(500);
  lose("calls");
  await clock.advance(60_000);
  expect(await notes()).toEqual(["callee began", "callee ended", "callee went on"]);
  await schedule("calls");
  await clock.advance(500);
  lose("slow");
  await clock.advance(60_000);
  expect(await notes()).toEqual([
    "callee began",
    "callee ended",
    "callee went on",
    "callee began",
    "the caller heard",
  ]);
});

test("code that is left of one gets no answer, so that its listeners end nothing", async () => {
  const errors: unknown[] = [];
  const keep = (error: unknown) => errors.push(error);
  process.on("uncaughtException", keep);
  try {
    backend.runner.onCompletion(({ address: { path } }) => {
      if (path === "lib:note") lose("listens");
    });
    await schedule("listens");
    await schedule("returns");
    await clock.advance(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("uncaughtException", keep);
  }
  expect((await notes()).toSorted()).toEqual(["listened", "returned"]);
  expect(errors).toEqual([]);
});

test("the number that run at this moment is counted by kind, and is zero when they have ended", async () => {
  const none = { queries: 0, mutations: 0, actions: 0, scheduled: 0 };
  expect(backend.runner.occupancy()).toEqual(none);
  await schedule("slow");
  await schedule("slow");
  await clock.advance(500);
  expect(backend.runner.occupancy()).toEqual({ ...none, actions: 2, scheduled: 2 });
  await clock.advance(60_000);
  expect(backend.runner.occupancy()).toEqual(none);
});
