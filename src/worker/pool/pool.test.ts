/** The options of a pool, and a process in one line. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { poolLine, processLine } from "./line.js";
import type { PoolOptions } from "./options.js";
import { WorkerPool } from "./pool.js";

const file = fileURLToPath(import.meta.url);

test.each<[string, Partial<PoolOptions>, RegExp]>([
  ["no file", { file: "" }, /`file` is missing/],
  ["no process", { processes: 0 }, /processes must be a whole number from 1 to 256; got 0/],
  ["too many", { processes: 257 }, /got 257/],
  ["half a process", { processes: 1.5 }, /got 1.5/],
  ["a blank name", { name: " " }, /name of a pool must be 1 to 56 characters/],
  ["a long name", { name: "x".repeat(57) }, /of 57 characters/],
  ["a negative grace", { graceMs: -1 }, /graceMs .* got -1/],
  ["checks without a pause", { checkMs: 10 }, /checkMs must be a whole number from 100/],
  ["silence shorter than a check", { checkMs: 5_000, silentMs: 1_000 }, /silentMs .* from 5000/],
  ["memory in megabytes", { maxMemoryBytes: 512 }, /maxMemoryBytes .* got 512/],
  ["tries without end", { startTries: Infinity }, /startTries .* got Infinity/],
])("a pool with %s is refused, and the rule said", (_, options, rule) => {
  expect(() => new WorkerPool({ file, ...options })).toThrow(rule);
});

test("a pool without a name has the host's and its process, with room for the numbers of processes", () => {
  const { name } = new WorkerPool({ file });
  expect(name).toMatch(new RegExp(`:${process.pid}$`));
  expect(name.length).toBeLessThanOrEqual(56);
});

// Shows CR-09.
test("a pool whose options name no number has four processes", async () => {
  // They end at once, and load no module.
  const script = new URL("../../../eslint.config.js", import.meta.url);
  const pool = new WorkerPool({
    ...{ file: script, execArgv: ["--eval", "0"], handleSignals: false, onEvent: () => {} },
  });
  const running = pool.run();
  expect(pool.processes).toHaveLength(4);
  await pool.stop({ graceMs: 0 });
  await running;
});

test("a pool that is stopped before it has run starts nothing", async () => {
  const pool = new WorkerPool({ file, handleSignals: false });
  await pool.stop();
  await pool.run();
  expect(pool.processes).toEqual([]);
  await expect(pool.resize(0)).rejects.toThrow(/got 0/);
  await expect(pool.stop({ graceMs: 0.5 })).rejects.toThrow(/got 0.5/);
});

test("a process is a line: its name, state, slots, jobs and memory", () => {
  const status = {
    ...{ id: 3, name: "gpu-1:3", pid: 4711, state: "working" as const, isQuiet: true },
    ...{ slots: { used: 2, had: 4 }, done: 18, memoryBytes: 142e6, startedAt: 0 },
  };
  expect(processLine(status)).toBe("gpu-1:3 (pid 4711) working, quiet, 2/4 slots, 18 done, 142 MB");
});

test("an end says how, why, and what the process has told", () => {
  const of = { id: 3, name: "gpu-1:3", pid: 4711 };
  const end = { kind: "ended" as const, reason: "crashed" as const, ...of };
  expect(poolLine({ ...end, code: 1, signal: null, error: "No memory." })).toBe(
    "gpu-1:3 has ended (crashed, code 1): No memory.",
  );
  expect(poolLine({ ...end, code: null, signal: "SIGKILL" })).toBe(
    "gpu-1:3 has ended (crashed, SIGKILL)",
  );
  expect(poolLine({ kind: "started", ...of })).toBeNull();
});
