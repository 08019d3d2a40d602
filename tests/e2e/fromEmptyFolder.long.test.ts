/**
 * `npx convex-conveyor work` from an empty folder to the first job: the packed package, the files of the README, and a terminal
 * at which the token is typed. Each step is printed with its time.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBackend, type Backend } from "../../local/backend.js";
import { convex, push } from "../../local/convexCli.js";
import { counts } from "../../local/counts.js";
import { root } from "../support/paths.js";
import { start, type Program } from "../support/program.js";
import { withoutPython } from "../support/python.js";

const run = promisify(execFile);

/** Gives its program a terminal of its own. */
const TERMINAL =
  "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/** Of a step: no claim is made about its time. */
const LIMIT_MS = 5 * 60_000;
/** Ctrl-C, at a terminal. */
const INTERRUPT = "\x03";

let folder: string;
let backend: Backend;
let program: Program | undefined;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-empty-"));
  backend = await startBackend({ port: 0, quiet: true });
});
afterEach(() => program?.interrupt());
afterAll(async () => {
  await backend?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

let all = 0;

function print(step: string, ms: number): void {
  process.stdout.write(`${(ms / 1_000).toFixed(2).padStart(7)} s  ${step}\n`);
}

async function timed<Result>(step: string, take: () => Promise<Result>): Promise<Result> {
  const from = performance.now();
  const result = await take();
  const ms = performance.now() - from;
  all += ms;
  print(step, ms);
  return result;
}

/** A file as the README has it. */
function fromReadme(file: string): void {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const fence = readme.split("```ts\n").find((block) => block.startsWith(`// ${file}\n`))!;
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), fence.slice(0, fence.indexOf("```")));
}

const npm = (...args: string[]) => run("npm", args, { cwd: folder, timeout: LIMIT_MS });

/** It packs and installs the package, which takes minutes: in `npm run test:deep` alone. */
const isDeep = counts(false, true);

// Shows LF-40.
test.skipIf(!isDeep || withoutPython())(
  "from an empty folder to the first job: the package is installed, the token typed, and the job done",
  async () => {
    const tarball = await timed("npm pack (of this repository)", async () => {
      const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", tmpdir()];
      const { stdout } = await run("npm", pack, { cwd: root });
      return path.join(tmpdir(), stdout.trim().split("\n").at(-1)!);
    });
    try {
      await timed("npm init", () => npm("init", "-y"));
      await timed("npm install convex convex-conveyor tsx", () =>
        npm("install", "--prefer-offline", "--no-audit", "--no-fund", "convex", tarball, "tsx"),
      );
      await npm("pkg", "set", "type=module");
    } finally {
      rmSync(tarball);
    }
    for (const file of ["convex/convex.config.ts", "convex/conveyor.ts", "convex/squares.ts"])
      fromReadme(file);
    fromReadme("squares.worker.ts");
    await timed("npx convex dev --once", () => push(folder, backend));
    const token = await timed("make a token", async () => {
      const make = ["run", "--component", "conveyor", "operate:createToken"];
      const asked = '{"name":"laptop","queues":["squares"]}';
      return (JSON.parse(await convex(folder, [...make, asked], backend)) as { token: string })
        .token;
    });
    await timed("npx convex-conveyor work, the token typed, a process ready", async () => {
      const work = ["npx", "convex-conveyor", "work", "squares.worker.ts", "--processes", "2"];
      const none = { CONVEX_URL: "", CONVEX_SELF_HOSTED_URL: "", CONVEYOR_TOKEN: "" };
      program = start("python3", ["-c", TERMINAL, ...work, "--name", "first"], none, folder);
      // `npx convex dev` has written the address.
      await program.prints(/Token of the workers/, LIMIT_MS);
      program.types(token);
      await program.prints(/Written to \.env\.local/, LIMIT_MS);
      await program.prints(/first:\d \(pid \d+\) waiting, 0\/1 slots, 0 done/, LIMIT_MS);
    });
    const id = await timed("npx convex run squares:add", async () => {
      const added = await convex(folder, ["run", "squares:add", '{"n": 12}'], backend);
      return JSON.parse(added) as string;
    });
    await timed("the job is in a handler", () =>
      program!.prints(new RegExp(`squares ${id} \\(attempt 1\\): Squaring`), LIMIT_MS),
    );
    // The process ends when the outcome is recorded.
    const { output } = await timed("Ctrl-C", () => {
      program!.types(INTERRUPT);
      return program!.ended;
    });
    expect(output).not.toContain(token.slice(4));
    expect(output.match(/first:\d has ended \(stopped, code 0\)/g)).toHaveLength(2);
    const jobs: unknown[] = [];
    const scan = { table: "jobs", index: "by_id", range: [], order: "asc" as const };
    for await (const row of backend.database.begin().stream("conveyor", scan)) jobs.push(row);
    expect(jobs).toMatchObject([{ _id: id, status: "succeeded" }]);
    const written = readFileSync(path.join(folder, ".env.local"), "utf8");
    expect(written.endsWith(`\nCONVEYOR_TOKEN=${token}\n`)).toBe(true);
    print("all", all);
  },
  20 * 60_000,
);
