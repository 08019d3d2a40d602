/** Many random runs of push queues; each is named by its seed, which repeats it. */
import { expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { play, type Faults } from "./pushFaults.js";

const SEEDS = Number(process.env["PUSH_SEEDS"] ?? counts(1, 6));
const FIRST = Number(process.env["PUSH_SEED"] ?? 100);
const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST + i);
const KINDS: readonly Faults[] = [
  {},
  { restarts: true },
  { cancels: true },
  { late: true },
  { slow: true },
  { restarts: true, cancels: true, late: true, slow: true },
];

test.each(seeds)(
  "seed %i: every job ends, and nothing runs too often",
  async (seed) => {
    const faults = KINDS[seed % KINDS.length]!;
    const played = await play(seed, faults);
    expect(played.jobs).toBeGreaterThan(2);
    expect(played.late > 0).toBe(faults.late === true);
  },
  120_000,
);
