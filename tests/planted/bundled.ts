/** The component's sources, and the code around it, as they are bundled: with bugs, where some are planted. */
import type { Plugin } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";
import type { Bug } from "./change.js";
import { planted } from "./plant.js";

const COMPONENT = path.join(root, "src/component");

export interface Bundled {
  /** The component, for `makeDeployment`. */
  component: Record<string, string>;
  /** Gives the bundler the changed files outside of the component. */
  plugins: Plugin[];
  /** A file by its absolute path. */
  read: (file: string) => string;
}

export function bundled(bugs: readonly Bug[] = []): Bundled {
  const changed = planted(bugs);
  const read = (file: string) => changed.get(file) ?? readFileSync(file, "utf8");
  const around = [...changed.keys()].filter((file) => !file.startsWith(`${COMPONENT}/`));
  const plugins = around.length === 0 ? [] : [reading(around, read)];
  return { component: componentSources(read), plugins, read };
}

function reading(files: readonly string[], read: (file: string) => string): Plugin {
  return {
    name: "planted",
    setup(esbuild) {
      for (const file of files) {
        const filter = new RegExp(`^${file.replace(/[.\\/]/g, "\\$&")}$`);
        esbuild.onLoad({ filter }, () => ({ contents: read(file), loader: "ts" }));
      }
    },
  };
}

/** By path, the name of the bundler's modules. Imports from `src/shared` are bundled from their place. */
function componentSources(read: (file: string) => string): Record<string, string> {
  const names = readdirSync(COMPONENT, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !NO_MODULES.has(name),
  );
  return Object.fromEntries(
    names.map((name) => [name, importsFromRoot(name, read(path.join(COMPONENT, name)))]),
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
