/** Python, for the tests of its worker: a machine without it skips them and says so, and CI fails. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./paths.js";

const runs = (code: string) => spawnSync("python3", ["-c", code]).status === 0;

const hasPython = runs("import sys; sys.exit(sys.version_info < (3, 10))");

export const pythonClient = path.join(root, "clients/python");

/** The package without an installation. */
export const pythonEnv = { PYTHONPATH: pythonClient, PYTHONDONTWRITEBYTECODE: "1" };

/** For `describe.skipIf`: whether the tests are skipped, which is said. */
export function withoutPython(): boolean {
  if (hasPython) return false;
  const why = "python3 of 3.10 or later is not here: the tests of the Python worker are skipped.";
  if (process.env["CI"]) throw new Error(why);
  console.warn(why);
  return true;
}

/** The same of a test that reads TOML, which Python does from 3.11 on; CI may have 3.10. */
export function withoutToml(): boolean {
  if (runs("import tomllib")) return false;
  console.warn("python3 of 3.11 or later is not here: the test of the recipe for Fly is skipped.");
  return true;
}
