/** Many random runs of queues that Convex itself works off; each is named by its seed, and happens again with it. */
import { expect, test } from "vitest";
import { play } from "../virtual/pushFaults.js";

const SEEDS = Number(process.env["PUSH_SEEDS"] ?? 24);
const FIRST = Number(process.env["PUSH_SEED"] ?? 100);
const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST + i);
const KINDS = [
  { restarts: false, cancels: false },
  { restarts: true, cancels: false },
  { restarts: false, cancels: true },
  { restarts: true, cancels: true },
];

test.each(seeds)(
  "seed %i: every job ends, and nothing runs too often",
  async (seed) => {
    const played = await play(seed, KINDS[seed % KINDS.length]!);
    expect(played.jobs).toBeGreaterThan(2);
  },
  120_000,
);
