/** The real component under a tiny app, bundled from the sources as they stand, and, for the controls, with one guard taken out. */
import { bundled } from "../planted/bundled.js";
import type { Bug } from "../planted/change.js";
import { bundle, makeDeployment, PRELUDE } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";

/** Where the component lies in the test's deployment. */
export const COMPONENT = "conveyor";

/** Digests run on other threads, which no seed steers, and tokens are not under test here: their text stands for their hash. */
export const DIGEST: Bug = {
  name: "no digest",
  changes: [
    {
      in: "tokens.ts:sha256",
      call: "crypto.subtle.digest",
      gives: "new TextEncoder().encode(text)",
    },
  ],
};

/**
 * `onComplete` inserts its arguments, or throws for as long as the app is broken. The handler does nothing, the teller returns its
 * job. Rows of `notes` are
 * jobs, and a loop works on rows of `lines`.
 */
const APP = {
  "schema.ts": `${PRELUDE}
    export default defineSchema({
      told: defineTable({ id: v.string(), attempt: v.number(), status: v.string(), result: v.optional(v.any()) }),
      faults: defineTable({}),
      members: defineTable({ group: v.string() }),
      notes: defineTable({ status: v.string(), stop: v.optional(v.boolean()), result: v.optional(v.any()) }).index("status", ["status"]),
      lines: defineTable({ status: v.string(), times: v.number() }).index("status", ["status"]),
    });`,
  "app.ts": `${PRELUDE}
    export const done = internalMutation(async (ctx, { id, attempt, outcome }) => {
      if ((await ctx.db.query("faults").first()) !== null) throw new Error("The app is broken.");
      const { status, result } = outcome;
      await ctx.db.insert("told", { id, attempt, status, ...(result === undefined ? {} : { result }) });
    });
    export const handle = mutation(() => createFunctionHandle(internal.app.done));
    export const work = internalMutation(async () => null);
    export const handler = mutation(() => createFunctionHandle(internal.app.work));
    export const facts = internalMutation(async (ctx, { job }) => job);
    export const teller = mutation(() => createFunctionHandle(internal.app.facts));
    export const enqueuesFirst = mutation(async (ctx, { queue }) => {
      const call = () => ctx.runMutation(components.conveyor.lib.enqueue, { queue, jobs: [{ payload: 1 }] });
      try {
        return await call();
      } catch (error) {
        if (error.data?.code !== "queuesUndeclared") throw error;
        await ctx.runMutation(components.conveyor.lib.declare, { queues: [queue] });
        return await call();
      }
    });
    export const enqueuesTwice = mutation(async (ctx, { queue }) => {
      await ctx.runMutation(components.conveyor.lib.declare, { queues: [queue] });
      for (const payload of [1, 2]) await ctx.runMutation(components.conveyor.lib.enqueue, { queue, jobs: [{ payload }] });
    });
    export const fail = mutation(async (ctx) => { await ctx.db.insert("faults", {}); });
    export const groupsOf = internalQuery(async (ctx) =>
      (await ctx.db.query("members").collect()).map(({ group }) => group));
    export const groupsHandle = mutation(() => createFunctionHandle(internal.app.groupsOf));
    export const join = mutation(async (ctx, { group }) => { await ctx.db.insert("members", { group }); });
    export const leave = mutation(async (ctx) => {
      for (const member of await ctx.db.query("members").collect()) await ctx.db.delete(member._id);
    });
    export const mend = mutation(async (ctx) => {
      for (const fault of await ctx.db.query("faults").collect()) await ctx.db.delete(fault._id);
    });`,
  "notes.ts": `${PRELUDE}
    import { Conveyor } from "./src/client/index.js";
    const conveyor = new Conveyor(components.conveyor);
    const notes = conveyor.tableQueue("notes", {
      functions: () => internal.notes, index: "status", announced: true, leaseMs: 10000, maxResets: 3, shards: 1,
      columns: { state: "status", cancel: "stop", result: "result" },
      states: { pending: "new", running: "busy", succeeded: "done", failed: "bad", canceled: "stopped" },
    });
    export const { claim, complete, heartbeat, watch } = conveyor.workerApi({ queues: [notes] });
    export const { claimable, take, record: recordRow } = notes;
    export const record = internalMutation(async (ctx, end) => {
      await ctx.runMutation(internal.notes.recordRow, end);
      const { id, attempt, outcome: { status, result } } = end;
      await ctx.db.insert("told", { id, attempt, status, ...(result === undefined ? {} : { result }) });
    });
    export const insert = mutation(async (ctx, { silent = false }) => {
      const id = await ctx.db.insert("notes", { status: "new" });
      if (!silent) await notes.ping(ctx);
      return id;
    });
    export const ping = mutation(async (ctx) => await notes.ping(ctx));
    export const patch = mutation(async (ctx, { id, change }) => await ctx.db.patch(id, change));
    export const remove = mutation(async (ctx, { id, cancels = false }) => {
      if (cancels) await notes.cancelRow(ctx, id);
      await ctx.db.delete(id);
    });`,
  "lines.ts": `${PRELUDE}
    import { Conveyor } from "./src/client/index.js";
    const lines = new Conveyor(components.conveyor).tableQueue("lines", {
      functions: () => internal.lines, index: "status", loop: { rows: 2 }, columns: { state: "status" },
      states: { pending: "new", running: "busy", succeeded: "done", failed: "bad" },
    });
    export const run = lines.loop(async (ctx, { rows }) => {
      for (const { _id, times } of rows) await ctx.db.patch(_id, { times: times + 1 });
    });
    export const insert = mutation(async (ctx) => {
      const id = await ctx.db.insert("lines", { status: "new", times: 0 });
      await lines.ping(ctx);
      return id;
    });`,
};

let sound: Promise<Deployment> | undefined;

/** Without a bug it is made once for all files of a process: no test changes it. */
export async function deploymentOf(bugs: readonly Bug[]): Promise<Deployment> {
  return await (bugs.length === 0 ? (sound ??= make(bugs)) : make(bugs));
}

async function make(bugs: readonly Bug[]): Promise<Deployment> {
  const { component, plugins } = bundled([DIGEST, ...bugs]);
  return await makeDeployment({ "": APP, [COMPONENT]: component }, {}, {}, plugins);
}

/** The same deployment with a guard taken out: its schemas and its functions' arguments stay the same. */
export async function withoutGuard({ instances }: Deployment, guard: Bug): Promise<Deployment> {
  const { component, plugins } = bundled([DIGEST, guard]);
  const changed = new Map(instances);
  const namespaces: [string, Record<string, string>][] = [[COMPONENT, component]];
  // The app bundles what is around the component.
  if (plugins.length > 0) namespaces.push(["", APP]);
  for (const [namespace, sources] of namespaces) {
    const sound = instances.get(namespace)!;
    const modules = await bundle(sources, plugins);
    modules.delete("schema.js");
    changed.set(namespace, { ...sound, definition: { ...sound.definition, modules } });
  }
  return { instances: changed };
}
