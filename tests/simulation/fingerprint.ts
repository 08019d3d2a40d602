/** Of everything that decides how a seed goes: the same sources and the same seed give the same run. */
import path from "node:path";
import { root } from "../../harness/paths.js";
import { fingerprint } from "../../local/virtual/appBundle.js";

const SOURCES = ["src", "local", "tests/simulation", "package-lock.json"];

export async function sourcesFingerprint(): Promise<string> {
  return await fingerprint(SOURCES.map((source) => path.join(root, source)));
}
