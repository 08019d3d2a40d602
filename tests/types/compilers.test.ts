/**
 * An app's modules with each compiler that an app may have, against the packed files. Where a directive expects an error, the
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
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkPackage } from "../support/link.js";
import { root } from "../support/paths.js";

const COMPILERS = { "5.9": "typescript-5.9", "6.0": "typescript", "7.0": "typescript-7" };
const app = path.join(import.meta.dirname, "app");
/** A copy without the directives, in which every error is printed. Beside the app, so that it finds the same packages. */
const told = path.join(import.meta.dirname, "app/.told");
const DIRECTIVE = /^ *\/\/ @ts-expect-error (.*)$/;

interface Wanted {
  /** `file:line` of the line that is an error. */
  at: string;
  words: string;
}
const wanted: Wanted[] = [];

beforeAll(() => {
  linkPackage(app);
  rmSync(told, { recursive: true, force: true });
  cpSync(path.join(app, "convex/_generated"), path.join(told, "convex/_generated"), {
    recursive: true,
  });
  copyFileSync(path.join(app, "tsconfig.json"), path.join(told, "tsconfig.json"));
  for (const file of readdirSync(path.join(app, "convex"))) {
    if (!file.endsWith(".ts")) continue;
    const lines = readFileSync(path.join(app, "convex", file), "utf8").split("\n");
    const silenced = lines.map((line, index) => {
      const words = DIRECTIVE.exec(line)?.[1];
      if (words === undefined) return line;
      wanted.push({ at: `convex/${file}:${index + 2}`, words });
      return line.replace("@ts-expect-error", "wanted:");
    });
    mkdirSync(path.join(told, "convex"), { recursive: true });
    writeFileSync(path.join(told, "convex", file), silenced.join("\n"));
  }
});

afterAll(() => rmSync(told, { recursive: true, force: true }));

/** A compiler's output, by `file:line`: each error with the lines that explain it. */
async function errorsOf(compiler: string): Promise<Map<string, string>> {
  const tsc = path.join(root, "node_modules", compiler, "bin/tsc");
  const child = spawn(process.execPath, [tsc, "-p", told, "--pretty", "false"], { cwd: told });
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

test("there is a directive for each kind of mistake that types see", () => {
  expect(wanted.length).toBeGreaterThan(35);
});

test.concurrent.each(Object.entries(COMPILERS))(
  "TypeScript %s takes the modules, and names the correction of each mistake",
  async (version, compiler) => {
    const manifest = path.join(root, "node_modules", compiler, "package.json");
    expect(JSON.parse(readFileSync(manifest, "utf8"))).toMatchObject({
      version: expect.stringMatching(new RegExp(`^${version.replace(".", "\\.")}\\.`)),
    });
    const errors = await errorsOf(compiler);
    expect([...errors.keys()].sort()).toEqual(wanted.map(({ at }) => at).sort());
    const unsaid = wanted.filter(({ at, words }) => !errors.get(at)!.includes(words));
    expect(unsaid.map(({ at, words }) => ({ at, words, said: errors.get(at) }))).toEqual([]);
  },
  180_000,
);
