/** `npx convex-conveyor work` as a program, with modules that need no deployment. */
import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endWork, folder, newFolder, work, write } from "../support/workProgram.js";

beforeEach(newFolder);
afterEach(endWork);

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
  expect((await work(["worker.mjs", "--token", "cvy_cut"]).ended).code).toBe(2);
  expect((await work(["worker.mjs", "--name", "x".repeat(57)]).ended).code).toBe(2);
  expect(await work(["none.mjs"]).ended).toMatchObject({
    code: 2,
    output: expect.stringContaining("There is no file"),
  });
});

// Shows LF-40.
test("without a terminal it names what is missing, and ends with 1 and nothing written", async () => {
  const { code, output } = await work(["worker.mjs"], {}).ended;
  expect(code).toBe(1);
  expect(output).toMatch(/CONVEX_URL.*--url[^]*CONVEYOR_TOKEN.*--token/);
  expect(output).not.toContain("at ");
  expect(readdirSync(folder)).toEqual(["worker.mjs"]);
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
