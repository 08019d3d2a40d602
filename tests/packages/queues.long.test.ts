/** The official work pool and batch worker work as documented, on the local backend. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../local/until.js";
import { api } from "./app/convex/_generated/api.js";
import { startPackagesApp, type PackagesApp } from "./packagesApp.js";

const PARALLELISM = 3;

let app: PackagesApp;

beforeAll(async () => {
  app = await startPackagesApp();
});
afterAll(() => app?.close());

test("a work pool runs each action once, never more than its parallelism at a time", async () => {
  const ids = await app.client.mutation(api.pool.enqueueActions, { count: 12, ms: 60 });
  expect(new Set(ids).size).toBe(12);
  const completed = await app.lines("actions", 12);
  expect(completed.map((line) => Number(line.split(" ")[1])).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 12 }, (_, n) => n),
  );
  expect(completed.every((line) => line.startsWith("success"))).toBe(true);

  let running = 0;
  let most = 0;
  for (const line of await app.lines("running", 24)) {
    running += line === "+" ? 1 : -1;
    most = Math.max(most, running);
  }
  expect(running).toBe(0);
  expect(most).toBeLessThanOrEqual(PARALLELISM);
  expect(most).toBeGreaterThan(1);
  expect(await app.client.query(api.pool.status, { id: ids[0]! })).toEqual({ state: "finished" });
});

test("a work pool runs mutations and gives their results to onComplete", async () => {
  await app.client.mutation(api.pool.enqueueMutations, { count: 8 });
  const completed = await app.lines("mutations", 8);
  expect([...completed].sort()).toEqual(
    [0, 1, 4, 9, 16, 25, 36, 49].map((square) => `success ${square}`).sort(),
  );
});

test("a work pool tries a failing action again until it succeeds", async () => {
  await app.client.mutation(api.pool.enqueueFlaky, { about: "recovers", failures: 2 });
  expect(await app.lines("recovers", 1)).toEqual(["success 3"]);
});

test("a work pool gives up after the last attempt and tells why", async () => {
  await app.client.mutation(api.pool.enqueueFlaky, { about: "gives up", failures: 9 });
  const [line] = await app.lines("gives up", 1);
  expect(line).toMatch(/^failed .*attempt 3 fails/);
  expect(await app.lines("gives up attempts", 3)).toHaveLength(3);
});

test("work that is canceled before its time does not run, and its onComplete runs", async () => {
  const id = await app.client.mutation(api.pool.enqueueLater, {});
  expect(await app.client.query(api.pool.status, { id })).toMatchObject({ state: "pending" });
  await app.client.mutation(api.pool.cancel, { id });
  expect(await app.lines("canceled", 1)).toEqual(["canceled"]);
  expect(await app.client.query(api.pool.status, { id })).toEqual({ state: "finished" });
});

test("a batch worker processes each row once, in commit order and in batches, and goes idle", async () => {
  const values = Array.from({ length: 35 }, (_, n) => n);
  await app.client.mutation(api.batches.addEvents, { values: values.slice(0, 25) });
  await app.client.mutation(api.batches.addEvents, { values: values.slice(25) });
  const processed = () =>
    app.client
      .query(api.lines.about, { about: "batches" })
      .then((batches) => batches.map((batch) => batch.split(" ").map(Number)));
  const batches = await until(processed, (all) => all.flat().length >= 35);
  expect(batches.flat()).toEqual(values);
  expect(Math.max(...batches.map((batch) => batch.length))).toBe(10);

  await until(
    () => app.client.query(api.batches.status, {}),
    (status) => (status as { kind: string }).kind === "idle",
  );
  await app.client.mutation(api.batches.addEvents, { values: [35] });
  const again = await until(processed, (all) => all.flat().length >= 36);
  expect(again.flat().at(-1)).toBe(35);
});
