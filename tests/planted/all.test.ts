/** Each planted bug can be planted in the sources as they stand: no run. A failure names the bug and the function. */
import { expect, test } from "vitest";
import { MUTANTS as WITHOUT_GUARDS } from "../interleavings/mutants.js";
import { TRIPLES } from "../interleavings/pairs/triples.js";
import { CONTROLS } from "../races/controls.js";
import { DIGEST } from "../races/deployment.js";
import { MUTANTS } from "../simulation/mutants/all.js";
import { ownHandlers } from "../simulation/ownHandlers.js";
import type { Bug, Change } from "./change.js";
import { planted } from "./plant.js";

const guards = [
  ...WITHOUT_GUARDS.map(({ of, mutant }) => ({ of, ...mutant })),
  ...TRIPLES.flatMap(({ of, mutants }) => mutants.map((mutant) => ({ of, ...mutant }))),
  ...CONTROLS.map((control) => ({ of: control.pair, ...control })),
];
const changing = (one: { of: string; without: string; changes?: readonly Change[] }): Bug[] =>
  one.changes === undefined
    ? []
    : [{ name: `${one.of}, without ${one.without}`, changes: one.changes }];

const ALL: readonly Bug[] = [
  ...MUTANTS,
  ...guards.flatMap(changing),
  DIGEST,
  ownHandlers("own.ts"),
];

test("every planted bug changes a function that exists, in one place", () => {
  const failures = ALL.flatMap((bug) => {
    try {
      return planted([bug]).size > 0 ? [] : [`"${bug.name}" changes nothing`];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  expect(failures).toEqual([]);
  expect(ALL.length).toBeGreaterThan(150);
});
