/**
 * How often, and after which errors, a mutation that loses is retried: on virtual time, with a writer that is always
 * first.
 */
import { afterEach, expect, test } from "vitest";
import type { VirtualClock } from "../virtual/clock.js";
import { PRELUDE, startVirtualBackend, type TestBackend, type TestOptions } from "./testing.js";
import type { Completion } from "./types.js";

let backend: TestBackend;
let clock: VirtualClock;
let completions: Completion[];
afterEach(() => clock.run(() => backend.stop()));

const LIB = `${PRELUDE}
  export const create = mutation((ctx) => ctx.db.insert("counters", { n: 0 }));
  export const increment = mutation(async (ctx, { id }) => {
    const { n } = await ctx.db.get(id);
    await ctx.db.patch(id, { n: n + 1 });
  });
  export const later = mutation((ctx, { id }) => ctx.scheduler.runAfter(0, api.lib.increment, { id }));
  export const read = query(async (ctx, { id }) => (await ctx.db.get(id)).n);
  export const states = query(async (ctx) =>
    (await ctx.db.system.query("_scheduled_functions").collect()).map(({ state }) => state.kind));
`;
/** A write of a function's takes so long. */
const WRITE_MS = 50;

async function start(options: Pick<TestOptions, "database"> = {}): Promise<string> {
  const costs = ({ kind }: { kind: string }) => (kind === "write" ? WRITE_MS : 0);
  ({ backend, clock } = await startVirtualBackend(
    { "": { "lib.ts": LIB } },
    { ...options, costs },
  ));
  completions = [];
  const id = (await clock.run(() => backend.mutation("lib:create"))) as string;
  backend.runner.onCompletion((completion) => completions.push(completion));
  return id;
}

test("a scheduled mutation is not given up, however often it loses, and counts once in the end", async () => {
  const id = await start();
  let disturbing = true;
  // Twice in each attempt. Neither waits for the other: the write is made when it is called, and costs time only then.
  const disturb = async () => {
    for (let n = 100; disturbing; n++) {
      const tx = backend.database.begin();
      void tx.patch("", id, { n });
      void backend.database.commit(tx, "other:write").catch(() => {});
      await clock.sleep(WRITE_MS / 2);
    }
  };
  const disturbed = disturb();
  await clock.run(() => backend.mutation("lib:later", { id }));
  await clock.advance(60_000);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["pending"]);
  disturbing = false;
  await clock.run(disturbed);
  const before = await clock.run(() => backend.query("lib:read", { id }));
  await clock.advance(120_000);
  expect(await clock.run(() => backend.query("lib:states"))).toEqual(["success"]);
  expect(await clock.run(() => backend.query("lib:read", { id }))).toBe((before as number) + 1);
  const [run, ...others] = completions.filter(({ scheduled }) => scheduled);
  expect(others).toEqual([]);
  // A client's mutation would have ended after five.
  expect(run!.conflicts).toBeGreaterThan(5);
});

test("a mutation that lost to a commit on its way is retried once that one is visible", async () => {
  const id = await start({ database: { publishLatencyMs: 20_000 } });
  const first = backend.mutation("lib:increment", { id });
  const second = backend.mutation("lib:increment", { id });
  await clock.run(() => Promise.all([first, second]));
  // Five attempts, with all their pauses, would have been over long before.
  expect(completions.map(({ conflicts }) => conflicts)).toEqual([0, 1]);
  expect(await clock.run(() => backend.query("lib:read", { id }))).toBe(2);
});
