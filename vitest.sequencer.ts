/** The longest files begin first: else one of them begins last, and a core has nothing to do beside it. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** They take more than 20 s where nothing else runs, the longest first; all others come in Vitest's order. */
const LONGEST = [
  "interleavings/interleavings.test.ts",
  "simulation/simulation.test.ts",
  "interleavings/interleavings.long.test.ts",
  "e2e/dashboard.long.test.ts",
  "e2e/browser.long.test.ts",
  "bounds/bounds.long.test.ts",
  "e2e/poolJobs.long.test.ts",
  "readme/readme.long.test.ts",
  "virtual/onCall.long.test.ts",
  "virtual/pullQueues.long.test.ts",
  "virtual/processes.long.test.ts",
  "virtual/statistics.long.test.ts",
  "virtual/pushRestarts.long.test.ts",
  "rows/routes.long.test.ts",
  "virtual/manyQueues.long.test.ts",
  "e2e/anyLanguage.long.test.ts",
  "virtual/sameInstant.long.test.ts",
  "virtual/pushCost.long.test.ts",
  "e2e/steered.long.test.ts",
  "e2e/python.long.test.ts",
  "packages/workpool.long.test.ts",
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted
      .map((file) => ({ file, place: placeOf(file.moduleId) }))
      .sort((a, b) => a.place - b.place)
      .map(({ file }) => file);
  }
}

function placeOf(file: string): number {
  const at = LONGEST.findIndex((name) => file.endsWith(`/${name}`));
  return at < 0 ? LONGEST.length : at;
}
