/**
 * The real component under a tiny app, bundled from the sources as they stand, and, for the controls, with one guard
 * taken out by a replacement in their text. A replacement that finds nothing to replace throws: a control must not
 * turn into a second run of the sound component.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";
import { bundle, makeDeployment, PRELUDE } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";

/** Where the component lies in the test's deployment. */
export const COMPONENT = "conveyor";

/** A guard to take out: in this file of `src/component`, this text by that. */
export interface Replacement {
  file: string;
  text: string;
  by: string;
}

/** Digests run on other threads, which no seed steers, and tokens are not under test here: their text stands for their hash. */
const DIGEST: Replacement = {
  file: "rows/tokens.ts",
  text: `await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))`,
  by: "new TextEncoder().encode(text)",
};

/** `onComplete` inserts its arguments, or throws for as long as the app is broken. The handler does nothing. */
const APP = {
  "schema.ts": `${PRELUDE}
    export default defineSchema({
      told: defineTable({ id: v.string(), attempt: v.number(), status: v.string(), result: v.optional(v.any()) }),
      faults: defineTable({}),
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
    export const mend = mutation(async (ctx) => {
      for (const fault of await ctx.db.query("faults").collect()) await ctx.db.delete(fault._id);
    });`,
};

export async function deploymentOf(replacements: readonly Replacement[]): Promise<Deployment> {
  return await makeDeployment({ "": APP, [COMPONENT]: componentWithout(replacements) });
}

/** The same deployment with guards taken out: its schema and its functions' arguments stay the same. */
export async function withoutGuards(
  { instances }: Deployment,
  replacements: readonly Replacement[],
): Promise<Deployment> {
  const sound = instances.get(COMPONENT)!;
  const modules = await bundle(componentWithout(replacements));
  modules.delete("schema.js");
  const definition = { ...sound.definition, modules };
  return { instances: new Map(instances).set(COMPONENT, { ...sound, definition }) };
}

function componentWithout(replacements: readonly Replacement[]): Record<string, string> {
  const files = componentSources();
  for (const { file, text, by } of [DIGEST, ...replacements]) {
    const source = files[file];
    if (source === undefined || source.split(text).length !== 2) {
      throw new Error(`The guard is not, or not once, in src/component/${file}: ${text}`);
    }
    files[file] = source.replace(text, () => by);
  }
  return files;
}

/** By path, the name of the bundler's modules. Imports from `src/shared` are bundled from their place. */
export function componentSources(): Record<string, string> {
  const folder = path.join(root, "src/component");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !NO_MODULES.has(name),
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      importsFromRoot(name, readFileSync(path.join(folder, name), "utf8")),
    ]),
  );
}

const NO_MODULES = new Set([
  "convex.config.ts",
  ...["component.ts", "dataModel.ts"].map((name) => `_generated/${name}`),
]);

/** An import is named from the component's folder on, for any importing file, or from the repository's root. */
function importsFromRoot(name: string, source: string): string {
  return source.replace(/(from\s+)"(\.[^"]*)"/g, (_, from: string, target: string) => {
    const resolved = path.join(path.dirname(name), target);
    return `${from}"./${resolved.replace(/^\.\.\//, "src/")}"`;
  });
}
