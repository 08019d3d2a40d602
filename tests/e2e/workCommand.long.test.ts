/** `npx convex-conveyor work` as a program, with modules that need no deployment. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { endWork, module, newFolder, work, write } from "../support/workProgram.js";

beforeEach(newFolder);
afterEach(endWork);

test("a file that is not there ends it with 2, a module that fails with 1, and both with the reason", async () => {
  expect(await work(["nowhere.mjs"]).ended).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^There is no file .*nowhere\.mjs/),
  });
  write("broken.mjs", 'throw new Error("No graphics card.");');
  const { code, output } = await work(["broken.mjs", "--processes", "1"]).ended;
  expect(code).toBe(1);
  // A line of its own. The events before it are of the other stream, which may be read later.
  expect(output).toMatch(/ended with code 1 before it was ready: No graphics card\.$/m);
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
