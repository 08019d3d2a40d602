/** Checks against drift: dependencies' direction, names in the documents, exports, file sizes. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/paths.js";
import { codeOf, headerOf, importsOf, repositoryFiles } from "./support/sources.js";
import { COMPONENT_VERSION } from "../src/shared/index.js";

const files = repositoryFiles();
const sources = files.filter((file) => /\.tsx?$/.test(file) && !file.includes("/_generated/"));
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const scriptsOf = (file: string) =>
  (JSON.parse(read(file)) as { scripts: Record<string, string> }).scripts;
/** Of both packages. */
const scripts = { ...scriptsOf("package.json"), ...scriptsOf("local/package.json") };
const documents = files.filter((file) => file.endsWith(".md"));

/** By folder of `src`: the folders that it may import. */
const ALLOWED: Record<string, string[]> = {
  "src/shared": ["src/shared"],
  "src/component": ["src/component", "src/lane", "src/shared"],
  // It reports as a worker does: with the same outbox.
  "src/lane": ["src/lane", "src/worker", "src/shared"],
  // Handlers inside Convex have the same facilities as a worker's.
  "src/client": [
    "src/client",
    "src/lane",
    "src/shared",
    "src/component/_generated/component",
    "src/worker/types",
  ],
  // Another way in to the same component.
  "src/workpool": ["src/workpool", "src/client/parts", "src/shared"],
  "src/worker": ["src/worker", "src/shared"],
  // Types of a page that is a worker: the worker itself is the app's import.
  "src/react": ["src/react", "src/shared", "src/worker/events"],
  "src/dashboard": ["src/dashboard", "src/react", "src/shared"],
  "src/cli": ["src/cli", "src/worker/pool", "src/shared"],
  // A suite plays a worker by the worker's own loop.
  "src/testing": ["src/testing", "src/worker", "src/shared"],
  "src/page": ["src/page", "src/dashboard", "src/cli/config"],
};

test.each(Object.entries(ALLOWED))("%s imports only allowed folders", (folder, allowed) => {
  const wrong = sources
    .filter((file) => file.startsWith(`${folder}/`) && !/\.test\.tsx?$/.test(file))
    .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
    .filter(({ target }) => !allowed.some((prefix) => `${target}/`.startsWith(`${prefix}/`)));
  expect(wrong).toEqual([]);
});

test("COMPONENT_VERSION is the version of the package, as processes of another one take no more jobs", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  expect(COMPONENT_VERSION).toBe(version);
});

test("the local backend imports nothing from src", () => {
  const wrong = sources
    .filter((file) => file.startsWith("local/"))
    .filter((file) => importsOf(file).some((target) => target.startsWith("src/")));
  expect(wrong).toEqual([]);
});

test("nothing that ships imports tests, benchmarks, the example or the local backend", () => {
  const wrong = sources
    .filter((file) => file.startsWith("src/"))
    .filter((file) => importsOf(file).some((target) => !target.startsWith("src/")));
  expect(wrong).toEqual([]);
});

test("nothing imports the signpost at the root: the CLI would take the root for the component", () => {
  const importers = sources.filter((file) => importsOf(file).includes("convex.config"));
  expect(importers).toEqual([]);
  expect(read("convex.config.ts")).toContain("./src/component/convex.config.js");
  const manifest = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
  expect(JSON.stringify(manifest.exports)).not.toMatch(/"\.\/convex\.config\.(ts|js)"(?!:)/);
});

