/** More seeds of the simulation than with each test run; and every bug that is planted, in the seed that finds it first. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHECKERS } from "../simulation/checkers/all.js";
import { Coverage } from "../simulation/coverage.js";
import { COVERAGE_PAGE } from "../simulation/coveragePage.js";
import { isFailure, replayLine, sayFailure } from "../simulation/failures.js";
import { MUTANTS } from "../simulation/mutants/all.js";
import { WITHIN } from "../simulation/mutants/mutant.js";
import { PLANTED, readFound, tableOf, type Found } from "../simulation/mutants/found.js";
import { foundBy, without } from "../simulation/mutants/try.js";
import { FAULTS } from "../simulation/parts.js";
import { Players, type Outcome } from "../simulation/players.js";
import { readVerified } from "../simulation/verified.js";
import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../../harness/paths.js";

const FIRST = 1_001;
const COUNT = 100;

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
  test.for(PLANTED)("$name", { timeout: 180_000 }, async (mutant) => {
    const find = found[mutant.name];
    expect(find, "no seed is known that finds it: --mutants --write").toBeDefined();
    const { seed } = find!;
    expect(seed).toBeLessThanOrEqual(WITHIN);
    const planted = new Players(mutant.replace, 1);
    try {
      const outcome = await planted.one(seed, {});
      expect(foundBy(outcome, mutant), said(outcome)).not.toBeNull();
      if (mutant.needs !== undefined) {
        const spared = await planted.one(seed, { cuts: without(mutant) });
        expect(isFailure(spared), said(spared)).toBe(false);
      }
    } finally {
      planted.close();
    }
    const unplanted = await sound.one(seed, {});
    expect(isFailure(unplanted), said(unplanted)).toBe(false);
  });
});

test("every checker finds a bug that is planted, and one is planted for every fault", () => {
  const by = new Set(Object.values(found).map((find) => find.by));
  expect(CHECKERS.map(({ name }) => name).filter((name) => !by.has(name))).toEqual([]);
  const needed = new Set(PLANTED.flatMap(({ needs = [] }) => needs));
  expect(FAULTS.map(({ name }) => name).filter((name) => !needed.has(name))).toEqual([]);
});

test("all that should happen has happened in the seeds that were recorded, and the page says how often", async () => {
  const verified = await readVerified();
  const coverage = new Coverage(verified!.happened);
  expect(coverage.missing()).toEqual([]);
  const page = words(readFileSync(COVERAGE_PAGE, "utf8"));
  for (const row of coverage.table().slice(2)) expect(page).toContain(words(row));
});

test("no two have one name, and the page shows what finds them", () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  const page = words(readFileSync(path.join(root, "docs/testing.md"), "utf8"));
  for (const row of tableOf(found).slice(2)) expect(page).toContain(words(row));
});

/** A formatter's columns are no difference. */
const words = (text: string): string => text.replace(/[\s-]+/g, " ");

function said(outcome: Outcome): string {
  return isFailure(outcome)
    ? `${sayFailure(outcome)}\n${replayLine(outcome.seed)}`
    : "nothing failed";
}
