/** A fixed set of seeds; the long counts, and the planted bugs, are in `simulation.long.test.ts`. */
import { beforeAll, describe, expect, test } from "vitest";
import { Coverage } from "./coverage.js";
import { replayLine, sayFailure } from "./failures.js";
import { Seeds, type SeedReport } from "./seeds.js";

const FIRST = 1;
const COUNT = 3;
/** One of these, played again after others. */
const REPEATED = 3;
/** Callbacks fail in it, and why is kept in their rows: so many bytes take so long. */
const WITH_STACKS = 777;

describe("the simulation", () => {
  let seeds: Seeds;
  /** Of the first seeds, in their order, without lines. */
  const reports: SeedReport[] = [];
  beforeAll(async () => {
    seeds = await Seeds.build();
  });

  test(`keeps every promise in ${COUNT} seeds`, { timeout: 180_000 }, async () => {
    const coverage = new Coverage();
    for (let seed = FIRST; seed < FIRST + COUNT; seed += 1) {
      const report = await seeds.play(seed);
      reports.push(report);
      coverage.add(report.marks);
      expect(report.violations, said(report)).toEqual([]);
    }
    // So few seeds show no more than the common things; these they must.
    const missing = coverage.missing().map(({ mark }) => mark);
    for (const edge of ["claim", "succeed", "backOff", "fail", "promote"]) {
      expect(missing).not.toContain(`state machine: ${edge}`);
    }
  });

  test("goes the same way for the same seed, with any seed played before it", async () => {
    const others = await Seeds.build();
    const known = reports.find(({ seed }) => seed === REPEATED)!;
    const again = await seeds.play(REPEATED, { traces: true });
    const fresh = await others.play(REPEATED, { traces: true });
    expect(fresh.lines).toEqual(again.lines);
    expect([again.digest, fresh.digest]).toEqual([known.digest, known.digest]);
    expect(again.lines.length).toBeGreaterThan(20);
  });

  test("has a digest of its own for each seed, and it does not hang on whether lines are kept", async () => {
    const [unkept] = reports;
    const kept = await seeds.play(unkept!.seed, { traces: true });
    expect(unkept!.lines).toEqual([]);
    expect(kept.lines).not.toEqual([]);
    expect(kept.digest).toBe(unkept!.digest);
    expect(new Set(reports.map(({ digest }) => digest)).size).toBe(COUNT);
  });

  test("goes the same way wherever the repository is: stacks in stored values name files within it", async () => {
    const { lines } = await seeds.play(WITH_STACKS, { traces: true });
    const text = lines.join("\n");
    const files = [...text.matchAll(/\bat \S+ \(([^()\s]+\.ts):\d+:\d+\)/g)].map(
      ([, file]) => file!,
    );
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => file.startsWith("/") || file.includes("file:"))).toEqual([]);
  });
});

function said(report: SeedReport): string {
  const { seed, violations } = report;
  return violations.length === 0 ? "" : `${sayFailure({ seed, report })}\n${replayLine(seed)}`;
}
