/**
 * The component's races on the engine, interleaved at every database call by a seed: a round that failed fails again
 * with the seed that it names. Each pair is played over many seeds, with snapshot queries as old as their transactions
 * (even seeds) and up to three commits older (odd ones). Then the controls: without one guard, or on an engine that
 * does not validate, some seed must find what the guard is for, or these rounds prove nothing.
 */
import { expect, test } from "vitest";
import type { Deployment } from "../../local/functions/types.js";
import { deploymentOf, type Replacement } from "./deployment.js";
import { checkCommits, checkEnd } from "./invariants.js";
import { PAIRS, type PairName } from "./pairs.js";
import { Stage, type RoundOptions } from "./stage.js";
import { Violation, World } from "./world.js";

const SEEDS = 30;
/** A control stops at its first find; one that finds nothing in so many has lost its point. */
const CONTROL_SEEDS = 60;
const LAG = 3;

async function playRound(stage: Stage, name: PairName, seed: number, options: RoundOptions) {
  await stage.begin(seed, { snapshotLag: seed % 2 === 0 ? 0 : LAG, ...options });
  const world = new World(stage);
  await world.open();
  await PAIRS[name](world);
  // Before the end, and even if that is reached with a violation: what a commit left wrong says more than what comes of it.
  await checkCommits(world);
  try {
    await checkEnd(world);
  } finally {
    await checkCommits(world);
  }
  await stage.rest();
}

/** The first violation that any of the seeds finds, or `null`. */
async function search(
  deployment: Deployment,
  name: PairName,
  seeds: number,
  options: RoundOptions = {},
): Promise<{ seed: number; violation: string } | null> {
  const stage = new Stage(deployment);
  // Seed 0 comes first whatever is replayed: in a stage's first round the runner looks for old scheduled functions.
  let seed = 0;
  try {
    for (; seed <= seeds; seed += 1) await playRound(stage, name, seed, options);
    return null;
  } catch (error) {
    if (error instanceof Violation) return { seed, violation: error.message };
    throw new Error(`The round of seed ${seed} could not be played`, { cause: error });
  } finally {
    stage.close();
  }
}

/** What finds it, and what it finds, for each control. */
interface Control {
  without: string;
  pair: PairName;
  finds: RegExp;
  replace: readonly Replacement[];
  options?: RoundOptions;
}

const CONTROLS: readonly Control[] = [
  {
    without: "the real read of the active holders before the last timer goes",
    pair: "claim and the sweep that disarms",
    finds: /^leased without a timer$/,
    replace: [
      {
        file: "janitor.ts",
        text: "const next = first?.expiresAt ?? seen;",
        by: "const next = seen;",
      },
      {
        file: "janitor.ts",
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
        file: "timers.ts",
        text: "const timers = await readSeen(ctx.db, seen);",
        by: "if (seen != null) return;\n  const timers = await readSeen(ctx.db, seen);",
      },
    ],
  },
  {
    without: "the second look at whether the holder has expired",
    pair: "beat and the sweep that expires its holder",
    finds: /^a renewed lease was ended$/,
    replace: [{ file: "expire.ts", text: " || holder.expiresAt >= args.now", by: "" }],
  },
  {
    without: "fencing by attempt",
    pair: "late words of a lost attempt and the claim of the next",
    finds: /^a lost attempt was renewed$|^running, and nobody's lease$/,
    replace: [
      {
        file: "holders.ts",
        text: "return holder.leases.find((lease) => lease.id === id && lease.attempt === attempt);",
        by: "return holder.leases.find((lease) => lease.id === id);",
      },
    ],
  },
  {
    without: "the snapshot's own timestamp as the end of what a claim has seen",
    pair: "enqueue and those who find nothing",
    finds: /^a pending job below a returned cursor$/,
    options: { snapshotLag: 0 },
    replace: [
      {
        file: "scan.ts",
        text: "return afterCommit(upTo !== undefined && upTo < snapshot ? upTo : snapshot);",
        by: "return afterCommit(BigInt(Date.now() + 1) * 1_000_000n);",
      },
    ],
  },
  {
    without: "the snapshot's own timestamp as the end of what a sweep has seen",
    pair: "enqueue and those who find nothing",
    finds: /^a pending job below a published cursor$/,
    options: { snapshotLag: 0 },
    replace: [
      {
        file: "overdue.ts",
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
      { file: "janitor.ts", text: "other.id < timer._id", by: "other.id !== timer._id" },
      {
        file: "janitor.ts",
        text: `before === undefined ? null : await ctx.db.get("timers", before.id)`,
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

/** Two transactions that write over each other: what the pairs find when neither has to run again. */
const UNVALIDATED: readonly PairName[] = [
  "beat and the sweep that expires its holder",
  "complete and the sweep that expires its holder",
  "claim and claim of the same jobs",
  "claim and cancel",
  "retry and retry",
  "callback: plan, try, and a retry of the job",
  "takeover by a claim and the janitor's sweep",
];

test.each(UNVALIDATED)("control: on an engine that does not validate, %s do meet", async (name) => {
  expect(await search(sound, name, CONTROL_SEEDS, { skipValidation: true })).not.toBeNull();
});

const sound = await deploymentOf([]);

test.each(Object.keys(PAIRS) as PairName[])("%s: nothing is lost or done twice", async (name) => {
  expect(await search(sound, name, SEEDS)).toBeNull();
});

test("a seed plays the same round again, commit for commit", async () => {
  const stage = new Stage(sound);
  const traces: string[][] = [];
  for (const seed of [0, 1, 2, 1]) {
    await playRound(stage, "takeover by a claim and the janitor's sweep", seed, {});
    traces.push(stage.commits.map(({ commit: { ts, source } }) => `${ts} ${source}`));
  }
  stage.close();
  expect(traces[3]).toEqual(traces[1]);
  expect(traces[2]).not.toEqual(traces[1]);
});
