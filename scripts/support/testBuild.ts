/**
 * `convex-conveyor/test` as one file: with all of the component's modules in it, a suite loads them at once and not one by one.
 * The list is the folder's own, so that no module can be left out.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { root } from "../../tests/support/paths.js";

const COMPONENT = path.join(root, "src/component");

/** The component's modules, from `src/component`, without their tests. */
export function componentModules(): string[] {
  return readdirSync(COMPONENT, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".ts") && !/\.(test|d)\.ts$/.test(file))
    .sort();
}

/** In place of `src/testing/modules.ts`, which loads modules on demand. */
const inOne: Plugin = {
  name: "component's modules",
  setup(build) {
    build.onLoad({ filter: /src[\\/]testing[\\/]modules\.ts$/ }, () => {
      const files = componentModules();
      const imports = files.map(
        (file, n) => `import * as m${n} from ${JSON.stringify(path.join(COMPONENT, file))};`,
      );
      const entries = files.map((file, n) => `"../component/${file}": async () => m${n},`);
      const contents = `${imports.join("\n")}\nexport const modules = {\n${entries.join("\n")}\n};\n`;
      return { contents, loader: "ts", resolveDir: COMPONENT };
    });
  },
};

export async function buildTest(to = path.join(root, "dist/test.js")): Promise<void> {
  await build({
    entryPoints: [path.join(root, "src/test.ts")],
    outfile: to,
    ...{ bundle: true, format: "esm", packages: "external", logLevel: "warning" },
    ...{ target: "es2022", sourcemap: true },
    plugins: [inOne],
  });
}
