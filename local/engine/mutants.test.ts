/** The check of histories bites: each engine that is broken on purpose plays one that no serial run gives. */
import { describe, expect, test } from "vitest";
import { expectSerialHistories } from "./histories.js";
import { MUTANTS, withMutant } from "./mutants.js";

/** Many more than it takes: a mutant that is not caught early is not caught. */
const RUNS = { seed: 11, numRuns: 3000, endOnFailure: true };
const OPTIONS = { publishLatencyMs: 3 };

describe("an engine in which", () => {
  test.each(Object.keys(MUTANTS) as (keyof typeof MUTANTS)[])("%s is caught", async (name) => {
    await withMutant(name, async () => {
      await expect(expectSerialHistories(OPTIONS, RUNS)).rejects.toThrow(/Property failed/);
    });
  });

  test("nothing is broken is not: mutants leave nothing behind", async () => {
    const total = await expectSerialHistories(OPTIONS, { seed: 11, numRuns: 100 });
    expect(total.conflicts).toBeGreaterThan(30);
  });
});
