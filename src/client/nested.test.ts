/**
 * A component of another author that mounts this one: its queue is inside it, and the app reaches it through it only.
 */
/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  createFunctionHandle,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  mutationGeneric,
  queryGeneric,
} from "convex/server";
import { v } from "convex/values";
import { expect, test } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const components = componentsGeneric() as any;

// --- The component ------------------------------------------------------------------------------

const { conveyor: mounted } = components as { conveyor: ComponentApi };
const conveyor = new Conveyor(mounted);
const mails = conveyor.queue("mails", {
  payload: { to: v.string() },
  onComplete: () => anyApi["lib"]!["sent"],
});

const told = { told: defineTable({ to: v.string(), status: v.string(), context: v.any() }) };

const tell = internalMutationGeneric({
  args: mails.onCompleteArgs,
  handler: async (ctx, { payload, outcome, context = null }) => {
    await ctx.db.insert("told", { to: payload.to, status: outcome.status, context });
  },
});
const allTold = queryGeneric({ args: {}, handler: async (ctx) => ctx.db.query("told").collect() });

const mailer = {
  send: mutationGeneric({
    args: { to: v.string(), done: v.optional(v.string()), context: v.optional(v.any()) },
    handler: async (ctx, { to, done, context }) =>
      await mails.enqueue(ctx, { to }, { onComplete: done as `function://${string}`, context }),
  }),
  sent: tell,
  allTold,
  token: mutationGeneric({
    args: {},
    handler: async (ctx) =>
      (await ctx.runMutation(mounted.operate.createToken, { name: "w", queues: null })).token,
  }),
  ...conveyor.workerApi({ queues: [mails] }),
};

// --- The app that mounts it ---------------------------------------------------------------------

/** The app's export of a component's function, since that is out of reach from outside. */
const passOn = (name: keyof typeof mailer) =>
  mutationGeneric({
    args: v.any(),
    handler: async (ctx, args) => await ctx.runMutation(components.mailer.lib[name], args),
  });

const app = {
  send: mutationGeneric({
    args: { to: v.string(), tellApp: v.boolean() },
    handler: async (ctx, { to, tellApp }) => {
      const done = tellApp
        ? { done: await createFunctionHandle(anyApi["app"]!["told"] as never) }
        : {};
      await ctx.runMutation(components.mailer.lib.send, { to, ...done, context: { by: "app" } });
      if (to === "nobody") throw new Error("The app changed its mind.");
    },
  }),
  told: tell,
  allTold,
  ofMailer: queryGeneric({
    args: {},
    handler: async (ctx) => await ctx.runQuery(components.mailer.lib.allTold, {}),
  }),
  token: passOn("token"),
  claim: passOn("claim"),
  complete: passOn("complete"),
};

function setup() {
  const schema = defineSchema(told);
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => app,
  });
  t.registerComponent("mailer", schema, {
    "/mailer/_generated/server.ts": async () => ({}),
    "/mailer/lib.ts": async () => mailer,
  });
  register(t, "mailer/conveyor");
  const call = async (name: string, args: object = {}): Promise<any> =>
    await t.mutation(anyApi["app"]![name] as any, args);
  const look = async (name: string): Promise<any[]> =>
    await t.query(anyApi["app"]![name] as any, {});
  return { call, look };
}

/** Claims the waiting jobs, and records their results. */
async function work(call: (name: string, args?: object) => Promise<any>): Promise<string[]> {
  const session = { token: await call("token"), sessionKey: "s" };
  const { jobs } = await call("claim", {
    ...{ ...session, callSeq: 1, name: "w", queues: ["mails"], max: 10 },
  });
  const finished = jobs.map(({ id, queue, attempt }: any) => {
    return { id, queue, attempt, outcome: { kind: "succeeded", result: null } };
  });
  if (finished.length > 0) await call("complete", { ...session, callSeq: 2, finished });
  return jobs.map(({ payload }: any) => payload.to as string);
}

// Shows DE-25, WP-17, A2, O8.
test("a component that mounts this one enqueues, and receives the end in its own tables", async () => {
  const { call, look } = setup();
  await call("send", { to: "ann", tellApp: false });
  expect(await work(call)).toEqual(["ann"]);
  expect(await look("ofMailer")).toMatchObject([
    { to: "ann", status: "succeeded", context: { by: "app" } },
  ]);
  expect(await look("allTold")).toEqual([]);
});

// Shows A2.
test("a job may tell a function of another component, by its handle, instead of its queue's", async () => {
  const { call, look } = setup();
  await call("send", { to: "bob", tellApp: true });
  expect(await work(call)).toEqual(["bob"]);
  expect(await look("allTold")).toMatchObject([{ to: "bob", status: "succeeded" }]);
  expect(await look("ofMailer")).toEqual([]);
});

test("its jobs belong to the transaction of its caller: if that throws, there is none", async () => {
  const { call } = setup();
  await expect(call("send", { to: "nobody", tellApp: false })).rejects.toThrow("changed its mind");
  expect(await work(call)).toEqual([]);
});
