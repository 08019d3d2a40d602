/** Plays seeds in slices, and records the verified ones in `verified.json`; or replays some of these slices. */
import { Coverage } from "./coverage.js";
import { writeCoveragePage } from "./coveragePage.js";
import { isFailure, replayLine, sayFailure } from "./failures.js";
import { sourcesFingerprint } from "./fingerprint.js";
import { Players } from "./players.js";
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
  for (const from of inOrder) {
    if (verified.slices.some((slice) => slice.from === from)) continue;
    const reports = await playSlice(players, from);
    if (reports === null) {
      failed += 1;
      continue;
    }
    const slice = sliceOf(reports);
    verified.slices.push(slice);
    for (const { marks } of reports) coverage.add(marks);
    verified.happened = coverage.counts();
    await writeVerified(verified);
    await writeCoveragePage(seedsIn(verified), new Coverage(happenedIn(verified)));
    console.log(sayOf(slice));
  }
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
  const reports: SeedReport[] = [];
  // The last is a large one: it begins first, beside the others.
  const seeds = Array.from({ length: SLICE }, (_, i) => from + SLICE - 1 - i);
  let hasFailed = false;
  await players.play(
    () => seeds.shift(),
    (outcome) => {
      if (isFailure(outcome)) {
        hasFailed = true;
        console.error(`${sayFailure(outcome)}\n  ${replayLine(outcome.seed)}`);
      } else if ("report" in outcome) reports.push(outcome.report);
    },
  );
  return hasFailed ? null : reports;
}

function sayOf({ from, jobs, commits, simulatedHours, digest }: Slice): string {
  return `seeds ${from} to ${from + SLICE - 1}: ${jobs} jobs, ${commits} commits, ${simulatedHours} simulated hours, ${digest}`;
}
