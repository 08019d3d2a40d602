/** The largest batches on the local backend, with the limits of a deployment: transactions', and writes per second. */
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import { createWorld, type World } from "../../local/virtual/world.js";

const APP = path.join(root, "tests/support/app");

let world: World;
beforeAll(async () => {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  world = await createWorld({ seed: 1 });
  await world.push(app);
});
afterAll(() => world?.close());

test("an action enqueues several times a deployment's writes per second", async () => {
  expect(await world.call("batches:inParts", { count: 20, bytes: 1_000_000 })).toBe(20);
});

test("a mutation enqueues as many bytes as it may: half of a transaction's limit", async () => {
  await world.advance(2_000);
  expect(await world.call("batches:atOnce", { count: 8, bytes: 1_000_000 })).toBe(8);
});

test("and as many jobs", async () => {
  await world.advance(2_000);
  expect(await world.call("batches:atOnce", { count: 8_000, bytes: 10 })).toBe(8_000);
});

test("and as many keys, with everything else that a job can have", async () => {
  await world.advance(2_000);
  expect(await world.call("batches:full", { count: 1_600 })).toBe(1_600);
});
