/** Workers that are steered while they run, on the local backend: polls, an end by itself, and an operator's word. */
import { hostname } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { convex } from "../../local/convexCli.js";
import type { WorkerStatus } from "../../src/shared/index.js";
import { root } from "../support/paths.js";
import {
  app,
  closeApp,
  endWorkers,
  enqueue,
  openApp,
  start,
  statusOf,
  until,
} from "../support/steered.js";

const APP = path.join(root, "tests/support/app");

beforeAll(openApp);
afterEach(endWorkers);
afterAll(closeApp);

/** As an operator does, with the deployment's key and nothing of the app. */
async function operate(name: string, args: object): Promise<unknown> {
  const call = ["run", "--component", "conveyor", name, JSON.stringify(args)];
  return JSON.parse(await convex(APP, call, app.backend));
}

// Shows CR-14, CR-17, C13.
test("a worker that polls does jobs over HTTP alone, and ends by itself after so many", async () => {
  const ids = await Promise.all([1, 2, 3, 4, 5].map(enqueue));
  const { worker, ended } = start("poller", { poll: { everyMs: 250 }, stopAfter: { jobs: 3 } });
  await ended;
  expect(worker.status).toMatchObject({ state: "stopped", done: 3 });
  const statuses = await Promise.all(ids.map(statusOf));
  expect(statuses.filter((status) => status === "succeeded")).toHaveLength(3);
  const { ended: rest } = start("idler", { poll: { everyMs: 250 }, stopAfter: { idleMs: 8_000 } });
  await rest;
  expect(new Set(await Promise.all(ids.map(statusOf)))).toEqual(new Set(["succeeded"]));
}, 60_000);

// Shows SG-20.
test("an operator's word stops a worker that waits, is on the list, and its end is heard over the subscription", async () => {
  const { worker, events } = start("told", { version: "2.3", concurrency: 2, presenceMs: 0 });
  await until(() => worker.state === "waiting");
  const listed = async () =>
    ((await operate("lib:workers", {})) as WorkerStatus[]).find(({ name }) => name === "told")!;
  const { id, origin, slots } = await listed();
  expect(origin).toMatchObject({ pid: process.pid, hostname: hostname(), appVersion: "2.3" });
  expect(slots).toEqual({ used: 0, had: 2 });
  await operate("operate:quietWorker", { id });
  const job = await enqueue(3);
  await until(() => worker.status.isQuiet);
  expect(await statusOf(job)).toBe("pending");
  expect(await listed()).toMatchObject({ quietBy: "operator", state: "waiting" });
  await operate("operate:resumeWorker", { id });
  await until(async () => (await statusOf(job)) === "succeeded");
  expect(events.filter(({ kind }) => kind === "quiet")).toHaveLength(2);
  await until(async () => (await listed()).done === 1);
}, 60_000);
