/** `npm run simulate`: plays seeds on all cores, and prints their results. */
import { isFailure, replayLine, sayFailure, shrinkFailure, writeTrace } from "./failures.js";
import { Coverage } from "./coverage.js";
import { mutantNamed, tryMutants } from "./mutants/try.js";
import { ownHandlers } from "./ownHandlers.js";
import { readOptions, USAGE, type Options } from "./options.js";
import { Players, type Outcome } from "./players.js";
import { recordSeeds, verifySlices } from "./record.js";
import type { Bug } from "../planted/change.js";

const MS = 1_000;
/** More than these failures are counted, not shown. */
const SHOWN = 5;
const SEEDS_BELOW = 2 ** 31;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  if (options.mutants) return await tryMutants({ writes: options.write, only: options.only });
  if (options.verify) return await verifySlices(options.seconds);
  const players = new Players(plantedIn(options));
  try {
    const { record, from, seeds } = options;
    if (record !== null) return await recordSeeds(players, record, from ?? 1, seeds);
    if (options.seed !== null) return await replay(players, options.seed, options);
    return await simulate(players, options);
  } finally {
    players.close();
  }
}

function plantedIn({ mutant, handlers }: Options): Bug[] {
  return [
    ...(mutant === null ? [] : [mutantNamed(mutant)]),
    ...(handlers === null ? [] : [ownHandlers(handlers)]),
  ];
}

/** One seed, with its trace. */
async function replay(players: Players, seed: number, options: Options): Promise<number> {
  const outcome = await players.one(seed, { cuts: options.cuts, traces: true });
  if ("error" in outcome) {
    console.error(sayFailure(outcome));
    return 1;
  }
  const file = await writeTrace(outcome.report, options);
  const { jobs, commits, simulatedMs, digest, violations } = outcome.report;
  console.log(
    `seed ${seed}: ${jobs} jobs, ${commits} commits, ${(simulatedMs / MS).toFixed()} simulated seconds, digest ${digest}`,
  );
  console.log(`Its trace is in ${file}.`);
  if (violations.length === 0) return 0;
  console.error(sayFailure(outcome));
  return 1;
}

async function simulate(players: Players, options: Options): Promise<number> {
  const { mutant, handlers } = options;
  const coverage = new Coverage();
  const total = { seeds: 0, jobs: 0, commits: 0, simulatedMs: 0 };
  const failures: Outcome[] = [];
  const begun = Date.now();
  let seed = options.from ?? Math.floor(Math.random() * SEEDS_BELOW);
  const last = seed + options.seeds;
  console.log(`Seeds from ${seed} on.`);
  await players.play(
    () => {
      const isOver = Date.now() - begun > options.seconds * MS || failures.length >= SHOWN;
      return seed < last && !isOver ? seed++ : undefined;
    },
    (outcome) => {
      total.seeds += 1;
      if ("report" in outcome) {
        coverage.add(outcome.report.marks);
        total.jobs += outcome.report.jobs;
        total.commits += outcome.report.commits;
        total.simulatedMs += outcome.report.simulatedMs;
      }
      if (isFailure(outcome)) {
        failures.push(outcome);
        console.error(
          `\n${sayFailure(outcome)}\n  ${replayLine(outcome.seed, { mutant, handlers })}`,
        );
      }
    },
  );
  const hours = total.simulatedMs / 3_600_000;
  const seconds = (Date.now() - begun) / MS;
  console.log(
    `\n${total.seeds} seeds in ${seconds.toFixed()} s: ${hours.toFixed(1)} simulated hours, ${total.jobs} jobs, ${total.commits} commits; ${failures.length} failed.`,
  );
  if (options.coverage) console.log(coverage.table().join("\n"));
  const missing = coverage.missing();
  if (missing.length > 0) {
    console.log(`In none of them (the fewer the seeds, the more):`);
    for (const { of, what } of missing) console.log(`  ${of}: ${what}`);
  }
  const first = failures.find((outcome) => "report" in outcome);
  if (first !== undefined && "report" in first) await explain(players, first.report.seed, options);
  return failures.length === 0 ? 0 : 1;
}

/** Shrinks the plan, and writes the trace of the smaller one. */
async function explain(players: Players, seed: number, options: Options): Promise<void> {
  const whole = await players.one(seed, {});
  if ("error" in whole || whole.report.violations.length === 0) return;
  console.log(`\nMaking seed ${seed} smaller …`);
  const cuts = await shrinkFailure(players, whole.report);
  const smaller = await players.one(seed, { cuts, traces: true });
  if ("error" in smaller) return;
  console.log(sayFailure(smaller));
  console.log(`  ${replayLine(seed, { ...options, cuts })}`);
  console.log(`  Its trace is in ${await writeTrace(smaller.report, { ...options, cuts })}.`);
}

process.exitCode = await main();
process.exit();
