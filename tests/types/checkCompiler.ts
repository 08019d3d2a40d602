/**
 * An app's modules with a compiler that an app may have, against the packed files. Where a directive expects an error, the
 * text of the error holds the words of the directive, which name the correction.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";

const app = path.join(import.meta.dirname, "app");
/** Copies without the directives, in which every error is printed. Beside the app, so that they find the same packages. */
const COPIES = path.join(app, ".told");
const DIRECTIVE = /^ *\/\/ @ts-expect-error (.*)$/;

interface Wanted {
  /** `file:line` of the line that is an error. */
  at: string;
  words: string;
}

/** A copy for one compiler, and the errors that its directives want. */
function told(compiler: string): { copy: string; wanted: Wanted[] } {
  const copy = path.join(COPIES, compiler);
  const wanted: Wanted[] = [];
  linkPackage(app);
  rmSync(copy, { recursive: true, force: true });
  cpSync(path.join(app, "convex/_generated"), path.join(copy, "convex/_generated"), {
    recursive: true,
  });
  copyFileSync(path.join(app, "tsconfig.json"), path.join(copy, "tsconfig.json"));
  for (const file of readdirSync(path.join(app, "convex"))) {
    if (!file.endsWith(".ts")) continue;
    const lines = readFileSync(path.join(app, "convex", file), "utf8").split("\n");
    const silenced = lines.map((line, index) => {
      const words = DIRECTIVE.exec(line)?.[1];
      if (words === undefined) return line;
      wanted.push({ at: `convex/${file}:${index + 2}`, words });
      return line.replace("@ts-expect-error", "wanted:");
    });
    mkdirSync(path.join(copy, "convex"), { recursive: true });
    writeFileSync(path.join(copy, "convex", file), silenced.join("\n"));
  }
  return { copy, wanted };
}

/** A compiler's output, by `file:line`: each error with the lines that explain it. */
async function errorsOf(compiler: string, copy: string): Promise<Map<string, string>> {
  const tsc = path.join(root, "node_modules", compiler, "bin/tsc");
  const child = spawn(process.execPath, [tsc, "-p", copy, "--pretty", "false"], { cwd: copy });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
  }
  await new Promise((resolve) => child.on("close", resolve));
  const errors = new Map<string, string>();
  let at = "";
  for (const line of printed.split("\n")) {
    const begins = /^(\S+)\((\d+),\d+\): error /.exec(line);
    if (begins !== null) at = `${begins[1]}:${begins[2]}`;
    if (line !== "") errors.set(at, `${errors.get(at) ?? ""}${line}\n`);
  }
  return errors;
}

/** Fails if a compiler of another version is there, or says anything else than the directives of the copy want. */
export async function checkCompiler(version: string, compiler: string): Promise<void> {
  const manifest = path.join(root, "node_modules", compiler, "package.json");
  expect(JSON.parse(readFileSync(manifest, "utf8"))).toMatchObject({
    version: expect.stringMatching(new RegExp(`^${version.replace(".", "\\.")}\\.`)),
  });
  const { copy, wanted } = told(compiler);
  try {
    const errors = await errorsOf(compiler, copy);
    expect([...errors.keys()].sort()).toEqual(wanted.map(({ at }) => at).sort());
    const unsaid = wanted.filter(({ at, words }) => !errors.get(at)!.includes(words));
    expect(unsaid.map(({ at, words }) => ({ at, words, said: errors.get(at) }))).toEqual([]);
    // There is a directive for each kind of mistake that types see.
    expect(wanted.length).toBeGreaterThan(35);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
