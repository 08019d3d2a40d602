/**
 * Node processes, Python processes and tabs of Chromium serve one queue together, on the wall clock, while processes are
 * killed and tabs are closed at random: each of up to 2,000 jobs has one effect.
 *
 * `ANYWHERE_SEED=random` draws the deaths anew.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { until } from "../../local/until.js";
import { randomStream } from "../../local/virtual/random.js";
import { jobCalls } from "../../src/shared/index.js";
import { api } from "../support/app/convex/_generated/api.js";
import { hasChromium } from "../support/chromium.js";
import { withoutPython } from "../support/python.js";
import { seedFrom } from "../support/seeds.js";
import { Tabs } from "../support/tabs.js";
import { startApp, type TestApp } from "../support/testApp.js";
import { killAll, startWorker, type WorkerProcess } from "../support/workers.js";

const sums = jobCalls(api.sums);

const JOBS = counts(400, 2_000);
const BATCH = 100;
const WORK_MS = 60;
const CONCURRENCY = 8;
const DEATHS = counts(4, 8);
/** With machines that do something else besides. */
const LIMIT_MS = 240_000;

type Kind = "node" | "python" | "tab";
const KINDS: readonly Kind[] = ["node", "node", "python", "python", "tab", "tab"];

interface Member {
  kind: Kind;
  name: string;
  die: () => Promise<unknown>;
}

const isSkipped = withoutPython() || !hasChromium();

describe.skipIf(isSkipped)("one queue, served from everywhere", () => {
  let app: TestApp;
  let token: string;
  let tabs: Tabs;
  let processes: WorkerProcess[] = [];

  beforeAll(async () => {
    app = await startApp();
    token = await app.token();
    tabs = await Tabs.start();
  }, 120_000);
  afterAll(async () => {
    await killAll(processes);
    await tabs?.close();
    await app?.close();
  }, 60_000);

  async function hire(kind: Kind, name: string): Promise<Member> {
    const options = { url: app.url, token, name, concurrency: CONCURRENCY };
    if (kind === "tab") return { kind, name, die: (await tabs.open(options)).crash };
    const worker = startWorker({ ...options, isPython: kind === "python" });
    processes = [...processes, worker];
    await worker.line(({ event }) => event?.kind === "started", 60_000);
    const die = () => {
      worker.process.kill("SIGKILL");
      return worker.exited;
    };
    return { kind, name, die };
  }

  // Shows LF-01, LF-37, CR-18, C4.
  test(
    "jobs by two Node processes, two Python processes and two tabs have one effect each, while workers die",
    async () => {
      const random = randomStream(seedFrom("ANYWHERE_SEED", 1), "deaths");
      const crew = await Promise.all(KINDS.map((kind, at) => hire(kind, `${kind}-${at}`)));
      const hired = new Map(crew.map(({ name, kind }) => [name, kind]));
      const payloads = Array.from({ length: JOBS }, (_, n) => ({ n, workMs: WORK_MS }));
      const ids: string[] = [];
      const startedAt = performance.now();
      for (let at = 0; at < JOBS; at += BATCH) {
        const batch = payloads.slice(at, at + BATCH);
        ids.push(...(await app.client.mutation(...sums.enqueueMany("sums", batch))));
      }

      const done = () => app.client.query(api.done.count, {});
      const died: string[] = [];
      for (let death = 1; death <= DEATHS; death++) {
        const share = (death / (DEATHS + 2)) * JOBS;
        await until(done, (count) => count >= share, LIMIT_MS);
        const at = random.below(crew.length);
        const { kind, name, die } = crew[at]!;
        await die();
        died.push(name);
        crew[at] = await hire(kind, `${kind}-${KINDS.length + death}`);
        hired.set(crew[at].name, kind);
      }
      await until(done, (count) => count >= JOBS, LIMIT_MS);
      const tookMs = performance.now() - startedAt;

      const rows = await app.client.query(api.done.list, {});
      expect(rows.map(({ n }) => n)).toEqual(payloads.map(({ n }) => n));
      expect(new Set(rows.map(({ job }) => job))).toEqual(new Set(ids));
      expect(rows.filter(({ status }) => status !== "succeeded")).toEqual([]);
      const by: Record<Kind, number> = { node: 0, python: 0, tab: 0 };
      for (const { worker } of rows) by[hired.get(worker!)!]++;
      for (const kind of KINDS) expect(by[kind], `jobs by ${kind}`).toBeGreaterThan(JOBS / 50);

      // No process began an attempt that another began; a job that a dead worker held was begun again.
      const begun = processes.flatMap(({ lines }) => lines.filter(({ started }) => started));
      const attempts = begun.map(({ started, attempt }) => `${started} ${attempt}`);
      expect(new Set(attempts).size).toBe(attempts.length);
      const again = rows.filter(({ attempt }) => attempt > 1).length;
      expect(again).toBeGreaterThan(0);
      const counts = await app.client.query(api.sums.counts, {});
      expect(counts).toMatchObject({ pending: { count: 0 }, running: { count: 0 } });
      console.log(
        `anywhere: ${JOBS} jobs in ${Math.round(tookMs / 1_000)} s; by ${JSON.stringify(by)}; ` +
          `died ${died.join(", ")}; ${again} jobs begun again`,
      );
    },
    3 * LIMIT_MS,
  );
});
