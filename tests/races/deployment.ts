/**
 * The real component under a tiny app, bundled from the sources as they stand, and, for the controls, with one guard
 * taken out by a replacement in their text. A replacement that finds nothing to replace throws: a control must not
 * turn into a second run of the sound component.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../harness/paths.js";
import { makeDeployment, PRELUDE } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";

/** Where the component lies in the test's deployment. */
export const COMPONENT = "conveyor";

/** A guard to take out: in this file of `src/component`, this text by that. */
export interface Replacement {
  file: string;
  text: string;
  by: string;
}

/**
 * Digests run on other threads, which no seed steers, and tokens are not what is raced here: their text stands for
 * their hash.
 */
const DIGEST: Replacement = {
  file: "tokens.ts",
  text: `await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))`,
  by: "new TextEncoder().encode(text)",
};

/** `onComplete` writes down what it is told, or throws for as long as the app is broken. */
const APP = {
  "schema.ts": `${PRELUDE}
    export default defineSchema({
      told: defineTable({ id: v.string(), attempt: v.number(), status: v.string() }),
      faults: defineTable({}),
    });`,
  "app.ts": `${PRELUDE}
    export const done = internalMutation(async (ctx, { id, attempt, outcome }) => {
      if ((await ctx.db.query("faults").first()) !== null) throw new Error("The app is broken.");
      await ctx.db.insert("told", { id, attempt, status: outcome.status });
    });
    export const handle = mutation(() => createFunctionHandle(internal.app.done));
    export const fail = mutation(async (ctx) => { await ctx.db.insert("faults", {}); });
    export const mend = mutation(async (ctx) => {
      for (const fault of await ctx.db.query("faults").collect()) await ctx.db.delete(fault._id);
    });`,
};

export async function deploymentOf(replacements: readonly Replacement[]): Promise<Deployment> {
  const files = componentSources();
  for (const { file, text, by } of [DIGEST, ...replacements]) {
    const source = files[file];
    if (source === undefined || source.split(text).length !== 2) {
      throw new Error(`The guard is not, or not once, in src/component/${file}: ${text}`);
    }
    files[file] = source.replace(text, () => by);
  }
  return await makeDeployment({ "": APP, [COMPONENT]: files });
}

/** By name, as the bundler's modules are called. What they import from `src/shared` is bundled from where it lies. */
function componentSources(): Record<string, string> {
  const folder = path.join(root, "src/component");
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "convex.config.ts",
  );
  const generated = ["_generated/api.ts", "_generated/server.ts"];
  return Object.fromEntries(
    [...names, ...generated].map((name) => [
      name,
      readFileSync(path.join(folder, name), "utf8").replaceAll(`"../shared/`, `"./src/shared/`),
    ]),
  );
}
