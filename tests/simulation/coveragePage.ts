/** `tests/requirements/coverage.md`: the events of the seeds in `verified.json`. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import * as prettier from "prettier";
import { root } from "../support/paths.js";
import type { Coverage } from "./coverage.js";

export const COVERAGE_PAGE = path.join(root, "tests/requirements/coverage.md");

export async function writeCoveragePage(seeds: number, coverage: Coverage): Promise<void> {
  const config = await prettier.resolveConfig(COVERAGE_PAGE);
  const text = coveragePage(seeds, coverage);
  await writeFile(COVERAGE_PAGE, await prettier.format(text, { ...config, parser: "markdown" }));
}

export function coveragePage(seeds: number, coverage: Coverage): string {
  const missing = coverage.missing().length;
  return [
    "# Events of the simulation",
    "",
    `Every workload, fault and checker of [the simulation](../../docs/internals/testing.md) names the events that it must cause or see. The table has the number of the ${seeds.toLocaleString("en")} seeds of \`tests/simulation/verified.json\` in which each event has happened, and its total count; ${missing === 0 ? "no event is missing" : `${missing} are missing`}. Seeds of earlier sources count, until as many of the present sources have been played. \`npm run simulate -- --record=N\` writes this page.`,
    "",
    ...coverage.table(),
    "",
  ].join("\n");
}
