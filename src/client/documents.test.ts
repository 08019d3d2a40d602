/** An app whose documents are jobs, for tests of table queues. */
import { convexTest } from "convex-test";
import {
  anyApi,
  componentsGeneric,
  defineSchema,
  defineTable,
  mutationGeneric,
  type ApiFromModules,
  type DataModelFromSchemaDefinition,
  type FilterApi,
  type FunctionReference,
} from "convex/server";
import { ConvexError, v, type GenericId } from "convex/values";
import { afterEach, expect, test, vi } from "vitest";
import { register } from "../test.js";
import { Conveyor, type ComponentApi } from "./index.js";

const vStatus = v.union(
  v.literal("uploaded"),
  v.literal("reading"),
  v.literal("read"),
  v.literal("unreadable"),
  v.literal("stopped"),
  v.literal("archived"),
);
const schema = defineSchema({
  documents: defineTable({
    title: v.string(),
    status: vStatus,
    priority: v.number(),
    doneAt: v.optional(v.number()),
    begunAt: v.optional(v.number()),
    tries: v.optional(v.number()),
    reader: v.optional(v.string()),
    problem: v.optional(v.string()),
    stop: v.optional(v.boolean()),
    text: v.optional(v.string()),
    owner: v.optional(v.id("owners")),
  }).index("by_status", ["status", "priority"]),
  owners: defineTable({ name: v.string() }),
});
type DataModel = DataModelFromSchemaDefinition<typeof schema>;

const conveyor = new Conveyor<DataModel>(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
export const named = anyApi as any;
/** Of the app: what `record` was given, and whether the join of a row fails. */
export const seen = {
  recorded: [] as unknown[],
  joinFails: false,
  /** The text that a join gives in place of the row's. */
  joinedText: undefined as string | undefined,
  /** What `record` does besides. */
  alsoRecord: undefined as ((ctx: any) => Promise<void>) | undefined,
};

export const documents = conveyor.tableQueue("documents", {
  functions: () => named.documents,
  index: "by_status",
  order: "desc",
  columns: {
    state: "status",
    finishedAt: "doneAt",
    startedAt: "begunAt",
    attempts: "tries",
    worker: "reader",
    error: "problem",
    cancel: "stop",
  },
  states: {
    pending: "uploaded",
    running: "reading",
    succeeded: "read",
    failed: "unreadable",
    canceled: "stopped",
  },
  result: v.object({ text: v.string() }),
  retry: { maxAttempts: 3, initialBackoffMs: 10_000, base: 1, jitter: "none" },
  leaseMs: 10_000,
  join: async (ctx, row) => {
    if (seen.joinFails) throw new ConvexError("The owner is not known.");
    const owner = row.owner === undefined ? null : await ctx.db.get(row.owner);
    const joined = { ...row, owner: owner?.name ?? null };
    return seen.joinedText === undefined ? joined : { ...joined, text: seen.joinedText };
  },
  record: async (ctx, { row, outcome, attempt }) => {
    seen.recorded.push({ title: row.title, status: row.status, outcome: outcome.status, attempt });
    if (outcome.status === "succeeded") await ctx.db.patch(row._id, { text: outcome.result.text });
    await seen.alsoRecord?.(ctx);
  },
});
export const plain = conveyor.queue("plain", { payload: v.any() });

const functions = {
  ...conveyor.workerApi({ queues: [documents, plain], continueWith: [documents] }),
  createToken: conveyor.tokenApi().create,
  cancelRow: mutationGeneric({
    args: { row: v.id("documents") },
    handler: async (ctx, { row }) => {
      const reply = await documents.cancelRow(ctx, row, { reason: "Not wanted." });
      await ctx.db.delete(row);
      return reply;
    },
  }),
  pause: mutationGeneric({ args: {}, handler: async (ctx) => await documents.control.pause(ctx) }),
};
type Modules = ApiFromModules<{ app: typeof functions }>;
export const api = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "public">>;
export const own = anyApi as unknown as FilterApi<Modules, FunctionReference<any, "internal">>;

export async function setup(groups?: string[]) {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  seen.recorded = [];
  seen.joinFails = false;
  seen.joinedText = undefined;
  seen.alsoRecord = undefined;
  const t = convexTest(schema, {
    "/convex/_generated/server.ts": async () => ({}),
    "/convex/app.ts": async () => functions,
    "/convex/documents.ts": async () => ({
      claimable: documents.claimable,
      take: documents.take,
      record: documents.record,
    }),
  });
  register(t);
  const { token } = await t.mutation(own.app.createToken, {
    name: "w",
    ...(groups === undefined ? {} : { groups }),
  });
  const insert = async (title: string, priority = 0, more: object = {}) =>
    await t.run(
      async (ctx) =>
        await ctx.db.insert("documents", { title, priority, status: "uploaded", ...more }),
    );
  const claimBy =
    (sessionKey: string, queues = ["documents"]) =>
    async (n: number, max = 10) =>
      (
        await t.mutation(api.app.claim, {
          token,
          sessionKey,
          name: sessionKey,
          callSeq: n,
          queues,
          max,
        })
      ).jobs;
  const complete = async (sessionKey: string, n: number, finished: any[], claim?: any) =>
    await t.mutation(api.app.complete, { token, sessionKey, callSeq: n, finished, claim });
  const beat = async (sessionKey: string, leases: { id: string; attempt: number }[]) =>
    (await t.mutation(api.app.heartbeat, { token, sessionKey, leases })).answers.map(
      ({ answer }: { answer: string }) => answer,
    );
  const row = async (id: GenericId<"documents">) => await t.run((ctx) => ctx.db.get(id));
  const change = async (id: GenericId<"documents">, patch: object) =>
    await t.run((ctx) => ctx.db.patch(id, patch));
  const hasWork = async (queues = ["documents"], groupsOf?: string[]) =>
    await t.query(api.app.watch, {
      token,
      call: {
        kind: "hasWork",
        queues,
        ...(groupsOf === undefined ? {} : { groups: groupsOf }),
      },
    } as any);
  return { t, token, insert, claimBy, complete, beat, row, change, hasWork };
}

export const done = ({ id, attempt }: { id: string; attempt: number }, text = "words") => ({
  ...{ id, attempt, queue: "documents" },
  outcome: { kind: "succeeded", result: { text } },
});
export const failed = (job: { id: string; attempt: number }) => ({
  ...{ ...done(job), outcome: { kind: "failed", error: "smudged" } },
});

export const TIME = { advance: (ms: number) => vi.advanceTimersByTime(ms) };

afterEach(() => void vi.useRealTimers());

test("a row is inserted plainly, and waits", async () => {
  const { insert, row, hasWork } = await setup();
  expect(await hasWork()).toBe(false);
  const id = await insert("a");
  expect(await row(id)).toMatchObject({ title: "a", status: "uploaded" });
  expect(await hasWork()).toBe(true);
});
