/**
 * The seeds that were played without a failure, as a file in the repository: each slice with its counts and a digest of its runs.
 * A slice that is played once more has the same digest, if the sources are the same.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { format } from "prettier";
import { root } from "../support/paths.js";
import type { Counts } from "./coverage.js";
import { sourcesFingerprint } from "./fingerprint.js";
import type { SeedReport } from "./seeds.js";

export const SLICE = 10;
const FILE = path.join(root, "tests/simulation/verified.json");

export interface Slice {
  /** The first of its seeds; they are `SLICE`. */
  from: number;
  jobs: number;
  commits: number;
  simulatedHours: number;
  failures: number;
  digest: string;
}

export interface Verified {
  commit: string;
  /** Of the sources that decide how seeds go. */
  sources: string;
  seedsPerSlice: number;
  slices: Slice[];
  /** The events of all slices. */
  happened: Counts;
  /** Of earlier sources, while these have more seeds. */
  earlier?: Omit<Verified, "earlier">;
}

/** In all seeds of the file, also seeds of earlier sources. */
export function happenedIn({ happened, earlier }: Verified): Counts {
  const all: Record<string, readonly [number, number]> = { ...happened };
  for (const [mark, [seeds, times]] of Object.entries(earlier?.happened ?? {})) {
    const [knownSeeds, knownTimes] = all[mark] ?? [0, 0];
    all[mark] = [knownSeeds + seeds, knownTimes + times];
  }
  return all;
}

export const seedsIn = ({ earlier, ...last }: Verified): number =>
  playedOf(last) + (earlier === undefined ? 0 : playedOf(earlier));

const playedOf = ({ seedsPerSlice, slices }: Omit<Verified, "earlier">): number =>
  seedsPerSlice * slices.length;

export function sliceOf(reports: readonly SeedReport[]): Slice {
  const ordered = [...reports].sort((a, b) => a.seed - b.seed);
  const digest = createHash("sha256");
  for (const report of ordered) digest.update(`${report.seed} ${report.digest}\n`);
  const sum = (of: (report: SeedReport) => number) =>
    ordered.reduce((total, report) => total + of(report), 0);
  return {
    from: ordered[0]!.seed,
    jobs: sum(({ jobs }) => jobs),
    commits: sum(({ commits }) => commits),
    simulatedHours: Math.round(sum(({ simulatedMs }) => simulatedMs) / 36_000) / 100,
    failures: ordered.filter(({ violations }) => violations.length > 0).length,
    digest: digest.digest("hex").slice(0, 32),
  };
}

export async function readVerified(): Promise<Verified | null> {
  const text = await readFile(FILE, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Verified);
}

/** Seeds verified with other sources are kept beside, until as many seeds of these have been played. */
export async function beginVerified(): Promise<Verified> {
  const sources = sourcesFingerprint();
  const known = await readVerified();
  if (known?.sources === sources) return known;
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  const begun = { commit, sources, seedsPerSlice: SLICE, slices: [], happened: {} };
  return known === null ? begun : { ...begun, earlier: longer(known) };
}

function longer({ earlier, ...last }: Verified): Omit<Verified, "earlier"> {
  return earlier !== undefined && playedOf(earlier) > playedOf(last) ? earlier : last;
}

export async function writeVerified(verified: Verified): Promise<void> {
  verified.slices.sort((a, b) => a.from - b.from);
  const { earlier } = verified;
  if (earlier !== undefined && playedOf(verified) >= playedOf(earlier)) delete verified.earlier;
  await writeFile(
    FILE,
    await format(JSON.stringify(verified), { parser: "json", printWidth: 100 }),
  );
}
