/** `npx convex-conveyor work` as a program in a folder of its own, with modules that need no deployment. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { root } from "./paths.js";
import { start, type Program } from "./program.js";

const MAIN = path.join(root, "dist/cli/main.js");
const GIVEN = {
  CONVEX_URL: "http://127.0.0.1:1",
  CONVEYOR_TOKEN: `cvy_0123abcd_${"0".repeat(64)}`,
};

/** A worker that is ready at once, and says a word at its start and its end. */
export const module = (word: string) => `
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

export let folder: string;
let program: Program | undefined;

/** Before each test: a folder with `worker.mjs`. */
export function newFolder(): void {
  folder = mkdtempSync(path.join(tmpdir(), "conveyor-work-"));
  write("worker.mjs", module("hello"));
}

/** After each test. */
export async function endWork(): Promise<void> {
  await program?.interrupt();
  program = undefined;
  rmSync(folder, { recursive: true, force: true });
}

export const write = (file: string, text: string) => writeFileSync(path.join(folder, file), text);

/** The command with these arguments. */
export function work(args: string[], env: Record<string, string> = GIVEN): Program {
  const none = { CONVEX_URL: "", CONVEX_SELF_HOSTED_URL: "", CONVEYOR_TOKEN: "" };
  program = start(process.execPath, [MAIN, "work", ...args], { ...none, ...env }, folder);
  return program;
}
