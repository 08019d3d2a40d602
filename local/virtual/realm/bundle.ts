/**
 * Programs as one piece of text that can be run in a realm: bundled by esbuild, official clients included, with Node's
 * own modules asked of the realm. Kept for as long as this process lives.
 */
import { build, type BuildOptions, type Plugin } from "esbuild";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A folder from which packages are found. */
const HERE = path.dirname(fileURLToPath(import.meta.url));

/** The name under which bundled code finds the realm: nothing that a program would use. */
export const REALM_NAME = "__conveyorRealm";

const bundles = new Map<string, Promise<string>>();

/** `entry` is a file. `plugins` are asked before any file is read; their results are not kept. */
export function bundleFile(entry: string, plugins: readonly Plugin[] = []): Promise<string> {
  // As an entry, and not as something that is imported: a package may say that its imports have no effects.
  const input = { entryPoints: [path.resolve(entry)] };
  if (plugins.length > 0) return bundle(input, plugins);
  return kept(path.resolve(entry), () => bundle(input));
}

/** The text may import packages of this repository. */
export function bundleText(contents: string): Promise<string> {
  return kept(contents, () => bundle({ stdin: { contents, resolveDir: HERE, loader: "ts" } }));
}

function kept(key: string, make: () => Promise<string>): Promise<string> {
  const known = bundles.get(key);
  if (known !== undefined) return known;
  const made = make();
  bundles.set(key, made);
  // A bundle that failed may be mended and made again.
  made.catch(() => bundles.delete(key));
  return made;
}

/** An entry's exports are dropped: a function's body, which this becomes, cannot export. */
async function bundle(
  input: Pick<BuildOptions, "entryPoints" | "stdin">,
  plugins: readonly Plugin[] = [],
): Promise<string> {
  const { outputFiles } = await build({
    ...input,
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    platform: "neutral",
    mainFields: ["module", "main"],
    // Not "node": the official client then takes the realm's `WebSocket` and not a package that opens real sockets.
    conditions: ["import", "module"],
    plugins: [...plugins, builtins],
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

const NODE = /^node:|^(assert|buffer|crypto|events|fs|os|path|process|timers|url|util)(\/|$)/;

/** Node's modules come from the realm, so that waits and dice in them are the realm's. */
const builtins: Plugin = {
  name: "realm-builtins",
  setup(esbuild) {
    esbuild.onResolve({ filter: NODE }, ({ path: name }) => ({ path: name, namespace: "realm" }));
    esbuild.onLoad({ filter: /.*/, namespace: "realm" }, ({ path: name }) => ({
      contents: `module.exports = ${REALM_NAME}.builtin(${JSON.stringify(name)});`,
      loader: "js",
    }));
  },
};
