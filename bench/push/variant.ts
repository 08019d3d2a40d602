/**
 * The bench's apps, also with other constants than the product's: for sweeps. A copy of the built package is changed and the
 * app bundled with it, so that nothing else differs.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fingerprint, bundleApp, type AppBundle } from "../../local/virtual/appBundle.js";
import { linkPackage } from "../../tests/support/link.js";
import { root } from "../../tests/support/paths.js";
import type { Constants } from "../sides.js";

const APP = "bench/push/app";
/** The one of several queues. */
const QUEUES_APP = "bench/push/many";
/** Files of the bench that the app imports. */
const IMPORTED = ["bench/ownWork.ts", "bench/occupying.ts"];
const KEPT = path.join(root, "node_modules/.cache/conveyor/variants");
const CONSTANTS = "dist/shared/pushLimits.js";
const MOUNTS = `${QUEUES_APP}/convex/mounts.ts`;

/** The changes of a copy: a file, and its numbers by name. */
type Changes = Readonly<Record<string, Constants>>;

export function benchApp(constants: Constants): Promise<AppBundle> {
  return variantOf(APP, IMPORTED, { [CONSTANTS]: constants });
}

/** With so many workpools mounted. */
export function queuesApp(constants: Constants, mounts: number): Promise<AppBundle> {
  const mounted: Constants = mounts === 0 ? {} : { MOUNTS: mounts };
  return variantOf(QUEUES_APP, [], { [CONSTANTS]: constants, [MOUNTS]: mounted });
}

async function variantOf(
  app: string,
  files: readonly string[],
  changes: Changes,
): Promise<AppBundle> {
  const here = (name: string) => path.join(root, name);
  const inputs = ["dist", ...files];
  if (Object.values(changes).every((constants) => Object.keys(constants).length === 0)) {
    linkPackage(here(app));
    return await bundleApp(here(app), { inputs: inputs.map(here) });
  }
  const key = createHash("sha256")
    .update(await fingerprint([app, ...inputs].map(here)))
    .update(JSON.stringify(changes))
    .digest("hex")
    .slice(0, 16);
  const place = path.join(KEPT, key);
  if (!existsSync(place)) make(place, app, inputs, changes);
  return await bundleApp(path.join(place, app), { inputs: [path.join(place, "dist")] });
}

function make(place: string, app: string, inputs: readonly string[], changes: Changes): void {
  const draft = `${place}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const name of [...inputs, "package.json", `${app}/package.json`, `${app}/convex`])
    cpSync(path.join(root, name), path.join(draft, name), { recursive: true });
  for (const [name, constants] of Object.entries(changes)) {
    const file = path.join(draft, name);
    if (Object.keys(constants).length > 0)
      writeFileSync(file, changed(name, readFileSync(file, "utf8"), constants));
  }
  if (existsSync(place)) rmSync(draft, { recursive: true });
  else renameSync(draft, place);
  linkPackage(path.join(place, app), place);
}

function changed(file: string, source: string, constants: Constants): string {
  return Object.entries(constants).reduce((text, [name, value]) => {
    const line = new RegExp(`^export const ${name} = [\\d_. *]+;$`, "m");
    if (!line.test(text)) throw new Error(`There is no number ${name} in ${file}.`);
    return text.replace(line, `export const ${name} = ${value};`);
  }, source);
}
