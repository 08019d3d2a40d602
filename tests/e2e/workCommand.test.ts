/** `npx convex-conveyor work` as a program, with modules that need no deployment. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "../support/paths.js";
import { start, type Program } from "../support/program.js";

const MAIN = path.join(root, "dist/cli/main.js");
const GIVEN = {
  CONVEX_URL: "http://127.0.0.1:1",
  CONVEYOR_TOKEN: `cvy_0123abcd_${"0".repeat(64)}`,
};

/** A worker that is ready at once, and says a word at its start and its end. */
const module = (word: string) => `
const link = globalThis[Symbol.for("convex-conveyor/pool")];
const name = link.nameOf(undefined);
let state = "waiting";
let tell = () => {};
let end;
const ended = new Promise((resolve) => (end = resolve));
link.register({
  get status() { return { state, slots: { used: 0, had: 1 }, done: 0 }; },
  on: (_, listener) => (tell = listener),
  run: async () => {
    console.log("${word}", name, process.argv.slice(2).join(), process.env.OTHER);
    tell();
    await ended;
  },
  stop: async () => {
    if (state !== "stopped") console.log("end of", name);
    state = "stopped";
    end();
  },
  quiet() {}, resume() {},
});
`;

let folder: string;
let program: Program | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-work-"));
  write("worker.mjs", module("hello"));
});
afterEach(async () => {
  await program?.interrupt();
  program = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text);

function work(args: string[], env: Record<string, string> = GIVEN): Program {
  const none = { CONVEX_URL: "", CONVEX_SELF_HOSTED_URL: "", CONVEYOR_TOKEN: "" };
  program = start(process.execPath, [MAIN, "work", ...args], { ...none, ...env }, folder);
  return program;
}

test("--help says all flags and the exit codes, and ends with 0", async () => {
  const { code, output } = await work(["--help"]).ended;
  expect(code).toBe(0);
  for (const word of ["--processes", "--watch", "--token", ".env.local", "Exit codes: 0"])
    expect(output).toContain(word);
});

test("wrong arguments end it with 2, before anything has begun", async () => {
  expect(await work(["worker.mjs", "--proceses", "2"]).ended).toMatchObject({
    code: 2,
    output: expect.stringContaining("Unknown option '--proceses'"),
  });
  expect((await work([]).ended).code).toBe(2);
});

// Shows LF-40.
test("without a terminal it names what is missing, and ends with 1 and nothing written", async () => {
  const { code, output } = await work(["worker.mjs"], {}).ended;
  expect(code).toBe(1);
  expect(output).toMatch(/CONVEX_URL.*--url[^]*CONVEYOR_TOKEN.*--token/);
  expect(output).not.toContain("at ");
  expect(readdirSync(folder)).toEqual(["worker.mjs"]);
});

test("a file that is not there, and a module that fails, end it with 1 and the reason", async () => {
  expect(await work(["nowhere.mjs"]).ended).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^There is no file .*nowhere\.mjs/),
  });
  write("broken.mjs", 'throw new Error("No graphics card.");');
  const { code, output } = await work(["broken.mjs", "--processes", "1"]).ended;
  expect(code).toBe(1);
  expect(output).toMatch(/ended with code 1 before it was ready: No graphics card\.\n$/);
});

// Shows M1.
test("a line for each process, arguments and .env.local for its module, and Ctrl-C ends all with 0", async () => {
  write(".env.local", "OTHER=from-the-file\n");
  const args = ["worker.mjs", "--processes", "2", "--name", "gpu", "--", "fast", "loud"];
  const running = work(args);
  for (const id of [1, 2]) {
    await running.prints(new RegExp(`hello gpu:${id} fast,loud from-the-file`), 30_000);
    await running.prints(
      new RegExp(`gpu:${id} \\(pid \\d+\\) waiting, 0/1 slots, 0 done, \\d+ MB`),
      30_000,
    );
  }
  expect(await running.interrupt()).toBe(0);
  const { output } = await running.ended;
  expect(output.match(/end of gpu:\d/g)!.sort()).toEqual(["end of gpu:1", "end of gpu:2"]);
  expect(output.match(/gpu:\d has ended \(stopped, code 0\)/g)).toHaveLength(2);
});

test("SIGTERM to the command alone, as from Docker, ends its processes too", async () => {
  const running = work(["worker.mjs", "--processes", "2", "--name", "gpu"]);
  await Promise.all([1, 2].map((id) => running.prints(new RegExp(`hello gpu:${id}`), 30_000)));
  running.kill("SIGTERM");
  const { code, output } = await running.ended;
  expect(code).toBe(0);
  expect(output.match(/end of gpu:\d/g)).toHaveLength(2);
});

test("when the command is killed, its processes stop by themselves", async () => {
  const running = work(["worker.mjs", "--processes", "2", "--name", "gpu"]);
  await Promise.all([1, 2].map((id) => running.prints(new RegExp(`hello gpu:${id}`), 30_000)));
  running.kill("SIGKILL");
  // Its output is closed when the last of its processes has gone.
  const { output } = await running.ended;
  expect(output.match(/end of gpu:\d/g)).toHaveLength(2);
});

test("--watch: a change restarts the processes, a broken one leaves them, and the next one mends it", async () => {
  const running = work(["worker.mjs", "--processes", "2", "--name", "gpu", "--watch"]);
  await Promise.all([1, 2].map((id) => running.prints(new RegExp(`gpu:${id} \\(pid`), 30_000)));
  write("worker.mjs", module("changed"));
  await running.prints(/worker\.mjs has changed/, 30_000);
  await Promise.all([3, 4].map((id) => running.prints(new RegExp(`changed gpu:${id}`), 30_000)));
  await Promise.all([1, 2].map((id) => running.prints(new RegExp(`end of gpu:${id}`), 30_000)));
  write("worker.mjs", "throw new Error('half a thought');");
  await running.prints(/rolling restart has ended, and the old processes go on.*half a/, 30_000);
  write("worker.mjs", module("mended"));
  await Promise.all([3, 4].map((id) => running.prints(new RegExp(`end of gpu:${id}`), 30_000)));
  await running.prints(/mended gpu:7/, 30_000);
  expect(await running.interrupt()).toBe(0);
}, 120_000);

test("--watch: a module that is broken from the start is run when it is mended", async () => {
  write("worker.mjs", "throw new Error('half a thought');");
  const running = work(["worker.mjs", "--processes", "1", "--name", "gpu", "--watch"]);
  await running.prints(/another process takes the place/, 30_000);
  write("worker.mjs", module("mended"));
  await running.prints(/mended gpu:/, 30_000);
}, 120_000);
