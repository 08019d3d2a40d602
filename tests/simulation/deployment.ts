/**
 * The app of the simulation on the real component, bundled from the sources as they stand; and, for mutants, with a piece
 * of them replaced while they are bundled. The product's own files are never touched. A replacement that finds nothing to
 * replace, or more than one place, throws: a mutant must not turn into a second run of the sound code.
 */
import type { Plugin } from "esbuild";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";
import { makeDeployment } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";
import { bundleFile } from "../../local/virtual/realm/bundle.js";
import { componentSources } from "../races/deployment.js";

/** Under which name the app mounts the component. */
export const COMPONENT = "conveyor";

/** In this file of `src`, this text, which is there once, by that. */
export interface Replacement {
  file: string;
  text: string;
  by: string;
  /** It is so in the version that is pushed in the middle, and not in the first. Defaults to both. */
  version?: "next";
}

/** A world's code: the functions, and the program of its workers. */
export interface Built {
  deployment: Deployment;
  /** The deployment pushed in the middle, where it differs by more than its name. */
  next?: Deployment;
  worker: string;
}

const SRC = path.join(root, "src");
const APP = path.join(root, "tests/simulation/app");
const WORKER = path.join(root, "tests/simulation/worker.ts");
const COMPONENT_FOLDER = "component/";

export async function build(replacements: readonly Replacement[] = []): Promise<Built> {
  const first = replacements.filter(({ version }) => version === undefined);
  const built = await buildOne(first);
  if (first.length === replacements.length) return built;
  return { ...built, next: (await buildOne(replacements)).deployment };
}

async function buildOne(replacements: readonly Replacement[]): Promise<Built> {
  const inComponent = replacements.filter(({ file }) => file.startsWith(COMPONENT_FOLDER));
  const elsewhere = replacements.filter((one) => !inComponent.includes(one));
  const plugins = elsewhere.length === 0 ? [] : [replacing(elsewhere)];
  const component = componentSources();
  for (const { file, text, by } of inComponent) {
    const name = file.slice(COMPONENT_FOLDER.length);
    component[name] = replaced(component[name], { file, text, by });
  }
  return {
    deployment: await makeDeployment(
      { "": appSources(elsewhere), [COMPONENT]: component },
      {},
      {},
      plugins,
    ),
    worker: await bundleFile(WORKER, plugins),
  };
}

/** As if each were in the repository's root, from which their imports of `src` are found. */
function appSources(replacements: readonly Replacement[]): Record<string, string> {
  return Object.fromEntries(
    readdirSync(APP).map((name) => {
      const source = edited(path.join(APP, name), replacements);
      return [name, source.replaceAll(`"../../../src/`, `"./src/`)];
    }),
  );
}

function replacing(replacements: readonly Replacement[]): Plugin {
  return {
    name: "replacing",
    setup(esbuild) {
      for (const file of new Set(replacements.map((one) => path.join(SRC, one.file)))) {
        const filter = new RegExp(`${file.replace(/[.\\/]/g, "\\$&")}$`);
        esbuild.onLoad({ filter }, () => ({
          contents: edited(file, replacements),
          loader: "ts",
        }));
      }
    },
  };
}

function edited(file: string, replacements: readonly Replacement[]): string {
  return replacements
    .filter((one) => path.join(SRC, one.file) === file)
    .reduce((source, one) => replaced(source, one), readFileSync(file, "utf8"));
}

function replaced(source: string | undefined, { file, text, by }: Replacement): string {
  if (source === undefined || source.split(text).length !== 2) {
    throw new Error(`This text is not, or not once, in src/${file}: ${text}`);
  }
  return source.replace(text, () => by);
}
