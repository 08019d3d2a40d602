/** Which sources, and which packages, a figure is of. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../tests/support/paths.js";

const PACKAGES = ["convex", "@convex-dev/workpool"];

let known: Record<string, string> | undefined;

export function versions(): Record<string, string> {
  return (known ??= {
    conveyor: `${versionOf(".")} at ${commit()}`,
    ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(`node_modules/${name}`)])),
    node: process.versions.node,
  });
}

function versionOf(folder: string): string {
  const text = readFileSync(path.join(root, folder, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** The files that a run writes, which change nothing of the next. */
const WRITTEN = ["*.jsonl", "*.md", "plots"].map((one) => `:(exclude)bench/${one}`);

/** With a mark where something has changed since. */
function commit(): string {
  try {
    const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
    const played = ["src", "local", "bench", "package-lock.json", ...WRITTEN];
    const changed = git("status", "--porcelain", "--", ...played) !== "";
    return git("rev-parse", "--short", "HEAD").trim() + (changed ? " and changes" : "");
  } catch {
    return "no commit";
  }
}
