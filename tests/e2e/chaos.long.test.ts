/**
 * Real processes under faults: workers are killed and stopped, calls are lost and repeated, the backend is killed, its disk is
 * full, clocks are wrong. Each run prints its counts: of jobs that were acknowledged none is lost, each has one effect in the
 * app, no attempt is begun twice, and all end within the time of leases and repeats.
 *
 * `CHAOS_JOBS=5000 npx vitest run tests/e2e/chaos.long.test.ts` has more jobs in the run of everything at once (400 by
 * default), and `CHAOS_SEED` draws the network's faults anew.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { api } from "../support/app/convex/_generated/api.js";
import { LEASE_MS } from "../support/app/convex/queues.js";
import { seedFrom } from "../support/seeds.js";
import { until } from "../../local/until.js";
import { Chaos } from "../chaos/runs.js";

/** Jobs of a run; and of the run of everything at once. */
const JOBS = counts(80, 200);
const MANY = Number(process.env["CHAOS_JOBS"] ?? counts(96, 400));
const KILLS = counts(2, 4);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Longer than a lease, and than the detection of its end. */
const ASLEEP_MS = LEASE_MS + 1_500;
const BAD_NETWORK = {
  ...{ callLost: 0.1, answerLost: 0.1, repeated: 0.1, delayed: 0.2, delayMaxMs: 300 },
  cutEveryMs: 1_500,
};

let chaos: Chaos;
beforeAll(async () => {
  chaos = await Chaos.start({ seed: seedFrom("CHAOS_SEED", 1), clockShiftMs: -DAY });
}, 2 * MINUTE);
afterAll(() => chaos?.close());

/** Its clock was a day slow till then: the first run begins so, and all later ones have a right one. */
test(
  "clocks: workers ten minutes ahead and a day behind of a backend with a clock that jumps ten minutes, and a day",
  async () => {
    const clocks = [
      ["ahead", -DAY + 10 * MINUTE],
      ["behind", -2 * DAY],
      ["right", -DAY],
      ["today", 0],
    ] as const;
    await Promise.all(clocks.map(([name, clockShiftMs]) => chaos.hire(name, clockShiftMs)));
    const count = await chaos.run("clocks", counts(60, 120), async (progress) => {
      await progress(1 / 4);
      await chaos.deployment.restart(-DAY + 10 * MINUTE);
      await progress(2 / 4);
      await chaos.deployment.restart(0);
    });
    expect(count.workers).toBe(4);
    await chaos.dismiss();
  },
  2 * MINUTE,
);

test(
  "workers are killed while they hold jobs",
  async () => {
    await chaos.hireFour();
    const count = await chaos.run("workers killed", JOBS, async (progress) => {
      for (let kill = 1; kill <= KILLS; kill++) {
        await progress(kill / (KILLS + 2));
        await chaos.killOne();
      }
    });
    expect(count.leasesLost).toBeGreaterThan(0);
  },
  2 * MINUTE,
);

test(
  "workers stand still for longer than their leases, and come back",
  async () => {
    await chaos.hireFour();
    const count = await chaos.run("SIGSTOP past the lease", JOBS, async (progress) => {
      const pairs = [
        [1 / 5, [0, 1]],
        [2 / 5, [2, 3]],
      ] as const;
      for (const [share, pair] of pairs.slice(0, counts(1, 2))) {
        await progress(share);
        await chaos.sleep(pair, ASLEEP_MS);
      }
    });
    expect(count.leasesLost).toBeGreaterThan(0);
    expect(count.events["leaseLost"]).toBeGreaterThan(0);
  },
  2 * MINUTE,
);

// Shows LF-11, L7.
test(
  "the network loses, repeats, delays and cuts",
  async () => {
    await chaos.hireFour();
    const before = { ...chaos.network.seen };
    await chaos.run("a bad network", JOBS, async (progress) => {
      chaos.network.fail(BAD_NETWORK);
      await progress(9 / 10);
      chaos.network.fail({});
    });
    const { seen } = chaos.network;
    for (const fault of ["callLost", "answerLost", "repeated", "delayed", "cut"] as const)
      expect(seen[fault] - before[fault], fault).toBeGreaterThan(0);
  },
  2 * MINUTE,
);

test(
  "the disk of the backend is full for longer than a lease",
  async () => {
    await chaos.hireFour();
    await chaos.run("a full disk", JOBS, async (progress) => {
      await progress(1 / 4);
      await chaos.fullDisk(ASLEEP_MS);
    });
    expect(chaos.deployment.printed).toContain("are not stored and not acknowledged");
  },
  2 * MINUTE,
);

// Shows L7.
test(
  "the backend is killed three times",
  async () => {
    await chaos.hireFour();
    await chaos.run("backend killed", JOBS, async (progress) => {
      for (const share of [1 / 5, 2 / 5, 3 / 5]) {
        await progress(share);
        await chaos.deployment.restart();
      }
    });
  },
  2 * MINUTE,
);

test(
  "everything at once",
  async () => {
    await chaos.hireFour();
    await chaos.run("everything at once", MANY, async (progress) => {
      chaos.network.fail(BAD_NETWORK);
      await progress(1 / 6);
      await chaos.killOne();
      await progress(2 / 6);
      await chaos.sleep([0, 1], ASLEEP_MS);
      await progress(3 / 6);
      await chaos.deployment.restart();
      await progress(4 / 6);
      await chaos.fullDisk(ASLEEP_MS);
      await progress(5 / 6);
      await chaos.killOne();
      chaos.network.fail({});
    });
    // Nothing is left for a worker to find: the queue counts none that waits or runs.
    const counts = await until(
      () => chaos.deployment.app.client.query(api.sums.counts, {}),
      ({ pending, running }) => pending.count + running.count === 0,
    );
    expect(counts).toMatchObject({ pending: { count: 0 }, running: { count: 0 } });
  },
  10 * MINUTE,
);
