/** An app for the tests of enqueueing: its queues, on `convex-test` with the real component. */
import { convexTest } from "convex-test";
import {
  actionGeneric,
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  type FunctionReference,
  type GenericActionCtx,
} from "convex/server";
import { v } from "convex/values";
import { expect, test } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);

export const mails = conveyor.queue("mails", {
  payload: v.object({ to: v.string(), body: v.optional(v.string()) }),
  context: v.object({ tenant: v.string() }),
  shards: 1,
});

export const anything = conveyor.queue("anything", { payload: v.any() });

/** Queues with jobs that bring their handlers. */
export const perJob = {
  said: conveyor.queue("said", { payload: v.any(), perJob: true, maxResets: 5 }),
  unsaid: conveyor.queue("unsaid", { payload: v.any(), perJob: true }),
};

type Told = { told: FunctionReference<"mutation", "internal"> };
export const { told } = anyApi["app"] as unknown as Told;

const schema = defineSchema({ told: defineTable({ id: v.string(), args: v.any() }) });

/** The work of the action: a test sets it, since a handler cannot be sent. */
export const script: { action: (ctx: GenericActionCtx<any>) => Promise<unknown> } = {
  action: async () => null,
};

const functions = {
  ...mails.api({
    authorize: "public",
    enqueue: async (ctx, payload) => {
      const user = await ctx.auth.getUserIdentity();
      if (user === null) return undefined;
      return { key: `${user.subject}:${payload.to}`, group: user.subject, priority: 3 };
    },
  }),
  told: internalMutationGeneric({
    args: mails.onCompleteArgs,
    handler: async (ctx, args) => {
      await ctx.db.insert("told", { id: args.id, args });
    },
  }),
  act: actionGeneric({ args: {}, handler: async (ctx) => (await script.action(ctx)) ?? null }),
};

export const api = anyApi["app"] as unknown as Record<keyof typeof functions, any>;

export function setup() {
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
  });
  register(t);
  return t;
}

export type App = ReturnType<typeof setup>;

test("the app has nothing in its queues", async () => {
  const counts = await setup().run((ctx) => mails.counts(ctx));
  expect(counts.pending).toEqual({ count: 0, more: false });
});
