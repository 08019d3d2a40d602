/** When each worker of a fleet comes, on a manual clock. */
import { describe, expect, test } from "vitest";
import { FakeClock } from "./fakes.test.js";
import { Idle } from "./idle.js";
import {
  EMPTY_WAIT_CLAIMS,
  EMPTY_WAIT_GAP_MS,
  EMPTY_WAIT_MAX_MS,
  EMPTY_WAIT_MIN_MS,
  FIRST_MS,
  PATIENCE_MS,
  TURN_GAP_MS,
} from "./limits.js";

/** Workers that have scanned twice, found nothing, and know their places. */
function fleetOf(size: number, clock = new FakeClock()): Idle[] {
  return Array.from({ length: size }, (_, rank) => {
    const idle = new Idle(clock);
    for (let looks = 0; looks < 2; looks += 1) idle.claimed(0, 1, 0, { fleet: { size, rank } });
    idle.knows(false);
    return idle;
  });
}

/** After how long each comes, the first first. */
function comes(fleet: readonly Idle[], clock: FakeClock): { after: number; isInTurn: boolean }[] {
  return fleet
    .map((idle) => ({ after: idle.claimAt()! - clock.now(), isInTurn: idle.isInTurn }))
    .sort((a, b) => a.after - b.after);
}

describe("a wake", () => {
  test("makes a worker that is alone come at once", () => {
    const clock = new FakeClock();
    const [idle] = fleetOf(1, clock);
    idle!.knows(true);
    expect(comes([idle!], clock)).toEqual([{ after: 0, isInTurn: true }]);
  });

  test.each([2, 3, 40])(
    "makes %i come one after the other, another first in each second: two a whole gap apart, which take any job",
    async (size) => {
      const firsts = new Set<number>();
      for (const at of [0, 1, FIRST_MS - 1, FIRST_MS, 12_345]) {
        const clock = new FakeClock();
        const fleet = fleetOf(size, clock);
        await clock.advance(at);
        for (const idle of fleet) idle.knows(true);
        const all = comes(fleet, clock);
        const inTurn = all.filter(({ isInTurn }) => isInTurn);
        expect(inTurn.map(({ after }) => after)).toEqual([0, TURN_GAP_MS]);
        expect(new Set(all.map(({ after }) => after)).size).toBe(size);
        firsts.add(fleet.findIndex((idle) => idle.claimAt() === clock.now()));
      }
      expect(firsts.size).toBeGreaterThan(1);
    },
  );

  test.each([3, 40, 1_000])("lets the last of %i come within the patience", (size) => {
    const clock = new FakeClock();
    const fleet = fleetOf(size, clock);
    for (const idle of fleet) idle.knows(true);
    const last = comes(fleet, clock).at(-1)!;
    expect(last).toEqual({ after: PATIENCE_MS, isInTurn: false });
  });

  // Rules out D17.
  test("makes one come at once that has found the rest of its fleet away", () => {
    const clock = new FakeClock();
    const fleet = fleetOf(1_000, clock);
    for (const idle of fleet) idle.knows(true, true);
    expect(comes(fleet, clock)[999]).toEqual({ after: 0, isInTurn: true });
  });

  // Shows C12.
  // Rules out D17.
  test("is over when the job is taken: workers before their turn do not come", async () => {
    const clock = new FakeClock();
    const fleet = fleetOf(10, clock);
    for (const idle of fleet) idle.knows(true);
    await clock.advance(TURN_GAP_MS);
    for (const idle of fleet) idle.knows(false);
    expect(fleet.map((idle) => idle.claimAt())).toEqual(fleet.map(() => null));
  });
});

describe("a worker that comes away empty", () => {
  test("waits longer each time, and of a fleet so long that together they come no faster than is of use", () => {
    const clock = new FakeClock();
    const waits = (size: number, looks: number, tookMs = 0) => {
      const [idle] = fleetOf(1, clock);
      idle!.knows(true);
      return Array.from({ length: looks }, () => {
        idle!.claimed(0, 1, tookMs, { fleet: { size, rank: null } });
        return idle!.claimAt()! - clock.now();
      });
    };
    expect(waits(1, 8)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((n) => EMPTY_WAIT_MIN_MS * 2 ** n).concat(EMPTY_WAIT_MAX_MS),
    );
    // Another worker's job may be free soon: so it comes back soon, however large its fleet is, a few times.
    const short = [1, 2, 4].map((n) => EMPTY_WAIT_MIN_MS * n * 1.5);
    expect(waits(20, 3)).toEqual(short);
    expect(waits(1_000, 4)).toEqual([...short, EMPTY_WAIT_MAX_MS]);
    expect(waits(60, 4)[3]).toBeLessThanOrEqual(60 * EMPTY_WAIT_GAP_MS);
    // The deployment has more to do than it can: its load must not grow by claims in vain.
    expect(waits(1_000, 1, 2_000)).toEqual([2_000]);
    expect(waits(1_000, 4, 2_000)[3]).toBe(2_000 * EMPTY_WAIT_CLAIMS);
  });

  test("and then has its turn takes any job; one that comes back for more takes jobs of its shard", () => {
    const clock = new FakeClock();
    const [idle] = fleetOf(4, clock);
    idle!.knows(true);
    for (let looks = 0; looks < 4; looks += 1)
      idle!.claimed(0, 1, 0, { fleet: { size: 4, rank: 2 } });
    expect(idle!.isInTurn).toBe(true);
    idle!.claimed(1, 2, 0, { fleet: { size: 4, rank: 3 } });
    expect(idle!.isInTurn).toBe(false);
    expect(idle!.claimAt()).toBe(clock.now() + EMPTY_WAIT_MIN_MS);
  });
});
