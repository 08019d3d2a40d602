/** `docs/coverage.md`: what has happened in the seeds of `verified.json`. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import * as prettier from "prettier";
import { root } from "../../harness/paths.js";
import type { Coverage } from "./coverage.js";

export const COVERAGE_PAGE = path.join(root, "docs/coverage.md");

export async function writeCoveragePage(seeds: number, coverage: Coverage): Promise<void> {
  const config = await prettier.resolveConfig(COVERAGE_PAGE);
  const text = coveragePage(seeds, coverage);
  await writeFile(COVERAGE_PAGE, await prettier.format(text, { ...config, parser: "markdown" }));
}

export function coveragePage(seeds: number, coverage: Coverage): string {
  const missing = coverage.missing().length;
  return [
    "# What the simulation has seen",
    "",
    `Every workload, fault and checker of [the simulation](testing.md) names what it must bring about or see. This is in how many of the ${seeds.toLocaleString("en")} seeds of \`tests/simulation/verified.json\` each of that has happened, and how often; ${missing === 0 ? "nothing has not" : `${missing} have not`}. Seeds that were played of earlier sources count, until as many of the last have been. \`npm run simulate -- --record=N\` writes this page.`,
    "",
    ...coverage.table(),
    "",
  ].join("\n");
}
