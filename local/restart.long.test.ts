/** A backend on a data folder, stopped or cut off, and started again on it: everything goes on as if nothing had been. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startBackend, type Backend } from "./backend.js";
import type { Store } from "./engine/store.js";
import { wallEnvironment, type Environment } from "./environment.js";
import { convex, copyFixture, PUSH, type FixtureApp } from "./push/testing.js";
import { CLOSE_GRACE_MS } from "./server/limits.js";
import { openSqliteStore } from "./store/sqliteStore.js";

const MODULES = {
  "later.ts": `
import { v } from "convex/values";
import { internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation, query } from "./_generated/server.js";
export const note = internalMutation({ args: { author: v.string() }, handler: async (ctx, { author }) => {
  await ctx.db.insert("messages", { author, body: "ran" });
} });
export const slow = internalAction({ args: {}, handler: async (ctx) => {
  await ctx.runMutation(internal.later.note, { author: "slow" });
  await new Promise((resolve) => setTimeout(resolve, 600_000));
} });
export const soon = mutation({ args: { ms: v.number() }, handler: async (ctx, { ms }) =>
  ctx.scheduler.runAfter(ms, internal.later.note, { author: "soon" }) });
export const slowly = mutation({ args: {}, handler: async (ctx) => ctx.scheduler.runAfter(0, internal.later.slow, {}) });
export const state = query({ args: { id: v.id("_scheduled_functions") }, handler: async (ctx, { id }) =>
  (await ctx.db.system.get(id))?.state });
`,
  "http.ts": `
import { httpActionGeneric as httpAction, httpRouter } from "convex/server";
const http = httpRouter();
http.route({ path: "/ping", method: "GET", handler: httpAction(async () => new Response("pong")) });
export default http;
`,
  "crons.ts": `
import { cronJobs } from "convex/server";
import { internal } from "./_generated/api.js";
const crons = cronJobs();
crons.interval("tick", { seconds: 1 }, internal.later.note, { author: "cron" });
export default crons;
`,
};
const api = anyApi;

/** Closing does not wait for running functions. */
const impatient: Environment = {
  ...wallEnvironment,
  timer: (ms, ring) => wallEnvironment.timer(ms === CLOSE_GRACE_MS ? 0 : ms, ring),
};

describe("a backend that is started again on its data", () => {
  let directory: string;
  let app: FixtureApp;
  let store: Store;
  let backend: Backend;
  let client: ConvexHttpClient;

  async function start(): Promise<void> {
    store = await openSqliteStore(wallEnvironment, { directory });
    backend = await startBackend({ quiet: true, env: impatient, database: { store } });
    client = new ConvexHttpClient(backend.url, { logger: false });
  }

  /** From here on nothing is kept, as if the process had been killed. */
  async function cutOff(): Promise<void> {
    await store.close();
    await backend.close();
  }

  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  const notes = async (author: string): Promise<number> =>
    ((await client.query(api["messages"]!["list"]!, { author })) as unknown[]).length;
  const stateOf = (id: string) => client.query(api["later"]!["state"]!, { id }) as Promise<unknown>;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "conveyor-restart-"));
    app = await copyFixture();
    for (const [name, text] of Object.entries(MODULES)) {
      await writeFile(join(app.directory, "convex", name), text);
    }
    await start();
    const push = await convex(backend, app.directory, ...PUSH, "--typecheck", "disable");
    expect(push.stderr).toContain("Convex functions ready!");
    await convex(backend, app.directory, "env", "set", "GREETING", "good day");
  });
  afterEach(() => backend.close());
  afterAll(async () => {
    await app.remove();
    await rm(directory, { recursive: true, force: true });
  });

  test("serves its last deployment, with its variables, rows, components, routes and crons", async () => {
    await client.mutation(api["messages"]!["send"]!, { author: "a", body: "b" });
    await client.mutation(api["counts"]!["bump"]!, { name: "n" });
    const adminKey = backend.adminKey;
    await backend.close();

    await start();
    expect(backend.adminKey).toBe(adminKey);
    expect(await client.query(api["messages"]!["greet"]!, {})).toBe("good day");
    expect(await notes("a")).toBe(1);
    // STEP is 2: the component's own environment is bound anew.
    expect(await client.mutation(api["counts"]!["bump"]!, { name: "n" })).toBe(4);
    expect(await (await fetch(`${backend.siteUrl}/ping`)).text()).toBe("pong");
    const ticks = await notes("cron");
    await until(async () => (await notes("cron")) > ticks);
  });

  test("takes the next push, and tells the CLI the unchanged modules", async () => {
    await start();
    await writeFile(join(app.directory, "convex/crons.ts"), "");
    const push = await convex(backend, app.directory, ...PUSH, "--typecheck", "disable");
    expect(push.stderr).toContain("Convex functions ready!");
    await backend.close();
    await start();
    const ticks = await notes("cron");
    await client.mutation(api["later"]!["soon"]!, { ms: 1100 });
    await until(async () => (await notes("soon")) === 1);
    expect(await notes("cron")).toBe(ticks);
  });

  test("runs scheduled functions that had not begun, once", async () => {
    await start();
    const before = await notes("soon");
    const id = (await client.mutation(api["later"]!["soon"]!, { ms: 300 })) as string;
    await cutOff();
    await start();
    await until(async () => (await notes("soon")) > before);
    await until(async () => ((await stateOf(id)) as { kind: string }).kind === "success");
    expect(await notes("soon")).toBe(before + 1);
  });

  test("fails an action that was running, in the platform's words, and does not run it again", async () => {
    await start();
    const id = (await client.mutation(api["later"]!["slowly"]!, {})) as string;
    await until(async () => (await notes("slow")) === 1);
    expect(await stateOf(id)).toEqual({ kind: "inProgress" });
    await cutOff();
    await start();
    await until(async () => ((await stateOf(id)) as { kind: string }).kind === "failed");
    expect(await stateOf(id)).toEqual({
      kind: "failed",
      error: "Transient error while executing action",
    });
    expect(await notes("slow")).toBe(1);
  });

  test("has a key of its own when it is given one, and keeps that", async () => {
    backend = await startBackend({ quiet: true, data: directory, adminKey: "local|mine" });
    await backend.close();
    await start();
    expect(backend.adminKey).toBe("local|mine");
  });
});
