/** Workers of any language: the Python worker by its own tests. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { pythonClient, pythonEnv, withoutPython } from "../support/python.js";
describe.skipIf(withoutPython())("the Python worker", () => {
  // Shows C13.
  test("passes its own tests, with the standard library alone", () => {
    const unittest = ["-W", "error", "-m", "unittest", "discover", "-s", "tests", "-t", "."];
    const run = spawnSync("python3", unittest, {
      cwd: pythonClient,
      env: { ...process.env, ...pythonEnv },
      encoding: "utf8",
    });
    expect(run.stderr).toMatch(/^Ran (3[5-9]|[4-9]\d) tests[\s\S]*^OK$/m);
  });
});
