/** The official workflow, rate limiter, aggregate, crons and action retrier work as documented. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkflowId } from "@convex-dev/workflow";
import { until } from "../../local/until.js";
import { api } from "./app/convex/_generated/api.js";
import { startPackagesApp, type PackagesApp } from "./packagesApp.js";

let app: PackagesApp;

beforeAll(async () => {
  app = await startPackagesApp();
});
afterAll(() => app?.close());

test("a workflow goes through queries, parallel actions, a retry, a sleep, an inline mutation and an event", async () => {
  const id = (await app.client.mutation(api.flows.begin, { name: "Ada" })) as WorkflowId;
  await app.lines("flow", 1);
  expect(await app.client.query(api.flows.status, { id })).toBe("inProgress");
  await app.client.mutation(api.flows.approve, { id });
  expect(await app.lines("flow of Ada", 1)).toEqual([
    "noted left: Who is Ada? right: Who is Ada?, approved: true",
  ]);
  expect(await app.client.query(api.flows.status, { id })).toBe("completed");
  // Steps that succeeded are not repeated when the workflow goes on.
  expect(await app.lines("flow left attempts", 1)).toHaveLength(1);
  expect(await app.lines("flow right attempts", 2)).toHaveLength(2);
});

test("a workflow that is canceled while it waits tells its onComplete", async () => {
  const id = (await app.client.mutation(api.flows.begin, { name: "Bob" })) as WorkflowId;
  await app.client.mutation(api.flows.cancel, { id });
  expect(await app.lines("flow of Bob", 1)).toEqual(["canceled"]);
  expect(await app.client.query(api.flows.status, { id })).toBe("canceled");
});

test("a fixed window grants its rate and says when to come again", async () => {
  const limit = () => app.client.mutation(api.rates.limit, { name: "signUps" });
  // The window is the minute of the clock: near its end the four calls could fall into two of them.
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < 20_000) await sleep(leftMs + 100);
  const answers = [];
  for (let n = 0; n < 4; n++) answers.push(await limit());
  expect(answers.map(({ ok }) => ok)).toEqual([true, true, false, false]);
  const refused = answers[3]!;
  expect(refused.retryAfter).toBeGreaterThan(0);
  expect(refused.retryAfter).toBeLessThanOrEqual(60_000);
});

test("a token bucket counts each key apart, and can be reset", async () => {
  const limit = (key: string) => app.client.mutation(api.rates.limit, { name: "messages", key });
  for (let n = 0; n < 3; n++) expect((await limit("ada")).ok).toBe(true);
  const refused = await limit("ada");
  expect(refused.ok).toBe(false);
  expect(refused.retryAfter).toBeLessThanOrEqual(6_000);
  expect((await limit("bob")).ok).toBe(true);
  await app.client.mutation(api.rates.reset, { name: "messages", key: "ada" });
  expect((await limit("ada")).ok).toBe(true);
});

test("a failing mutation's use of a limit is given back with its transaction", async () => {
  for (let n = 0; n < 5; n++) {
    const failing = app.client.mutation(api.rates.limitAndFail, { key: "cara" });
    await expect(failing).rejects.toThrow("after the limit");
  }
  const check = await app.client.query(api.rates.check, { name: "messages", key: "cara" });
  expect(check.ok).toBe(true);
});

test("capacity can be reserved ahead, spread over shards, and used up in the background", async () => {
  await app.client.mutation(api.rates.limit, { name: "messages", key: "dora", count: 3 });
  const reserved = await app.client.mutation(api.rates.reserve, { key: "dora", count: 2 });
  expect(reserved.ok).toBe(true);
  expect(reserved.retryAfter).toBeGreaterThan(0);

  expect((await app.client.mutation(api.rates.limit, { name: "tokens", count: 300 })).ok).toBe(
    true,
  );
  for (let n = 0; n < 5; n++) await app.client.mutation(api.rates.limit, { name: "budget" });
  await until(
    () => app.client.query(api.rates.check, { name: "budget" }),
    ({ ok }) => !ok,
  );
});

test("aggregates follow a table through inserts, changes and deletes", async () => {
  const scores = Array.from({ length: 60 }, (_, n) => ({
    game: n % 2 === 0 ? "chess" : "go",
    player: `player ${n}`,
    points: (n * 37) % 101,
  }));
  const ids = await app.client.mutation(api.scores.add, { scores });
  await app.client.mutation(api.scores.change, { id: ids[4]!, points: 500 });
  scores[4]!.points = 500;
  await app.client.mutation(api.scores.remove, { id: ids[7]! });
  scores.splice(7, 1);

  const points = scores.map((score) => score.points).sort((a, b) => a - b);
  const chess = scores.filter((score) => score.game === "chess");
  const summary = await app.client.query(api.scores.summary, { atLeast: 50, game: "chess" });
  expect(summary).toEqual({
    count: 59,
    sum: points.reduce((sum, p) => sum + p, 0),
    high: points.filter((p) => p >= 50).length,
    third: points[2],
    best: 500,
    inGame: chess.length,
  });
});

test("a cron registered at run time runs repeatedly until it is deleted", async () => {
  await app.client.mutation(api.timetable.register, {
    name: "every second",
    schedule: { kind: "interval", ms: 1_000 },
  });
  await app.client.mutation(api.timetable.register, {
    name: "new year",
    schedule: { kind: "cron", cronspec: "0 0 1 1 *" },
  });
  expect(await app.client.query(api.timetable.names, {})).toEqual(["every second", "new year"]);
  await app.lines("every second", 2);
  await app.client.mutation(api.timetable.remove, { name: "every second" });
  await app.client.mutation(api.timetable.remove, { name: "new year" });
  expect(await app.client.query(api.timetable.names, {})).toEqual([]);
  expect(await app.client.query(api.lines.about, { about: "new year" })).toEqual([]);
});

test("a cron with a schedule that cannot be is refused, and leaves nothing behind", async () => {
  const register = app.client.mutation(api.timetable.register, {
    name: "never",
    schedule: { kind: "cron", cronspec: "61 25 * * *" },
  });
  await expect(register).rejects.toThrow("Invalid");
  expect(await app.client.query(api.timetable.names, {})).toEqual([]);
});

test("the action retrier tries again until an action succeeds", async () => {
  const id = await app.client.mutation(api.retries.run, { about: "retried", failures: 2 });
  expect(await app.lines(`retrier ${id}`, 1)).toEqual(["success 3"]);
  expect(await app.client.query(api.retries.status, { id })).toBe("completed");
});

test("the action retrier gives up after so many failures and tells the last", async () => {
  const id = await app.client.mutation(api.retries.run, { about: "hopeless", failures: 9 });
  const [line] = await app.lines(`retrier ${id}`, 1);
  expect(line).toMatch(/^failed .*attempt 3 fails/);
  expect(await app.lines("hopeless attempts", 3)).toHaveLength(3);
});

test("a run of the action retrier that is canceled tells its callback once", async () => {
  const id = await app.client.mutation(api.retries.runForever, {});
  expect(await app.client.query(api.retries.status, { id })).toBe("inProgress");
  await app.client.mutation(api.retries.cancel, { id });
  expect(await app.lines(`retrier ${id}`, 1)).toEqual(["canceled"]);
  expect(await app.client.query(api.retries.status, { id })).toBe("completed");
});
