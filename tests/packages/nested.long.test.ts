/**
 * A component of the user's own that mounts this one, as the official CLI bundles and pushes it: its jobs, their callbacks, and
 * the app's functions through which workers reach them. The same on the mock is `src/client/nested.test.ts`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { push } from "../../local/convexCli.js";
import { linkPackages } from "../support/link.js";
import { startBackend, type Backend } from "../../local/backend.js";

const TOLD = `defineSchema({ told: defineTable({ to: v.string(), status: v.string() }) })`;
const SCHEMA = `
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default ${TOLD};
`;

const FILES: Record<string, string> = {
  "package.json": JSON.stringify({
    ...{ name: "nested-app", type: "module", dependencies: { convex: "*" } },
  }),
  "convex/convex.config.ts": `
import { defineApp } from "convex/server";
import mailer from "../mailer/convex.config.js";
const app = defineApp();
app.use(mailer);
export default app;
`,
  "convex/schema.ts": SCHEMA,
  "convex/app.ts": `
import { createFunctionHandle } from "convex/server";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";
const { lib } = components.mailer;
export const send = mutation({
  args: { to: v.string(), tellApp: v.boolean() },
  handler: async (ctx, { to, tellApp }) => {
    const done = tellApp ? { done: await createFunctionHandle(internal.app.tell) } : {};
    return await ctx.runMutation(lib.send, { to, ...done });
  },
});
export const tell = internalMutation({
  args: v.any(),
  handler: async (ctx, { payload, outcome }) => {
    await ctx.db.insert("told", { to: payload.to, status: outcome.status });
  },
});
export const told = query({
  args: {},
  handler: async (ctx) => ({
    app: (await ctx.db.query("told").collect()).map(({ to }) => to),
    mailer: (await ctx.runQuery(lib.told, {})).map(({ to }) => to),
  }),
});
const passOn = (name) =>
  mutation({ args: v.any(), handler: async (ctx, args) => await ctx.runMutation(lib[name], args) });
export const token = passOn("token");
export const claim = passOn("claim");
export const complete = passOn("complete");
`,
  "mailer/convex.config.ts": `
import { defineComponent } from "convex/server";
import conveyor from "convex-conveyor/convex.config.js";
const mailer = defineComponent("mailer");
mailer.use(conveyor);
export default mailer;
`,
  "mailer/schema.ts": SCHEMA,
  "mailer/lib.ts": `
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, internal } from "./_generated/api";
import { internalMutation, mutation, query } from "./_generated/server";
const conveyor = new Conveyor(components.conveyor);
const mails = conveyor.queue("mails", {
  payload: { to: v.string() },
  onComplete: () => internal.lib.tell,
});
export const send = mutation({
  args: { to: v.string(), done: v.optional(v.string()) },
  handler: async (ctx, { to, done }) => await mails.enqueue(ctx, { to }, { onComplete: done }),
});
export const tell = internalMutation({
  args: mails.onCompleteArgs,
  handler: async (ctx, { payload, outcome }) => {
    await ctx.db.insert("told", { to: payload.to, status: outcome.status });
  },
});
export const told = query({ args: {}, handler: async (ctx) => ctx.db.query("told").collect() });
export const token = mutation({
  args: {},
  handler: async (ctx) =>
    (await ctx.runMutation(components.conveyor.operate.createToken, { name: "w", queues: null })).token,
});
export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [mails] });
`,
};

let backend: Backend;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-nested-"));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  linkPackages(folder);
  backend = await startBackend({ port: 0, quiet: true });
  await push(folder, backend);
}, 120_000);

afterAll(async () => {
  await backend?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test("jobs of a component within a component run, and tell that component or a handle's", async () => {
  const client = new ConvexHttpClient(backend.url);
  const call = async (name: string, args: object = {}): Promise<any> =>
    await client.mutation(anyApi["app"]![name] as any, args);
  await call("send", { to: "ann", tellApp: false });
  await call("send", { to: "bob", tellApp: true });
  const session = { token: (await call("token")) as string, sessionKey: "s" };
  const claim = { ...session, callSeq: 1, name: "w", queues: ["mails"], max: 10 };
  const { jobs } = await call("claim", claim);
  expect(jobs.map(({ payload }: any) => payload.to).sort()).toEqual(["ann", "bob"]);
  const outcome = { kind: "succeeded", result: null };
  const finished = jobs.map(({ id, queue, attempt }: any) => ({ id, queue, attempt, outcome }));
  const { answers } = await call("complete", { ...session, callSeq: 2, finished });
  expect(answers.map(({ answer }: any) => answer)).toEqual(["ok", "ok"]);
  expect(await client.query(anyApi["app"]!["told"] as any, {})).toEqual({
    app: ["bob"],
    mailer: ["ann"],
  });
});
