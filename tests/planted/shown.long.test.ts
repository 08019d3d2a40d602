/** Planted bugs for which the simulation has no seed: each is refuted by a test of its own, which holds without the bug. */
import { build } from "esbuild";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { Line, mutation } from "../interleavings/line.js";
import { Transactions } from "../interleavings/transactions.js";
import { Worker } from "../interleavings/worker.js";
import { deploymentOf } from "../races/deployment.js";
import { MUTANTS } from "../simulation/mutants/all.js";
import { root } from "../support/paths.js";
import { bundled } from "./bundled.js";
import type { Bug } from "./change.js";

const SHOWN_HERE = "tests/planted/shown.long.test.ts";

const MINUTE_MS = 60_000;

async function newLine(bugs: readonly Bug[]): Promise<Line> {
  const line = new Line(new Transactions(await deploymentOf(bugs)));
  await line.open();
  return line;
}

/** By bug: a play that returns a result, and that result on the sound code. */
const SHOWN: Record<string, { sound: unknown; play: (bugs: readonly Bug[]) => Promise<unknown> }> =
  {
    "no alarm is armed for a deadline": {
      sound: "timedOut",
      async play(bugs) {
        const line = await newLine(bugs);
        const id = await line.enqueueOne({ deadlineMs: 5_000 });
        await line.pass(MINUTE_MS);
        return line.job(id).status;
      },
    },
    "a deleted job keeps its key": {
      sound: [],
      async play(bugs) {
        const line = await newLine(bugs);
        const id = await line.enqueueOne({ key: { value: "one" } });
        await line.do(mutation("operate:deleteJob", { id }));
        return line.rows("keys").map(({ key }) => key);
      },
    },
    "output that was not answered for is sent once more under new numbers": {
      sound: ["first"],
      async play(bugs) {
        const line = await newLine(bugs);
        await line.enqueue();
        const [job] = await new Worker(line, "worker").claim();
        const part = { id: job!.id, attempt: job!.attempt, index: 0, text: "first" };
        const session = { token: line.token, sessionKey: "session-worker" };
        // The reply was lost.
        for (let sent = 0; sent < 2; sent += 1)
          await line.do(mutation("lib:report", { ...session, updates: [], output: [part] }));
        return line.rows("chunks").map(({ text }) => text);
      },
    },
    "a process that was refused places never asks again": {
      sound: 3,
      play: asksOfRefused,
    },
  };

/** How often a process with a job that has no place asks, where it is refused each time. */
async function asksOfRefused(bugs: readonly Bug[]): Promise<number> {
  const { runProcess } = await processWith(bugs);
  let [now, asked] = [0, 0];
  const timers: { at: number; run: () => void }[] = [];
  const clock = {
    ...{ now: () => now, date: () => now, random: () => 0.5 },
    after: (ms: number, run: () => void) => (timers.push({ at: now + ms, run }), () => undefined),
  };
  const never = () => new Promise<never>(() => undefined);
  const ask = () => ((asked += 1), Promise.reject(new Error("Refused.")));
  const job = (id: string) => ({ job: { id, attempt: 1 }, handler: { kind: "action" } });
  const lanes = [{ lane: "lane", generation: 1, callSeq: 1, jobs: [job("a"), job("b")] }];
  const start = { process: "process", generation: 1, openedAt: 0, places: 1, lanes };
  const calls = { ask, run: never, step: never, apart: never, look: never, close: never };
  void runProcess(calls, start, { clock });
  for (; now <= 1_200; now += 100) {
    // The answers of promises come first.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const due = timers.filter(({ at }) => at <= now);
    for (const timer of due) timers.splice(timers.indexOf(timer), 1);
    for (const { run } of due) run();
  }
  return asked;
}

async function processWith(bugs: readonly Bug[]): Promise<{
  runProcess: (calls: object, start: object, options: object) => Promise<void>;
}> {
  const outfile = path.join(mkdtempSync(path.join(tmpdir(), "planted-")), "lane.mjs");
  const entryPoints = [path.join(root, "src/lane/index.ts")];
  const { plugins } = bundled(bugs);
  await build({ entryPoints, outfile, plugins, bundle: true, format: "esm", platform: "node" });
  return (await import(/* @vite-ignore */ outfile)) as Awaited<ReturnType<typeof processWith>>;
}

const meant = MUTANTS.filter(({ shownBy }) => shownBy === SHOWN_HERE);

test.each(meant)("$name: a test of its own refutes it", async (bug) => {
  const { sound, play } = SHOWN[bug.name]!;
  expect(await play([])).toEqual(sound);
  expect(await play([bug])).not.toEqual(sound);
});

test("each of them is a planted bug that names this test", () => {
  expect(meant.map(({ name }) => name).sort()).toEqual(Object.keys(SHOWN).sort());
});
