/** The app of the simulation on the real component, bundled from the sources as they stand, with bugs where some are planted. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";
import { makeDeployment } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";
import { bundleFile } from "../../local/virtual/realm/bundle.js";
import { bundled } from "../planted/bundled.js";
import type { Bug, Change } from "../planted/change.js";

/** Under which name the app mounts the component. */
export const COMPONENT = "conveyor";

/** A world's code: the functions, and the program of its workers. */
export interface Built {
  deployment: Deployment;
  /** The deployment pushed in the middle, where it differs by more than its name. */
  next?: Deployment;
  worker: string;
}

const APP = path.join(root, "tests/simulation/app");
const WORKER = path.join(root, "tests/simulation/worker.ts");

export async function build(bugs: readonly Bug[] = []): Promise<Built> {
  const first = bugs.map((bug) => ({ ...bug, changes: bug.changes.filter(isInFirst) }));
  const built = await buildOne(first);
  if (bugs.every(({ changes }) => changes.every(isInFirst))) return built;
  return { ...built, next: (await buildOne(bugs)).deployment };
}

const isInFirst = ({ version }: Change): boolean => version === undefined;

async function buildOne(bugs: readonly Bug[]): Promise<Built> {
  const { component, plugins, read } = bundled(bugs);
  const sources = { "": appSources(read), [COMPONENT]: component };
  return {
    deployment: await makeDeployment(sources, {}, {}, plugins),
    worker: await bundleFile(WORKER, plugins),
  };
}

/** As if each were in the repository's root, from which their imports of `src` are found. */
function appSources(read: (file: string) => string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(APP).map((name) => [
      name,
      read(path.join(APP, name)).replaceAll(`"../../../src/`, `"./src/`),
    ]),
  );
}
