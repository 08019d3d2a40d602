/** Metrics by HTTP: their authorization, and their contents. */
import { httpRouter } from "convex/server";
import parse from "parse-prometheus-text-format";
import { afterEach, describe, expect, test, vi } from "vitest";
import { bearerToken } from "./bearerToken.js";
import { asApp, fill, secret } from "./dashboardSetup.test.js";
import { familiesOf } from "./metricFamilies.js";
import type { MetricsOptions } from "./metrics.js";
import type { MainLoop, WorkerStatus } from "../shared/index.js";
import { pass } from "../test.js";
import { api, conveyor, internal, setup, tiles, type App } from "./setup.test.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

/** An app with metrics under `/metrics`, and jobs. */
async function newApp(options: unknown): Promise<App> {
  const http = httpRouter();
  const handler = conveyor.metrics(options as MetricsOptions);
  http.route({ path: "/metrics", method: "GET", handler });
  const t = setup({ modules: { http: { default: http } } });
  await fill(t);
  return t;
}

const get = async (t: App, authorization?: string) =>
  await t.fetch("/metrics", authorization === undefined ? {} : { headers: { authorization } });

/** One family's samples, by their labels. */
async function read(t: App, family: string): Promise<Record<string, string | undefined>> {
  const found = parse(await (await get(t)).text()).find(({ name }) => name === family)!;
  return Object.fromEntries(
    found.metrics.map(({ labels, value }) => [Object.values(labels ?? {}).join(" "), value]),
  );
}

describe("an unauthorized reader of metrics", () => {
  test.each([
    ["receives no", { authorize: () => false }],
    ["receives no later", { authorize: async () => await Promise.resolve(false) }],
    ["receives an answer that is not yes", { authorize: () => "yes" }],
    ["receives nothing", { authorize: () => undefined }],
    ["finds no authorize", {}],
    ["finds another word for public", { authorize: "Public" }],
    ["finds no options", undefined],
  ])("one that %s gets a 401, and no metrics", async (_how, options) => {
    const t = await newApp(options);
    const response = await get(t, "Bearer x");
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await response.text()).toBe(
      "forbidden: `authorize` of the metrics did not answer true.\n",
    );
  });

  test("an error that authorize throws is passed on, for the log", async () => {
    const throws = () => {
      throw new Error("The app's authorize is broken.");
    };
    const t = await newApp({ authorize: throws });
    await expect(get(t, "Bearer x")).rejects.toThrow("The app's authorize is broken.");
  });

  test("the word public opens them to every request", async () => {
    expect((await get(await newApp({ authorize: "public" }))).status).toBe(200);
  });

  test("nothing is read before authorize has said yes", async () => {
    const http = httpRouter();
    const authorize = vi.fn((_ctx: unknown, _request: Request) => false);
    const handler = conveyor.metrics({ authorize });
    http.route({ path: "/metrics", method: "GET", handler });
    // Any read of a component that is not there is an error.
    const t = setup({ mounted: false, modules: { http: { default: http } } });
    expect((await get(t, "Bearer x")).status).toBe(401);
    expect(authorize.mock.lastCall![1].headers.get("authorization")).toBe("Bearer x");
    authorize.mockReturnValue(true);
    await expect(get(t)).rejects.toThrow("component");
  });
});

describe("a bearer token", () => {
  test("is the secret in the environment, whole", async () => {
    const t = await newApp({ authorize: bearerToken("METRICS_TOKEN") });
    vi.stubEnv("METRICS_TOKEN", "a long secret");
    for (const [authorization, status] of [
      ["Bearer a long secret", 200],
      ["bearer  a long secret", 200],
      ["Bearer a long secre", 401],
      ["Bearer a long secret!", 401],
      ["Bearer A long secret", 401],
      ["Basic a long secret", 401],
      ["Bearer ", 401],
      ["a long secret", 401],
      [undefined, 401],
    ] as const) {
      expect([authorization, (await get(t, authorization)).status]).toEqual([
        authorization,
        status,
      ]);
    }
  });

  test("refuses every request where the environment has no secret, or an empty one", async () => {
    const t = await newApp({ authorize: bearerToken("METRICS_TOKEN") });
    for (const secret of [undefined, ""]) {
      vi.stubEnv("METRICS_TOKEN", secret);
      for (const given of ["Bearer ", "Bearer undefined", "Bearer null", undefined]) {
        expect((await get(t, given)).status).toBe(401);
      }
    }
  });
});

