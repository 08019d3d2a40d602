/** Of everything that decides how a seed goes: the same sources and the same seed give the same run. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";

const FOLDERS = ["src", "local", "tests/simulation"];
/**
 * Planted bugs, records, the command line and tests play no part in a seed, nor do screens, documents, generated files and
 * leftovers of tools.
 */
const APART =
  /^src\/(cli|dashboard|page|react)\/|^tests\/simulation\/((mutants|fixtures)\/|verified|record|coveragePage|main|options|players|failures|shrink)|(^|\/)(\.[^/]*$|(node_modules|_generated)\/)|\.test\.tsx?$|\.md$/;

export function sourcesFingerprint(): string {
  const hash = createHash("sha256");
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  );
  for (const file of [...files, "package-lock.json"].sort()) {
    if (APART.test(file)) continue;
    const contents = readFileSync(path.join(root, file));
    hash.update(`${file}\0${contents.length}\0`).update(contents);
  }
  return hash.digest("hex").slice(0, 32);
}
