/**
 * The bench's app, also with other constants than the product's: for sweeps. A copy of the built package is changed and the
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
import { linkPackage } from "../../harness/link.js";
import { root } from "../../harness/paths.js";
import type { Constants } from "../sides.js";

const APP = path.join(root, "bench/push/app");
const OWN_WORK = path.join(root, "bench/ownWork.ts");
const KEPT = path.join(root, "node_modules/.cache/conveyor/variants");
const CONSTANTS = "dist/shared/pushLimits.js";

export async function benchApp(constants: Constants): Promise<AppBundle> {
  const dist = path.join(root, "dist");
  if (Object.keys(constants).length === 0) {
    linkPackage(APP);
    return await bundleApp(APP, { inputs: [dist, OWN_WORK] });
  }
  const key = createHash("sha256")
    .update(await fingerprint([dist, APP, OWN_WORK]))
    .update(JSON.stringify(constants))
    .digest("hex")
    .slice(0, 16);
  const place = path.join(KEPT, key);
  if (!existsSync(place)) make(place, constants);
  return await bundleApp(path.join(place, "bench/push/app"), {
    inputs: [path.join(place, "dist")],
  });
}

function make(place: string, constants: Constants): void {
  const draft = `${place}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const name of ["dist", "package.json", "bench/ownWork.ts", "bench/push/app/package.json"])
    cpSync(path.join(root, name), path.join(draft, name), { recursive: true });
  cpSync(path.join(APP, "convex"), path.join(draft, "bench/push/app/convex"), { recursive: true });
  const file = path.join(draft, CONSTANTS);
  writeFileSync(file, changed(readFileSync(file, "utf8"), constants));
  if (existsSync(place)) rmSync(draft, { recursive: true });
  else renameSync(draft, place);
  linkPackage(path.join(place, "bench/push/app"), place);
}

function changed(source: string, constants: Constants): string {
  return Object.entries(constants).reduce((text, [name, value]) => {
    const line = new RegExp(`^export const ${name} = [\\d_. *]+;$`, "m");
    if (!line.test(text)) throw new Error(`There is no number ${name} in ${CONSTANTS}.`);
    return text.replace(line, `export const ${name} = ${value};`);
  }, source);
}