describe("metrics", () => {
  const open = { authorize: () => true };

  // Shows SG-42, K12, L10.
  test("are text that a parser reads, every family with its help", async () => {
    const response = await get(await newApp(open));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parse(await response.text());
    expect(families.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "conveyor_jobs GAUGE",
      "conveyor_jobs_retrying GAUGE",
      "conveyor_jobs_enqueued_total COUNTER",
      "conveyor_jobs_finished_total COUNTER",
      "conveyor_job_wait_seconds HISTOGRAM",
      "conveyor_job_run_seconds HISTOGRAM",
      "conveyor_oldest_pending_age_seconds GAUGE",
      "conveyor_queue_paused GAUGE",
      "conveyor_queue_draining GAUGE",
      "conveyor_queue_health GAUGE",
      "conveyor_workers GAUGE",
      "conveyor_workers_quiet GAUGE",
      "conveyor_worker_slots GAUGE",
      "conveyor_worker_jobs_done_total COUNTER",
      "conveyor_worker_last_seen_age_seconds GAUGE",
      "conveyor_places GAUGE",
      "conveyor_lanes_awake GAUGE",
      "conveyor_queues_waiting GAUGE",
      "conveyor_main_loop_stalled GAUGE",
    ]);
    expect(families.filter(({ help }) => help === "")).toEqual([]);
  });

  // Shows SG-42.
  test("count each queue's jobs in each status, and the workers", async () => {
    const t = await newApp(open);
    const jobs = await read(t, "conveyor_jobs");
    expect(jobs).toMatchObject({
      ...{ "tiles pending": "1", "tiles scheduled": "1", "tiles running": "1" },
      ...{ "tiles succeeded": "1", "tiles failed": "1", "tiles canceled": "1" },
      ...{ "tiles timedOut": "0", "loose pending": "1", "loose failed": "0" },
    });
    expect(await read(t, "conveyor_workers")).toEqual({
      ...{ "worker starting": "0", "worker waiting": "0", "worker working": "1" },
      ...{ "worker draining": "0", "lane waiting": "0", "lane working": "0" },
    });
  });

  // Shows SG-42.
  test("say how long the jobs that have ended had waited and run, by buckets that add up", async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
    const http = httpRouter();
    http.route({ path: "/metrics", method: "GET", handler: conveyor.metrics(open) });
    const t = setup({ modules: { http: { default: http } } });
    await asApp(t, (ctx) => tiles.enqueue(ctx, { x: 1 }));
    vi.advanceTimersByTime(3_000);
    const { token } = await t.mutation(internal.app.createToken, { name: "test" });
    const session = { token, sessionKey: "session-1" };
    const claim = { ...session, name: "w", callSeq: 1, queues: ["tiles"], max: 1 };
    const { jobs } = await t.mutation(api.app.claim, claim);
    const { id, attempt } = jobs[0]!;
    vi.advanceTimersByTime(5_000);
    const outcome = { kind: "succeeded" as const, result: { pixels: "" } };
    const finished = [{ id, attempt, outcome, queue: "tiles" }];
    await t.mutation(api.app.complete, { ...session, callSeq: 2, finished });
    const advance = (ms: number) => vi.advanceTimersByTime(ms);
    await pass(t, 60_000, { advance, stepMs: 1_000, momentMs: 1_000 });
    const text = await (await get(t)).text();
    for (const [of, sum, below, above] of [
      ["wait", 3, "2.048", "4.096"],
      ["run", 5, "4.096", "8.192"],
    ] as const) {
      const line = (what: string, value: number) =>
        `\nconveyor_job_${of}_seconds_${what} ${value}\n`;
      expect(text).toContain(line('sum{queue="tiles"}', sum));
      expect(text).toContain(line('count{queue="tiles"}', 1));
      expect(text).toContain(line(`bucket{queue="tiles",le="${below}"}`, 0));
      expect(text).toContain(line(`bucket{queue="tiles",le="${above}"}`, 1));
      expect(text).toContain(line('bucket{queue="tiles",le="+Inf"}', 1));
    }
  });

  test("say of each worker by name its slots, the jobs that it has done, and when it was last seen", async () => {
    const t = await newApp(open);
    expect(await read(t, "conveyor_worker_jobs_done_total")).toEqual({ w: "4" });
    expect(await read(t, "conveyor_worker_slots"), "it has not said them").toEqual({
      ...{ "w used": "0", "w had": "0" },
    });
    const age = Number((await read(t, "conveyor_worker_last_seen_age_seconds"))["w"]);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60);
    expect(await read(t, "conveyor_workers_quiet")).toEqual({ "": "0" });
  });

  test("have one series for the workers of one name, with the sums of their slots and jobs", () => {
    const one = (name: string, given: object): WorkerStatus => ({
      ...{ id: name, session: name, name, isLane: false, state: "waiting", lastSeenAt: 1_000 },
      ...{ queues: [], holding: [], ...given },
    });
    const mainLoop = { places: {}, lanes: {}, waiting: [] } as unknown as MainLoop;
    const workers = [
      one("a", { slots: { used: 1, had: 4 }, done: 2, quietBy: "operator" }),
      one("a", { slots: { used: 2, had: 4 }, done: 3, lastSeenAt: 4_000 }),
      one("gone", { state: "stopped", done: 9 }),
      one("tiles#0", { isLane: true, state: "working" }),
    ];
    const families = familiesOf({ queues: [], workers, mainLoop }, 5_000);
    const of = (name: string) => families.find((one) => one.name === `conveyor_${name}`)!.samples;
    expect(of("worker_slots")).toEqual([
      { labels: { worker: "a", state: "used" }, value: 3 },
      { labels: { worker: "a", state: "had" }, value: 8 },
    ]);
    expect(of("worker_jobs_done_total")).toEqual([{ labels: { worker: "a" }, value: 5 }]);
    expect(of("worker_last_seen_age_seconds")).toEqual([{ labels: { worker: "a" }, value: 1 }]);
    expect(of("workers_quiet")).toEqual([{ value: 1 }]);
  });

  // Shows K7, L10.
  test("say which queues are paused or draining, and how long the oldest job has waited", async () => {
    const t = await newApp(open);
    expect(await read(t, "conveyor_queue_paused")).toEqual({ loose: "0", tiles: "0" });
    await asApp(t, (ctx) => tiles.control.pause(ctx));
    await asApp(t, (ctx) => tiles.control.drain(ctx));
    expect(await read(t, "conveyor_queue_paused")).toEqual({ loose: "0", tiles: "1" });
    expect(await read(t, "conveyor_queue_draining")).toEqual({ loose: "0", tiles: "1" });
    const { tiles: age } = await read(t, "conveyor_oldest_pending_age_seconds");
    expect(Number(age)).toBeGreaterThanOrEqual(0);
    expect(Number(age)).toBeLessThan(60);
  });

  // Shows WP-33.
  test("say how many places inside Convex are used and left, by the mount's share, and that no lane is awake", async () => {
    const t = await newApp(open);
    expect(await read(t, "conveyor_places")).toEqual({ used: "0", left: "56" });
    expect(await read(t, "conveyor_lanes_awake")).toEqual({ "": "0" });
    expect(await read(t, "conveyor_queues_waiting")).toEqual({ "": "0" });
    expect(await read(t, "conveyor_main_loop_stalled")).toEqual({ "": "0" });
  });

  test("have nothing of jobs' contents, nor of their names", async () => {
    const t = await newApp(open);
    await asApp(t, (ctx) =>
      tiles.enqueue(ctx, { x: 1 }, { name: "for ann", group: "ann", tags: ["ann"], key: "ann" }),
    );
    const text = await (await get(t)).text();
    expect(text).toContain("conveyor_jobs{");
    expect(text).not.toContain("ann");
    expect(text).not.toContain(secret);
  });
});
