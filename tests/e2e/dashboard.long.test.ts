/** Views of a deployment for its operators: the dashboard by one command, and metrics by HTTP. */
import path from "node:path";
import { ConvexClient } from "convex/browser";
import parse from "parse-prometheus-text-format";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { convex } from "../../local/convexCli.js";
import { buildPage, pageIsStale } from "../../scripts/support/page.js";
import { root } from "../support/paths.js";
import { start, type Program } from "../support/program.js";
import { until } from "../../local/until.js";
import { dashboardCalls } from "../../src/shared/index.js";
import { api } from "../dashboard/app/convex/_generated/api.js";
import type { TakesAdminKey } from "../../src/cli/probe.js";
import { startStage, type Stage } from "../dashboard/stage.js";

const APP = path.join(root, "tests/dashboard/app");
const STARTS_MS = 30_000;
const SECRET = "known only to the monitoring system";
const MAILS = 6;
let stage: Stage;

beforeAll(async () => {
  if (pageIsStale()) await buildPage();
  stage = await startStage();
  await convex(APP, ["env", "set", "METRICS_TOKEN", SECRET], stage.backend);
  // Counted up to 40 seconds later, while other tests run.
  await stage.client.mutation(api.stage.sendMails, { from: 0, count: MAILS });
}, 120_000);

afterAll(() => stage.close());

describe("the dashboard by one command", () => {
  const leave = { see: true, act: true, hide: false, trap: false };
  const command = (...args: string[]): Program => {
    const at = ["--url", stage.backend.url, ...args];
    return start(process.execPath, ["dist/cli/main.js", "dashboard", ...at]);
  };

  // Shows M1.
  test("serves a page that is given its deployment, until it is stopped", async () => {
    const program = command();
    const [url] = await program.prints(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//, STARTS_MS);
    const page = await (await fetch(url)).text();
    const script = /<script[^>]* src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1];
    expect(await (await fetch(url + script!)).text()).toContain("config.json");
    const { host: name } = new URL(stage.backend.url);
    expect(await (await fetch(`${url}config.json`)).json()).toEqual({
      ...{ name, module: "dashboard", signsIn: false },
    });
    expect(await program.interrupt()).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  test("says that `authorize` refuses, and how to sign in", async () => {
    await stage.client.mutation(api.stage.giveLeave, { ...leave, see: false });
    const { code, output } = await command().ended;
    await stage.client.mutation(api.stage.giveLeave, leave);
    expect(output).toContain("You may not do this (overview)");
    expect(output).toContain("Give --token");
    expect(code).toBe(1);
  });

  test("says that a module has no functions of a dashboard", async () => {
    const { code, output } = await command("--module", "stage").ended;
    expect(output).toContain('has no public function "stage:read"');
    expect(code).toBe(1);
  });

  test("says that a credential is not the deployment's", async () => {
    const { output } = await command("--admin-key", "wrong").ended;
    expect(output).toContain("does not accept this --admin-key");
    const { output: other } = await command("--token", "wrong").ended;
    expect(other).toContain("does not accept this --token");
  });

  /** The page's own client, at the address that the page has it at. */
  function pageClient(url: string): ConvexClient {
    const { origin } = new URL(url);
    class PageSocket extends WebSocket {
      constructor(at: string) {
        super(at, { origin });
      }
    }
    const webSocketConstructor = PageSocket as unknown as typeof globalThis.WebSocket;
    const client = new ConvexClient(new URL("deployment", url).href, { webSocketConstructor });
    (client.client as unknown as TakesAdminKey).setAdminAuth("none of its own");
    return client;
  }

  test("calls as an administrator in the name of a user, through a page without a key: its content is live", async () => {
    const identity = { issuer: "https://example.com", subject: "ann" };
    const as = ["--identity", JSON.stringify(identity)];
    const program = command("--admin-key", stage.backend.adminKey, ...as);
    const [url] = await program.prints(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//, STARTS_MS);
    const config = await (await fetch(`${url}config.json`)).text();
    expect(JSON.parse(config)).toMatchObject({ module: "dashboard", signsIn: true });
    expect(config).not.toContain(stage.backend.adminKey);

    const client = pageClient(url);
    await stage.client.mutation(api.stage.render, { count: 1, ms: 0 });
    const queue = "renders";
    const shown: boolean[] = [];
    const last = () => Promise.resolve(shown.at(-1));
    const { read, write } = dashboardCalls(api.dashboard);
    client.onUpdate(...read({ kind: "queue", queue }), (one) => {
      shown.push(one?.state.pausedAt !== undefined);
    });
    await until(last, (isPaused) => isPaused === false, 10_000);
    await client.mutation(...write({ kind: "pause", queue }));
    await until(last, (isPaused) => isPaused === true, 10_000);
    await client.mutation(...write({ kind: "resume", queue }));
    await client.close();
    await program.interrupt();
  });
});

describe("metrics by HTTP", () => {
  const get = async (headers: Record<string, string> = {}) =>
    await fetch(`${stage.backend.siteUrl}/metrics`, { headers });
  const read = async () => parse(await (await get({ authorization: `Bearer ${SECRET}` })).text());
  const valueOf = (families: Awaited<ReturnType<typeof read>>, name: string, of: object) =>
    Number(
      families
        .find((family) => family.name === name)
        ?.metrics.find(({ labels }) => JSON.stringify(labels) === JSON.stringify(of))?.value,
    );

  test("without the token nothing is shown, not even the names of queues", async () => {
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: SECRET }]) {
      const response = await get(headers);
      expect(response.status).toBe(401);
      expect(await response.text()).toBe(
        "forbidden: `authorize` of the metrics did not answer true.\n",
      );
    }
  });

  // Shows SG-42.
  test("with it, a queue's counts are text that a parser reads, and only grow", async () => {
    const before = valueOf(await read(), "conveyor_jobs_enqueued_total", { queue: "mails" });
    const succeeded = { queue: "mails", outcome: "succeeded" };
    let last = 0;
    const look = async () => {
      const families = await read();
      const now = valueOf(families, "conveyor_jobs_finished_total", succeeded);
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
      const enqueued = valueOf(families, "conveyor_jobs_enqueued_total", { queue: "mails" });
      expect(enqueued).toBeGreaterThanOrEqual(before);
      return now;
    };
    await until(look, (count) => count === MAILS, 55_000);
    const text = await (await get({ authorization: `Bearer ${SECRET}` })).text();
    expect(text).toMatch(/^conveyor_job_run_seconds_count\{queue="mails"\} 6$/m);
    expect(text).toMatch(/^conveyor_jobs\{queue="mails",status="succeeded"\} 6$/m);
    expect(text).not.toContain("reader-");
  }, 90_000);
});
