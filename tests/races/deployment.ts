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

/** `onComplete` inserts its arguments, or throws for as long as the app is broken. The handler does nothing. */
const APP = {
  "schema.ts": `${PRELUDE}
    export default defineSchema({
      told: defineTable({ id: v.string(), attempt: v.number(), status: v.string(), result: v.optional(v.any()) }),
      faults: defineTable({}),
      members: defineTable({ group: v.string() }),
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
    export const enqueuesTwice = mutation(async (ctx, { queue }) => {
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
};

export async function deploymentOf(bugs: readonly Bug[]): Promise<Deployment> {
  const { component, plugins } = bundled([DIGEST, ...bugs]);
  return await makeDeployment({ "": APP, [COMPONENT]: component }, {}, {}, plugins);
}

/** The same deployment with a guard taken out: its schema and its functions' arguments stay the same. */
export async function withoutGuard({ instances }: Deployment, guard: Bug): Promise<Deployment> {
  const sound = instances.get(COMPONENT)!;
  const { component, plugins } = bundled([DIGEST, guard]);
  const modules = await bundle(component, plugins);
  modules.delete("schema.js");
  const definition = { ...sound.definition, modules };
  return { instances: new Map(instances).set(COMPONENT, { ...sound, definition }) };
}
