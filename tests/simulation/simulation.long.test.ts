/** More seeds of the simulation than with each test run; and every bug that is planted, in the seed that finds it first. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { CHECKERS } from "./checkers/all.js";
import { Coverage } from "./coverage.js";
import { COVERAGE_PAGE } from "./coveragePage.js";
import { isFailure, replayLine, sayFailure } from "./failures.js";
import { MUTANTS as ALL } from "./mutants/all.js";
import { WITHIN, type Mutant } from "./mutants/mutant.js";
import { readFound, tableOf, type Found } from "./mutants/found.js";
import { foundBy, without } from "./mutants/try.js";
import { FAULTS } from "./parts.js";
import { Players, type Outcome } from "./players.js";
import { happenedIn, readVerified } from "./verified.js";
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../support/paths.js";

const MUTANTS = ALL.filter(({ shownBy }) => shownBy === undefined);
/** Each bundles the component anew, and plays up to three lives. */
const PLANTED = MUTANTS.filter((_, i) => i % counts(24, 1) === 0);

const FIRST = 1_001;
/** Beside the seeds in which bugs are planted. */
const COUNT = counts(2, 4);
/** So many of the seeds in which bugs are planted are played without a bug too, in the order of the bugs. */
const UNPLANTED = counts(1, 12);

let sound: Players;
let found: Found;
beforeAll(async () => {
  sound = new Players();
  found = await readFound();
});
afterAll(() => sound.close());

test(`${COUNT} seeds keep every promise`, { timeout: 900_000 }, async () => {
  let seed = FIRST;
  const failed: string[] = [];
  await sound.play(
    () => (seed < FIRST + COUNT ? seed++ : undefined),
    (outcome) => {
      if (isFailure(outcome)) failed.push(said(outcome));
    },
  );
  expect(failed).toEqual([]);
});

describe("a bug that is planted is found", () => {
  const tried = new Map<string, Tried>();
  // On both cores: each is bundled anew.
  beforeAll(async () => {
    const left = [...PLANTED];
    const tryNext = async (): Promise<void> => {
      const [planted, sound] = [new Players([], 1), new Players([], 1)];
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        planted.plant([mutant]);
        tried.set(mutant.name, await tryOne(mutant, planted, sound));
      }
      planted.close();
      sound.close();
    };
    await Promise.all([tryNext(), tryNext()]);
  }, 900_000);

  test.for(PLANTED)("$name", (mutant) => {
    const { planted, spared, unplanted } = tried.get(mutant.name)!;
    expect(planted, "no seed is known that finds it: --mutants --write").toBeDefined();
    expect(planted!.seed).toBeLessThanOrEqual(WITHIN);
    expect(foundBy(planted!, mutant), said(planted!)).not.toBeNull();
    for (const sound of [spared, unplanted]) {
      if (sound !== undefined) expect(isFailure(sound), said(sound)).toBe(false);
    }
  });
});

interface Tried {
  /** In the seed that finds it. */
  planted?: Outcome;
  /** There, without the parts that it needs. */
  spared?: Outcome;
  /** There, of the sound code. */
  unplanted?: Outcome;
}

/** Once for parts that several bugs need: a search for seeds tries it for each. */
function isSpared({ name, needs }: Mutant): boolean {
  const same = (other: Mutant) => String(other.needs) === String(needs);
  return needs !== undefined && PLANTED.find(same)!.name === name;
}

/** Many are found in one seed: it is played once. */
const unplanted = new Map<number, Promise<Outcome>>();

async function tryOne(mutant: Mutant, players: Players, sound: Players): Promise<Tried> {
  const seed = found[mutant.name]?.seed;
  if (seed === undefined) return {};
  if (unplanted.size < UNPLANTED && !unplanted.has(seed)) unplanted.set(seed, sound.one(seed, {}));
  const known = unplanted.get(seed);
  return {
    planted: await players.one(seed, {}),
    ...(isSpared(mutant) && { spared: await players.one(seed, { cuts: without(mutant) }) }),
    ...(known !== undefined && { unplanted: await known }),
  };
}

test("every checker finds a bug that is planted, and one is planted for every fault", () => {
  const by = new Set(Object.values(found).map((find) => find.by));
  expect(CHECKERS.map(({ name }) => name).filter((name) => !by.has(name))).toEqual([]);
  const needed = new Set(MUTANTS.flatMap(({ needs = [] }) => needs));
  const left = FAULTS.map(({ name }) => name).filter((name) => !needed.has(name));
  expect(left).toEqual([]);
});

/** Events that no seed of the record has shown: it was begun anew with the sources of now, and is short. To be emptied. */
const NOT_RECORDED = [
  "quiets one",
  "loses some on standby",
  "loses the first on standby",
  "loses half",
  "loses all",
  "loses some: pause",
  "batches: a job of a batch is lost",
  "on call: a dead worker's duty is forgotten",
  "on call: old call-ups are forgotten",
];

test("all that should happen has happened in the seeds that were recorded, and the page says how often", async () => {
  const verified = await readVerified();
  const coverage = new Coverage(happenedIn(verified!));
  expect(coverage.missing().map(({ mark }) => mark)).toEqual(NOT_RECORDED);
  const page = words(readFileSync(COVERAGE_PAGE, "utf8"));
  for (const row of coverage.table().slice(2)) expect(page).toContain(words(row));
});

test("no two have one name, and the page shows the seeds that find them", () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  const page = words(readFileSync(path.join(root, "docs/internals/testing.md"), "utf8"));
  for (const row of tableOf(found).slice(2)) expect(page).toContain(words(row));
});

/** A formatter's columns are no difference. */
const words = (text: string): string => text.replace(/[\s-]+/g, " ");

function said(outcome: Outcome): string {
  return isFailure(outcome)
    ? `${sayFailure(outcome)}\n${replayLine(outcome.seed)}`
    : "nothing failed";
}
