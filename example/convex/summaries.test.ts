/** A picture's summary: asked for once, with its last tile, and written by Convex itself. */
/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { jobCalls } from "../../src/shared/index.js";
import { pass, register, settle } from "../../src/test.js";
import { api, internal } from "./_generated/api.js";
import schema from "./schema.js";

const time = { advance: (ms: number) => vi.advanceTimersByTime(ms), stepMs: 250 };

/** From its source: unit tests do not wait for a build. */
vi.mock("convex-conveyor", () => import("../../src/client/index.js"));
vi.hoisted(() => vi.resetModules());

const modules = import.meta.glob(["./**/*.ts", "./_generated/*.js", "!./**/*.test.ts"]);

const scene = {
  fractal: { kind: "mandelbrot" as const },
  center: { re: 0, im: 0 },
  span: 3,
  maxIterations: 100,
  palette: "ember" as const,
  samples: 1,
  width: 288,
  height: 96,
};

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterEach(() => void vi.useRealTimers());

async function newPicture({ fragile = false } = {}) {
  const t = convexTest(schema, modules);
  register(t);
  const picture = await t.mutation(api.pictures.create, { title: "It", scene, fragile });
  const { token } = await t.mutation(internal.workers.create, { name: "w" });
  const session = { token, sessionKey: "s" };
  let n = 0;
  const claim = async () =>
    (
      await t.mutation(api.workers.claim, {
        ...{ ...session, name: "anvil", queues: ["tiles"], max: 9, callSeq: ++n },
      })
    ).jobs;
  type Job = Awaited<ReturnType<typeof claim>>[number];
  const result = { rgb: new ArrayBuffer(3), preview: new ArrayBuffer(192), computeMs: 5 };
  const draw = async (
    { id, queue, attempt }: Job,
    outcome: object = { kind: "succeeded", result },
  ) =>
    await t.mutation(api.workers.complete, {
      ...{ ...session, callSeq: ++n, finished: [{ id, queue, attempt, outcome } as never] },
    });
  return {
    ...{ t, picture, claim, draw },
    summary: () => t.query(api.summaries.ofPicture, { picture }),
    /** Lets time pass, with all that falls due in it, however slow the machine is. */
    pass: async (ms: number) => {
      await pass(t, ms, time);
      await settle(t, time);
    },
  };
}

test("is asked for with the last tile, not before, and its result is the app's", async () => {
  const { claim, draw, summary, pass } = await newPicture();
  const [last, ...others] = await claim();
  for (const job of others) await draw(job);
  expect(await summary()).toBeNull();
  await draw(last!);
  expect(await summary()).toMatchObject({ status: "unfinished" });
  await pass(1_000);
  expect(await summary()).toMatchObject({
    ...{ status: "succeeded", attempt: 1 },
    summary: { workers: 1, computeMs: 15, colours: [{ colour: "#000000", share: 1 }] },
  });
});

test("waits for tiles that failed, until they are retried and drawn", async () => {
  const { t, picture, claim, draw, summary, pass } = await newPicture();
  const [broken, ...others] = await claim();
  await draw(broken!, { kind: "failed", error: "boom" });
  for (const job of others) await draw(job);
  expect(await summary()).toBeNull();
  await t.mutation(api.pictures.retry, { picture });
  await pass(1_000);
  const [again] = await claim();
  await draw(again!);
  expect(await summary()).not.toBeNull();
});

// Shows DE-03.
test("that fails is tried again by itself, and its failed attempt stays to be seen", async () => {
  const { t, claim, draw, summary, pass } = await newPicture({ fragile: true });
  for (const job of await claim()) await draw(job);
  await pass(20_000);
  const row = await summary();
  expect(row).toMatchObject({ status: "succeeded", attempt: 2 });
  const job = await t.query(...jobCalls(api.jobs).status(row!.job, { attempts: true }));
  expect(job?.attempts).toMatchObject([
    { attempt: 1, outcome: "failed", error: expect.stringContaining("asked to fail once") },
    { attempt: 2, outcome: "succeeded" },
  ]);
});

test("a tile that is drawn once more has its new pixels, and its picture the one summary", async () => {
  const { t, picture, claim, draw, summary, pass } = await newPicture();
  const [first, ...others] = await claim();
  for (const job of [first!, ...others]) await draw(job);
  await pass(1_000);
  const before = await summary();
  await t.mutation(api.dashboard.write, {
    call: { kind: "retry", queue: "tiles", id: first!.id },
  } as never);
  await pass(1_000);
  const [again] = await claim();
  const rgb = new ArrayBuffer(6);
  await draw(again!, {
    kind: "succeeded",
    result: { rgb, preview: new ArrayBuffer(192), computeMs: 5 },
  });
  const [tile] = (await t.query(api.tiles.ofPicture, { picture })).filter(
    ({ job }) => job === first!.id,
  );
  expect((await t.query(api.tiles.pixels, { tile: tile!._id }))?.byteLength).toBe(6);
  expect(await summary()).toEqual(before);
});
