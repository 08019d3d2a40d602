/** Canceling and retrying a picture, step by step, on the official mock with the real component. */
/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pass, register, settle } from "../../src/test.js";
import { api } from "./_generated/api.js";
import schema from "./schema.js";

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
  width: 384,
  height: 288,
};

/** Nothing here waits for the clock: each function ends by itself, however slow the machine is. */
const time = { advance: (ms: number) => vi.advanceTimersByTime(ms), momentMs: 20_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function newPicture() {
  const t = convexTest(schema, modules);
  register(t);
  const picture = await t.mutation(api.pictures.create, { title: "It", scene });
  return {
    t,
    picture,
    change: () => t.query(api.pictures.change, { picture }),
    statuses: async () => {
      const tiles = await t.query(api.tiles.ofPicture, { picture });
      return [...new Set(tiles.map(({ status }) => status))];
    },
    /** Runs the step that is due. */
    step: () => pass(t, 0, time),
    /** Runs the steps that are due, and steps that they schedule, to the last. */
    settle: () => settle(t, time),
  };
}

test("every subscriber sees how far a cancel is, and nothing of it once it is over", async () => {
  const { t, picture, change, statuses, step, settle } = await newPicture();
  expect(await change()).toBeNull();
  await t.mutation(api.pictures.cancel, { picture });
  expect(await change()).toEqual({ kind: "cancel" });
  await step();
  expect(await change()).toEqual({ kind: "cancel", total: 12, left: 8 });
  await step();
  expect(await change()).toEqual({ kind: "cancel", total: 12, left: 4 });
  await settle();
  expect(await change()).toBeNull();
  expect(await statuses()).toEqual(["canceled"]);
});

test("the newest change wins: a retry ends a cancel that is still under way", async () => {
  const { t, picture, change, statuses, step, settle } = await newPicture();
  await t.mutation(api.pictures.cancel, { picture });
  await step();
  expect(await statuses()).toEqual(["unfinished", "canceled"]);
  await t.mutation(api.pictures.retry, { picture });
  await settle();
  expect(await change()).toBeNull();
  expect(await statuses()).toEqual(["unfinished"]);
});

test("a change that finds nothing to do is over with its first step", async () => {
  const { t, picture, change, statuses, settle } = await newPicture();
  await t.mutation(api.pictures.retry, { picture });
  await settle();
  expect(await change()).toBeNull();
  expect(await statuses()).toEqual(["unfinished"]);
});
