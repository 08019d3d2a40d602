/** Turns a list of cases into tests: a case that is expected to fail must fail. */
import { describe, expect, test } from "vitest";
import type { Case } from "./case.js";
import type { Target } from "./target.js";

export function testCases(
  cases: readonly Case[],
  options: {
    target: () => Target;
    concurrent: boolean;
    /** Why the case is not asked; `null` when it is. */
    skips: (one: Case) => string | null;
    /** Why it is expected to fail. */
    fails: (one: Case) => string | null;
  },
): void {
  const asked = cases.filter((one) => options.skips(one) === null);
  const sectionOf = ({ id, alone }: Case) => (alone ? "alone" : `§${id.split(".")[0]}`);
  const sections = [...new Set(asked.map(sectionOf))];
  // Sections run one after the other, so cases that run alone come last.
  sections.sort((a, b) => Number(a === "alone") - Number(b === "alone"));
  for (const section of sections) {
    describe(section, () => {
      for (const one of asked.filter((other) => sectionOf(other) === section)) {
        const reason = options.fails(one);
        const run = options.concurrent && !one.alone ? test.concurrent : test;
        const title = `${one.id}: ${one.says}`;
        if (reason === null) run(title, () => one.run(options.target()));
        else {
          run(`${title} [not so: ${reason}]`, async () => {
            await expect(
              one.run(options.target()),
              `It behaves as the platform does now: take the mark off ${one.id}`,
            ).rejects.toThrow();
          });
        }
      }
    });
  }
}
