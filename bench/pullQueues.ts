/**
 * `npm run bench:pull`: workers outside of Convex that serve many queues under light load, by several seeds: the table of
 * `docs/internals/choices/pull-queues.md`. `--only 12x8,30x8` plays these alone, `--seeds 8` so many of each; `--filled 1` brings jobs into so
 * many of the queues, `--places 1` lets a worker do so many at once. `--meetings` tells which function lost to which,
 * `--smoke` only shows that it runs.
 */
import { parseArgs } from "node:util";
import { markdownTable } from "markdown-table";
import build from "../scripts/support/build.js";
import type { StatsSnapshot } from "../local/stats/types.js";
import { count, type Figures } from "./figures/count.js";
import { play, type Played } from "./play.js";
import { conflictsOf, ofMany, PAIRS } from "./scenarios/workersOfManyQueues.js";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seeds: { type: "string", default: "1" },
    seconds: { type: "string", default: "40" },
    places: { type: "string", default: "8" },
    filled: { type: "string" },
    meetings: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
  },
});

interface Run {
  figures: Figures;
  played: Played;
}

await build();
const pairs = values.smoke ? [[2, 2] as const] : (chosen(values.only) ?? PAIRS);
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const lines: string[][] = [];
for (const [queues, workers] of pairs) {
  const runs: Run[] = [];
  for (const seed of seeds) {
    const one = ofMany(queues, workers, {
      seconds: values.smoke ? 3 : Number(values.seconds),
      concurrency: Number(values.places),
      ...(values.filled === undefined ? {} : { filled: Number(values.filled) }),
    });
    const played = await play("many", one, { seed });
    runs.push({ played, figures: count("many", one, played) });
  }
  const line = lineOf(`${queues} × ${workers}`, runs);
  // The whole takes minutes: finished lines are shown.
  console.error(line.join(" | "));
  lines.push(line);
  if (values.meetings) for (const { played } of runs) console.error(meetingsOf(played.stats));
}
const names = ["queues × workers", "start p50 / p95", "conflicts", "refused", "calls", "read"];
console.log(markdownTable([[...names, "KB read", "empty claims", "lost"], ...lines]));

function chosen(only: string | undefined): [number, number][] | undefined {
  return only?.split(",").map((one) => one.split("x").map(Number) as [number, number]);
}

/** Averages over the seeds; of errors and lost jobs the sum. Conflicts are a hundred jobs', of `claim` and `complete`. */
function lineOf(name: string, runs: readonly Run[]): string[] {
  const mean = (of: (run: Run) => number) =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  const sum = (of: (run: Run) => number) => runs.reduce((all, run) => all + of(run), 0);
  const whole = (of: (run: Run) => number) => String(Math.round(mean(of)));
  return [
    name,
    `${whole((run) => run.figures.startMs.p50)} / ${whole((run) => run.figures.startMs.p95)}`,
    mean(({ played }) => conflictsOf(played)).toFixed(1),
    String(sum(({ played }) => played.workers.errors.length)),
    mean((run) => run.figures.calls).toFixed(2),
    mean((run) => run.figures.documentsRead).toFixed(1),
    (mean((run) => run.figures.bytesRead) / 1_000).toFixed(1),
    mean(emptyClaims).toFixed(2),
    String(sum(({ played }) => played.lost)),
  ];
}

/** Calls of `claim` a job: one that brought nothing was in vain. */
function emptyClaims({ played: { stats, jobs } }: Run): number {
  return (stats.functions["many:claim"]?.billed ?? 0) / jobs;
}

function meetingsOf({ functions, conflicts }: StatsSnapshot): string {
  const calls = Object.entries(functions)
    .filter(([, { calls: all }]) => all > 0)
    .map(
      ([name, { billed, calls: all, cached, durationMs, conflicts: lost, errors, io }]) =>
        `  ${name}: ${billed} billed of ${all} (${cached} cached), ${Math.round(durationMs / all)} ms, ` +
        `${lost} conflicts, ${errors} errors, ${io.documentsRead} read, ${io.bytesRead} bytes`,
    );
  const meetings = conflicts.map(
    ({ loser, winner, table, count: times }) =>
      `  ${loser} lost to ${winner} in ${table}: ${times}`,
  );
  return [...calls, ...meetings].join("\n");
}
