/**
 * Links the apps of tests, and builds `dist` where it is missing or a source is newer than it: imports of the package by name
 * need both.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { linkApps } from "../../tests/support/link.js";
import { root } from "../../tests/support/paths.js";
import { buildStyles } from "./styles.js";
import { buildTest } from "./testBuild.js";

export function libraryIsStale(of = root): boolean {
  const built = path.join(of, "dist/client/index.js");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return sourcesOf(of).some((source) => statSync(source).mtimeMs > builtAt);
}

function sourcesOf(of: string): string[] {
  const sources = readdirSync(path.join(of, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|css)$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => path.join(of, "src", name));
  return [...sources, path.join(of, "tsconfig.build.json"), path.join(of, "package.json")];
}

/** Compiles without emptying `dist` first: an open page, a worker or another test may be reading it. */
export const BUILD = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"];

export default async function build(): Promise<void> {
  linkApps();
  if (!libraryIsStale()) return;
  execFileSync(process.execPath, BUILD, { cwd: root, stdio: "inherit" });
  buildStyles();
  await buildTest();
}
