/**
 * `npm run bench`: Conveyor and the alternatives, in one run: the same work, the same class, virtual time. Writes
 * `results.jsonl`, `RESULTS.md` and the plots. `--smoke` only shows that it runs, and writes nothing; `--only text`
 * plays the scenarios with this text in their titles, and keeps the other lines as they were; `--rest` goes on with a
 * run that was stopped: it plays runs that have no line of this commit; `--wall` plays the worker processes alone;
 * `--report` plays nothing. For sweeps, which print and write nothing: `--case text` and `--of workpool` take less,
 * `--set LANE_WIDTH=16` plays with another constant of `src/shared/pushLimits.ts`, `--seeds 1` plays as many seeds, and
 * `--functions` prints the calls of each function, and its conflicts with their winners. With `--keep`, the lines of
 * `--case` and `--of` are kept as those of a whole run.
 */
import { parseArgs } from "node:util";
import build from "../scripts/support/build.js";
import type { Line, Task } from "./lines.js";
import { calledOf } from "./report/functions.js";
import { keep, readLines, runOf } from "./report/results.js";
import { writeReport } from "./report/page.js";
import { playProcesses } from "./processes/play.js";
import { tablesOf } from "./report/tables.js";
import { keepWall, readWall, wallOf } from "./report/wall.js";
import { playAll, tasksOf } from "./tasks.js";
import { versions } from "./versions.js";

const { values } = parseArgs({
  options: {
    smoke: { type: "boolean", default: false },
    report: { type: "boolean", default: false },
    rest: { type: "boolean", default: false },
    wall: { type: "boolean", default: false },
    functions: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    only: { type: "string" },
    case: { type: "string" },
    of: { type: "string" },
    seeds: { type: "string" },
    set: { type: "string", multiple: true, default: [] },
  },
});

if (!values.report && !values.wall) await playChosen();
// Last, when the machine is quiet.
const isWhole = values.only === undefined && (values.smoke || !isSweep());
if (values.wall || (!values.report && isWhole)) await playOnTheWall();
if (values.report || !isSweep()) await writeReport(readLines(), readWall());

/** Runs with a line of these sources. */
function playedHere(): Set<string> {
  const { conveyor } = versions();
  const lines = readLines().filter(({ settings }) => settings.versions["conveyor"] === conveyor);
  return new Set(lines.map(runOf));
}

/** Runs that are printed and not kept. */
function isSweep(): boolean {
  const takesLess = values.of !== undefined || values.case !== undefined;
  const playsOther = values.smoke || values.functions || values.set.length > 0;
  return playsOther || values.seeds !== undefined || (takesLess && !values.keep);
}

async function playOnTheWall(): Promise<void> {
  const lines = await playProcesses({ isSmoke: values.smoke });
  if (isSweep()) console.log(wallOf(lines));
  else keepWall(lines);
}

async function playChosen(): Promise<void> {
  await build();
  const constants = Object.fromEntries(
    values.set.map((one) => [one.split("=")[0]!, Number(one.split("=")[1])]),
  );
  const played = values.rest ? playedHere() : new Set<string>();
  const tasks = tasksOf({ isSmoke: values.smoke, only: values.only })
    .filter((task) => !played.has(runOf(task)))
    .filter((task) => values.of === undefined || task.of === values.of)
    .filter((task) => values.case === undefined || task.case.includes(values.case))
    .map((task) => ({
      ...task,
      withFunctions: values.functions,
      ...(values.seeds === undefined ? {} : { seeds: Number(values.seeds) }),
      ...(values.set.length === 0 ? {} : { constants }),
    }));
  if (tasks.length === 0 && !values.rest)
    throw new Error("Nothing is called that: see bench/scenarios.");
  const all = new Map<Task, Line[]>();
  let left = tasks.length;
  await playAll(tasks, (task, lines, seconds) => {
    const { scenario, case: name, of, varied } = task;
    left -= 1;
    all.set(task, lines);
    const what = varied === undefined ? "" : `, ${varied.constant} × ${varied.by}`;
    console.error(`${scenario}: ${name}, ${of}${what}: ${seconds.toFixed()} s, ${left} to go`);
    if (!isSweep()) keep(lines);
    for (const line of lines) if (values.functions) console.error(calledOf(line));
  });
  if (isSweep()) console.log(tablesOf(tasks.flatMap((task) => all.get(task)!)));
}
