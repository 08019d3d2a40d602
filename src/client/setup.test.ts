/** An app for the client's tests: its functions as one module, on `convex-test` with the real component. */
/// <reference types="vite/client" />
import { convexTest, type TestConvex } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  internalMutationGeneric,
  mutationGeneric,
  type ApiFromModules,
  type FilterApi,
  type FunctionReference,
} from "convex/server";
import { ConvexError, v } from "convex/values";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isConveyorError, type ConveyorErrorCode } from "../shared/index.js";
import { register } from "../test.js";
import { Conveyor, jobCalls, vJobId, type ComponentApi, type WatchCall } from "./index.js";

// Time stands still: no timer of a queue runs between two calls of a test, however busy the machine is.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

export const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);

export const tiles = conveyor.queue("tiles", {
  payload: v.object({ x: v.number(), label: v.optional(v.string()) }),
  result: v.object({ pixels: v.string() }),
  leaseMs: 10_000,
  onComplete: () => anyApi["app"]!["tileDone"],
});

export const loose = conveyor.queue("loose", { payload: v.any() });

/** Its payload names a row of the app. */
export const exportsOfRows = conveyor.queue("exports", {
  payload: v.object({ row: v.id("done"), copies: v.number() }),
});

const schema = defineSchema({
  done: defineTable({ job: vJobId("tiles"), x: v.number(), outcome: v.any() }).index("job", [
    "job",
  ]),
});

/** The module of an app's functions. */
export const functions = {
  ...conveyor.api({
    queues: [tiles, loose, exportsOfRows],
    authorize: async (_ctx, call) => {
      if (call.kind === "enqueue" && call.queue === "tiles") {
        const isRefused = call.payloads.some(({ label }) => label === "forbidden");
        if (isRefused) throw new ConvexError("Not you.");
      }
      return await Promise.resolve(true);
    },
    enqueue: { tiles: true, loose: true, exports: true },
  }),
  ...conveyor.workerApi({ queues: [tiles, loose], continueWith: [exportsOfRows] }),
  createToken: conveyor.tokenApi().create,
  rotateToken: conveyor.tokenApi().rotate,
  revokeToken: conveyor.tokenApi().revoke,
  listTokens: conveyor.tokenApi().list,
  tileDone: internalMutationGeneric({
    args: tiles.onCompleteArgs,
    handler: async (ctx, { id, payload, outcome }) => {
      if (payload.label === "thrower") throw new Error("The callback is broken.");
      await ctx.db.insert("done", { job: id, x: payload.x, outcome });
    },
  }),
  enqueueAndThrow: mutationGeneric({
    args: {},
    handler: async (ctx) => {
      await tiles.enqueue(ctx, { x: 1 });
      throw new ConvexError("Changed my mind.");
    },
  }),
};

type Modules = ApiFromModules<{ app: typeof functions }>;
export const api = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "public">>;
export const internal = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "internal">>;

/** The calls of its pages. */
export const pages = jobCalls(api.app);

export type App = TestConvex<typeof schema>;

/** `modules`: replacements of the app's own, by name. */
export function setup({
  mounted = true,
  modules = {},
}: { mounted?: boolean; modules?: Record<string, object> } = {}): App {
  const others = Object.entries(modules).map(
    ([name, module]) => [`/convex/${name}.ts`, async () => module] as const,
  );
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
    ...Object.fromEntries(others),
  });
  if (mounted) register(t);
  return t;
}

/** A call of the workers' query. */
export const watching = (
  t: App,
  token: string,
  call: WatchCall,
  watch = api.app.watch,
): Promise<unknown> => t.query(watch, { token, call });

/** A session of a worker with a token of its own. */
export async function setupSession(t: App, queues?: string[]) {
  const args = { name: "test", ...(queues === undefined ? {} : { queues }) };
  const { token } = await t.mutation(internal.app.createToken, args);
  return { token, sessionKey: "session-1" };
}

/** The error of a call that must fail with this code. */
export async function refusal(call: Promise<unknown>, code: ConveyorErrorCode) {
  const error: unknown = await call.then(
    () => expect.fail(`was accepted, wanted ${code}`),
    (reason: unknown) => reason,
  );
  if (!isConveyorError(error, code)) throw error;
  return error.data;
}

test("the test app mounts the component", async () => {
  const t = setup();
  expect(await t.query(...pages.status("nonsense"))).toBeNull();
});
