/** Of everything that decides how a seed goes: the same sources and the same seed give the same run. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import { root } from "../../harness/paths.js";
import { fingerprint } from "../../local/virtual/appBundle.js";

const SOURCES = ["src", "local", "package-lock.json"];
const SIMULATION = "tests/simulation";
/** What is planted, written down or tested plays no part in a seed. */
const APART = /^(mutants|fixtures|verified\.json)$|\.test\.ts$/;

export async function sourcesFingerprint(): Promise<string> {
  const names = (await readdir(path.join(root, SIMULATION))).filter((name) => !APART.test(name));
  const own = names.sort().map((name) => path.join(SIMULATION, name));
  return await fingerprint([...SOURCES, ...own].map((source) => path.join(root, source)));
}
