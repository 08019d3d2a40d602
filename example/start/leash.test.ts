import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { typescript } from "./repository.js";

test("a program with a dead starter stops as if asked to, so a killed starter leaves nothing behind", async () => {
  // The arguments up to the program's path load the leash; this test runs a text instead.
  const preloads = typescript("").slice(0, -1);
  const text = `
    process.on("SIGTERM", () => { console.log("asked to stop"); process.exit(0); });
    console.log("up"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, [...preloads, "--input-type=module", "--eval", text], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const heard: string[] = [];
  lines.on("line", (line) => {
    heard.push(line);
    // As when the process at the pipe's other end dies.
    if (line === "up") child.stdin.destroy();
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(heard).toEqual(["up", "asked to stop"]);
  expect(code).toBe(0);
});

test("the leash is no reason to live: a program with nothing left to do ends", async () => {
  const preloads = typescript("").slice(0, -1);
  const child = spawn(process.execPath, [...preloads, "--input-type=module", "--eval", ""], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
});
