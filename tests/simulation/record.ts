/** Plays seeds in slices, and records the verified ones in `verified.json`; or replays some of these slices. */
import { Coverage } from "./coverage.js";
import { writeCoveragePage } from "./coveragePage.js";
import { isFailure, replayLine, sayFailure } from "./failures.js";
import { sourcesFingerprint } from "./fingerprint.js";
import { Players, type Outcome } from "./players.js";
import type { SeedReport } from "./seeds.js";
import {
  beginVerified,
  happenedIn,
  readVerified,
  seedsIn,
  SLICE,
  sliceOf,
  writeVerified,
  type Slice,
} from "./verified.js";

const DEFAULT_SECONDS = 40;

/**
 * Seeds 1 to `count`, a slice at a time, slices before `first` last: a stopped run goes on where it was. A slice in which a seed
 * fails is not kept; the rest is played all the same, so that all failures are known. Of these slices as many are played as
 * have `seeds` seeds.
 */
export async function recordSeeds(
  players: Players,
  count: number,
  first: number,
  seeds = Infinity,
): Promise<number> {
  const verified = await beginVerified();
  let failed = 0;
  const coverage = new Coverage(verified.happened);
  const starts = Array.from({ length: Math.ceil(count / SLICE) }, (_, n) => 1 + n * SLICE);
  const late = starts.filter((from) => from + SLICE <= first);
  const inOrder = [...starts.slice(late.length), ...late].slice(0, Math.ceil(seeds / SLICE));
  const missing = inOrder.filter((from) => !verified.slices.some((slice) => slice.from === from));
  await playSlices(players, missing, async (reports) => {
    if (reports === null) {
      failed += 1;
      return;
    }
    const slice = sliceOf(reports);
    verified.slices.push(slice);
    for (const { marks } of reports) coverage.add(marks);
    verified.happened = coverage.counts();
    await writeVerified(verified);
    await writeCoveragePage(seedsIn(verified), new Coverage(happenedIn(verified)));
    console.log(sayOf(slice));
  });
  return failed === 0 ? 0 : 1;
}

/** Slices drawn at random, until the time is over. */
export async function verifySlices(seconds: number): Promise<number> {
  const verified = await readVerified();
  if (verified === null) throw new Error("There is no verified.json: --record makes it.");
  const isSame = verified.sources === sourcesFingerprint();
  if (!isSame) {
    console.log(
      `The sources differ from commit ${verified.commit}: digests will differ, and only failures count.`,
    );
  }
  const players = new Players();
  const until = Date.now() + (seconds === Infinity ? DEFAULT_SECONDS : seconds) * 1_000;
  const slices = [...verified.slices].sort(() => Math.random() - 0.5);
  let failed = 0;
  try {
    for (const known of slices) {
      const reports = await playSlice(players, known.from);
      if (reports === null) return 1;
      const slice = sliceOf(reports);
      const agrees = slice.digest === known.digest;
      if (isSame && !agrees) failed += 1;
      console.log(`${sayOf(slice)}: ${agrees ? "the same digest" : `it was ${known.digest}`}`);
      if (Date.now() > until) break;
    }
  } finally {
    players.close();
  }
  return failed === 0 ? 0 : 1;
}

/** `null`: a seed failed. */
async function playSlice(players: Players, from: number): Promise<SeedReport[] | null> {
  let played: SeedReport[] | null = null;
  await playSlices(players, [from], (reports) => {
    played = reports;
  });
  return played;
}

/**
 * The seeds of all slices in one row: no process waits for the end of a slice. `told` receives each slice as it ends, one after
 * the other; `null`: a seed of it failed.
 */
async function playSlices(
  players: Players,
  froms: readonly number[],
  told: (reports: SeedReport[] | null) => void | Promise<void>,
): Promise<void> {
  // The last of a slice is a large one: it begins first.
  const seeds = froms.flatMap((from) =>
    Array.from({ length: SLICE }, (_, i) => from + SLICE - 1 - i),
  );
  const outcomesOf = new Map<number, Outcome[]>();
  let telling = Promise.resolve();
  await players.play(
    () => seeds.shift(),
    (outcome) => {
      if (isFailure(outcome)) {
        console.error(`${sayFailure(outcome)}\n  ${replayLine(outcome.seed)}`);
      }
      const from = outcome.seed - ((outcome.seed - 1) % SLICE);
      const outcomes = [...(outcomesOf.get(from) ?? []), outcome];
      outcomesOf.set(from, outcomes);
      if (outcomes.length < SLICE) return;
      outcomesOf.delete(from);
      const reports = outcomes.flatMap((one) => ("report" in one ? [one.report] : []));
      const whole = outcomes.some(isFailure) ? null : reports;
      telling = telling.then(() => told(whole));
    },
  );
  await telling;
}

function sayOf({ from, jobs, commits, simulatedHours, digest }: Slice): string {
  return `seeds ${from} to ${from + SLICE - 1}: ${jobs} jobs, ${commits} commits, ${simulatedHours} simulated hours, ${digest}`;
}
