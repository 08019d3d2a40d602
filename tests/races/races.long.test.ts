/**
 * The races of `tests/races` over many seeds, and their controls: without one guard, or on an engine that does not validate, some
 * seed must find the guard's violation, or these rounds prove nothing.
 *
 * The seeds are the same each time: of the races `RACES_SEEDS` from `RACES_SEED` on, or from a new one where that says `random`.
 * A failure names its seed: with that as `RACES_SEED`, one seed, and `-t` with the pair's name it is played again.
 */
import { expect, test } from "vitest";
import { seedFrom } from "../support/seeds.js";
import { deploymentOf, type Replacement } from "./deployment.js";
import { PAIRS, type PairName } from "./pairs.js";
import { search } from "./play.js";
import type { RoundOptions } from "./stage.js";

const SEEDS = Number(process.env.RACES_SEEDS ?? 10);
const FIRST = seedFrom("RACES_SEED", 1);
/** By far more than a round takes. */
const ROUND_MS = 2_000;
/** A control stops at its first find; one that finds nothing in so many has lost its point. */
const CONTROL_SEEDS = 60;

/** For each control the pair that finds it, and the violation. */
interface Control {
  without: string;
  pair: PairName;
  finds: RegExp;
  replace: readonly Replacement[];
  options?: RoundOptions;
}

const CONTROLS: readonly Control[] = [
  {
    without: "the real read of the active sessions before the last timer goes",
    pair: "claim and the sweep that disarms",
    finds: /^leased without a timer$/,
    replace: [
      {
        file: "tend/janitor.ts",
        text: "const next = first?.expiresAt ?? seen;",
        by: "const next = seen;",
      },
      {
        file: "tend/janitor.ts",
        text: ").take(RANGE_ROWS);",
        by: ").take(0);",
      },
    ],
  },
  {
    without: "the real read of the timer on which a claim relies",
    pair: "claim and the sweep that disarms",
    finds: /^leased without a timer$/,
    replace: [
      {
        file: "loops/timers.ts",
        text: "const timers = await readSeen(ctx.db, seen);",
        by: "if (seen != null) return;\n  const timers = await readSeen(ctx.db, seen);",
      },
    ],
  },
  {
    without: "the second check whether the session has expired",
    pair: "beat and the sweep that expires its session",
    finds: /^a renewed lease was ended$/,
    replace: [{ file: "tend/lostLeases.ts", text: " || session.expiresAt >= now", by: "" }],
  },
  {
    without: "fencing by attempt",
    pair: "late words of a lost attempt and the claim of the next",
    finds: /^a lost attempt was renewed$|^running, in no lease$/,
    replace: [
      {
        file: "rows/sessions.ts",
        text: "return session.leases.find((lease) => lease.id === id && lease.attempt === attempt);",
        by: "return session.leases.find((lease) => lease.id === id);",
      },
    ],
  },
  {
    without: "the snapshot's own timestamp as the end of a claim's scan",
    pair: "enqueue and calls that find nothing",
    finds: /^a pending job below a returned cursor$/,
    options: { snapshotLag: 0 },
    replace: [
      {
        file: "index/scan.ts",
        text: "return afterCommit(upTo !== undefined && upTo < snapshot ? upTo : snapshot);",
        by: "return afterCommit(BigInt(Date.now() + 1) * 1_000_000n);",
      },
    ],
  },
  {
    without: "the snapshot's own timestamp as the end of a sweep's scan",
    pair: "enqueue and calls that find nothing",
    finds: /^a pending job below a published cursor$/,
    options: { snapshotLag: 0 },
    replace: [
      {
        file: "tend/sweepPlan.ts",
        text: ": afterCommit(snapshot);",
        by: ": afterCommit(BigInt(Date.now() + 1) * 1_000_000n);",
      },
    ],
  },
  {
    without: "the real read of the timer to which another leaves it, and an order among them",
    pair: "two sweeps of two timers",
    finds: /^leased without a timer$/,
    replace: [
      { file: "loops/timers.ts", text: "other.id < timer._id", by: "other.id !== timer._id" },
      {
        file: "loops/timers.ts",
        text: `before === undefined ? null : await db.get("timers", before.id)`,
        by: "before ?? null",
      },
    ],
  },
];

test.each(CONTROLS)("control: without $without, a seed finds it", async (control) => {
  const broken = await deploymentOf(control.replace);
  const found = await search(broken, control.pair, CONTROL_SEEDS, control.options);
  expect(found?.violation).toMatch(control.finds);
});

/** Two transactions that write over each other: the violations of the pairs when neither has to retry. */
const UNVALIDATED: readonly PairName[] = [
  "beat and the sweep that expires its session",
  "complete and the sweep that expires its session",
  "claim and claim of the same jobs",
  "claim and cancel",
  "retry and retry",
  "callback: plan, try, and a retry of the job",
  "takeover by a claim and the janitor's sweep",
];

test.each(UNVALIDATED)(
  "control: on an engine that does not validate, %s do conflict",
  async (name) => {
    expect(await search(sound, name, CONTROL_SEEDS, { skipValidation: true })).not.toBeNull();
  },
);

const sound = await deploymentOf([]);

test.each(Object.keys(PAIRS) as PairName[])(
  "%s: nothing is lost or done twice",
  async (name) => {
    expect(await search(sound, name, SEEDS, { first: FIRST })).toBeNull();
  },
  SEEDS * ROUND_MS,
);
