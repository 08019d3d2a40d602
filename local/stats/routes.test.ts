import { afterAll, beforeAll, expect, test } from "vitest";
import { createCore, type Core } from "../backend.js";
import { noCost } from "../functions/account.js";
import { printedStats } from "./print.js";
import type { FunctionStats, StatsSnapshot } from "./types.js";

let core: Core;
beforeAll(async () => {
  core = await createCore(
    { cloud: "http://backend.test", site: "http://site.test" },
    { quiet: true, limits: { documentsRead: 3 } },
  );
});
afterAll(() => core.close());

const ask = (method: string, path: string, key?: string) =>
  core.fetch(
    new Request(`http://backend.test${path}`, {
      method,
      headers: key === undefined ? {} : { authorization: `Convex ${key}` },
    }),
  );

test("the counters are for the admin, over HTTP as in process", async () => {
  expect((await ask("GET", "/api/local/stats")).ok).toBe(false);
  const { until: _asked, ...told } = (await (
    await ask("GET", "/api/local/stats", core.adminKey)
  ).json()) as StatsSnapshot;
  const { until: _now, ...counted } = core.stats.snapshot();
  expect(told).toEqual(counted);
  const reset = await ask("POST", "/api/local/stats/reset", core.adminKey);
  expect(((await reset.json()) as StatsSnapshot).since).toBe(told.since);
  expect(core.stats.snapshot().since).toBeGreaterThanOrEqual(told.since);
});

test("a backend's limits are the ones that it was given, and otherwise the platform's", () => {
  expect(core.database.limits).toMatchObject({ documentsRead: 3, documentsWritten: 16_000 });
});

test("printed, numbers stand below one another and zero counts are left out", () => {
  const io = { documentsRead: 5, bytesRead: 2048, documentsWritten: 1, bytesWritten: 90 };
  const calls: FunctionStats = {
    ...{ calls: 4, billed: 6, cached: 1, refused: 0, errors: 0, retries: 2, conflicts: 2 },
    ...{ durationMs: 10, io, systemIo: io, lostIo: noCost().user, tombstones: 7 },
  };
  const none = { count: 0, totalMs: 0, maxMs: 0 };
  const printed = printedStats({
    since: 0,
    until: 1500,
    total: calls,
    functions: { "jobs:claim": calls },
    conflicts: [
      { loser: "jobs:claim", winner: "jobs:add", table: "jobs", count: 2, lastId: "j57" },
    ],
    waits: { executor: none, queryPermit: none, mutationPermit: none, actionPermit: none },
    housekeeping: {},
  });
  expect(printed.split("\n")).toEqual([
    "In 1.5 s, 6 function calls that the platform would bill:",
    "",
    "function    billed  cached  errors  retries  conflicts  docs read     read  docs written  written  tombstones  mean ms",
    "jobs:claim       6       1       0        2          2          5  2.0 KiB             1     90 B           7      2.5",
    "total            6       1       0        2          2          5  2.0 KiB             1     90 B           7      2.5",
    "",
    "lost        to        in table  times  last document",
    "jobs:claim  jobs:add  jobs          2  j57",
  ]);
});