test("npm start loads nothing of the package before it has built it", () => {
  const loaded = new Map<string, string[]>();
  const load = (file: string): void => {
    if (loaded.has(file) || !sources.includes(file)) return;
    // No types, and nothing that is imported when it is wanted.
    const loads = /^(?:import|export)\s+(?!type\b)[^"(;]*"([^"]*)"/gm;
    const specifiers = [...codeOf(file).matchAll(loads)].map(([, specifier]) => specifier!);
    loaded.set(file, specifiers);
    for (const specifier of specifiers.filter((one) => one.startsWith(".")))
      load(path.join(path.dirname(file), specifier).replace(/\.js$/, ".ts"));
  };
  load("example/start.ts");
  expect(loaded.size).toBeGreaterThan(10);
  const early = [...loaded].filter(([, all]) =>
    all.some((specifier) => /^convex-conveyor\b/.test(specifier)),
  );
  expect(early.map(([file]) => file)).toEqual([]);
});

test("every export of the package, and its program, exists once it is built", () => {
  const { bin, exports } = JSON.parse(read("package.json")) as {
    bin: string;
    exports: Record<string, string | Record<string, string>>;
  };
  expect(read(bin)).toMatch(/^#!\/usr\/bin\/env node\n/);
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  expect(targets.filter((target) => !existsSync(path.join(root, target)))).toEqual([]);
});

test.each(documents)("%s names only scripts and files that exist", (file) => {
  const text = read(file);
  const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const linked = [...text.matchAll(/`((?:src|local|tests|bench|example|scripts|docs)\/[\w./-]+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => !existsSync(path.join(root, name)));
  expect(linked).toEqual([]);
});

/** Of both packages, as Vitest itself lists them: the projects by the file that each runs. */
const projectsOf = new Map<string, string[]>();
for (const folder of [root, path.join(root, "local")]) {
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const list = [vitest, "list", "--filesOnly", "--json"];
  const listed = execFileSync(process.execPath, list, { cwd: folder, encoding: "utf8" });
  for (const { file, projectName } of JSON.parse(listed) as {
    file: string;
    projectName: string;
  }[]) {
    const name = path.relative(root, file);
    projectsOf.set(name, [...(projectsOf.get(name) ?? []), projectName]);
  }
}

test("each test file runs in one project, and in a long one where its name says so", () => {
  const tests = sources.filter((file) => /\.test\.tsx?$/.test(file));
  expect(tests.length).toBeGreaterThan(250);
  expect([...projectsOf.keys()].sort()).toEqual([...tests].sort());
  const wrong = [...projectsOf].filter(
    ([file, projects]) =>
      projects.length !== 1 || /\.long\.test\.tsx?$/.test(file) !== projects[0]!.startsWith("long"),
  );
  expect(wrong).toEqual([]);
});

test("a source file has at most 400 lines", () => {
  const long = sources.filter((file) => read(file).split("\n").length > 401);
  expect(long).toEqual([]);
});

/** The header comment of a file, in one line. */
const header = (file: string) => headerOf(file).join(" ");

/** The tables that a file of the component writes. One that is named by a variable is one of its list of tables. */
function tablesWritten(file: string): string[] {
  const calls = codeOf(file).matchAll(/\bdb\s*\.(?:insert|patch|replace|delete)\(\s*([^,)\s]+)/g);
  const listed = /const TABLES = \[(.*?)\]/.exec(codeOf(file))?.[1] ?? "";
  const named = [...calls].flatMap(([, table]) =>
    table!.startsWith('"') ? [table!] : listed === "" ? [`${table!}?`] : listed.split(/,\s*/),
  );
  return [...new Set(named.map((table) => table.replaceAll('"', "")))];
}

const writers = sources
  .filter((file) => /^src\/component\/.*\.ts$/.test(file) && !file.endsWith(".test.ts"))
  .flatMap((file) => tablesWritten(file).map((table) => ({ file, table })));

test("each file names the tables that it writes", () => {
  expect(writers.length).toBeGreaterThan(45);
  const silent = writers.filter(({ file, table }) => !header(file).includes(`\`${table}\``));
  expect(silent).toEqual([]);
});

// Shows WP-09.
test("a file that calls itself the only writer of a table is that, but for the file that it names", () => {
  const sentence = /only writer of `(\w+)`(?:, but for `(\w+\.ts)`)?/g;
  const said = sources
    .filter((file) => file.startsWith("src/component/") && !file.endsWith(".test.ts"))
    .flatMap((file) =>
      [...header(file).matchAll(sentence)].map(([, table, but]) => ({ file, table, but })),
    );
  expect(said.map(({ table }) => table)).toEqual(expect.arrayContaining(["jobs", "attempts"]));
  for (const { file, table, but } of said) {
    const files = writers.filter((one) => one.table === table).map((one) => one.file);
    const own = writers.map((one) => one.file).filter((one) => path.basename(one) === but);
    expect(files.sort(), table).toEqual([...new Set([file, ...own])].sort());
  }
});

test("only the environment reads the clock or rolls dice in the local backend", () => {
  const wrong = sources
    .filter((file) => file.startsWith("local/") && !file.endsWith(".test.ts"))
    .filter(
      (file) =>
        !/\/fixtures\/|\/testing\.ts$|^local\/(environment|until|virtual\/clock)\.ts$/.test(file) &&
        !/^local\/(bench|conformance|crash)\//.test(file),
    )
    .filter((file) =>
      /\b(Date\.now\(\)|Math\.random\(\)|setTimeout\(|setImmediate\()/.test(codeOf(file)),
    );
  expect(wrong).toEqual([]);
});
