/** When each of a fleet comes, on a clock that moves when told. */
import { describe, expect, test } from "vitest";
import { FakeClock } from "./fakes.test.js";
import { Idle } from "./idle.js";
import {
  EMPTY_WAIT_CLAIMS,
  EMPTY_WAIT_GAP_MS,
  EMPTY_WAIT_MAX_MS,
  EMPTY_WAIT_MIN_MS,
  FIRST_MS,
  TURN_GAP_MS,
  WAKE_PATIENCE_GAP_MS,
  WAKE_PATIENCE_MS,
} from "./limits.js";

/** Workers that have looked twice, found nothing, and know their places. */
function fleetOf(size: number, clock = new FakeClock()): Idle[] {
  return Array.from({ length: size }, (_, rank) => {
    const idle = new Idle(clock);
    for (let looks = 0; looks < 2; looks += 1) idle.claimed(0, 1, 0, { size, rank });
    idle.told(false);
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
    idle!.told(true);
    expect(comes([idle!], clock)).toEqual([{ after: 0, isInTurn: true }]);
  });

  test.each([2, 3, 40])(
    "makes %i come one after the other, another first in each second",
    async (size) => {
      const firsts = new Set<number>();
      for (const at of [0, 1, FIRST_MS - 1, FIRST_MS, 12_345]) {
        const clock = new FakeClock();
        const fleet = fleetOf(size, clock);
        await clock.advance(at);
        for (const idle of fleet) idle.told(true);
        const inTurn = comes(fleet, clock).filter(({ isInTurn }) => isInTurn);
        expect(inTurn.length).toBeGreaterThan(1);
        expect(inTurn.map(({ after }) => after)).toEqual(inTurn.map((_, i) => i * TURN_GAP_MS));
        firsts.add(fleet.findIndex((idle) => idle.claimAt() === clock.now()));
      }
      expect(firsts.size).toBeGreaterThan(1);
    },
  );

  test.each([40, 1_000])("lets none of %i wait for its turn longer than its patience", (size) => {
    const clock = new FakeClock();
    const fleet = fleetOf(size, clock);
    for (const idle of fleet) idle.told(true);
    const spread = Math.max(WAKE_PATIENCE_MS, size * WAKE_PATIENCE_GAP_MS);
    const last = comes(fleet, clock).at(-1)!;
    expect(last).toEqual({ after: WAKE_PATIENCE_MS + spread / 2, isInTurn: false });
  });

  test("is over when the job is taken: who has not come yet does not", async () => {
    const clock = new FakeClock();
    const fleet = fleetOf(10, clock);
    for (const idle of fleet) idle.told(true);
    await clock.advance(TURN_GAP_MS);
    for (const idle of fleet) idle.told(false);
    expect(fleet.map((idle) => idle.claimAt())).toEqual(fleet.map(() => null));
  });
});

describe("who comes away empty", () => {
  test("waits longer each time, and of a fleet so long that together they come no faster than is of use", () => {
    const clock = new FakeClock();
    const waits = (size: number, looks: number, tookMs = 0) => {
      const [idle] = fleetOf(1, clock);
      idle!.told(true);
      return Array.from({ length: looks }, () => {
        idle!.claimed(0, 1, tookMs, { size, rank: null });
        return idle!.claimAt()! - clock.now();
      });
    };
    expect(waits(1, 8)).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((n) => EMPTY_WAIT_MIN_MS * 2 ** n).concat(EMPTY_WAIT_MAX_MS),
    );
    // Its turn is unknown, and so by chance in the middle of the round.
    expect(waits(20, 1)).toEqual([EMPTY_WAIT_MIN_MS + (20 * TURN_GAP_MS) / 2]);
    expect(waits(60, 1)[0]).toBeLessThanOrEqual(60 * EMPTY_WAIT_GAP_MS);
    expect(waits(1_000, 1)).toEqual([EMPTY_WAIT_MAX_MS]);
    // The deployment has more to do than it can: nobody makes it worse for nothing.
    expect(waits(1_000, 1, 2_000)).toEqual([2_000 * EMPTY_WAIT_CLAIMS]);
  });

  test("and then has its turn takes whatever there is; who comes back for more takes what is its", () => {
    const clock = new FakeClock();
    const [idle] = fleetOf(4, clock);
    idle!.told(true);
    idle!.claimed(0, 1, 0, { size: 4, rank: 2 });
    expect(idle!.isInTurn).toBe(true);
    idle!.claimed(1, 2, 0, { size: 4, rank: 3 });
    expect(idle!.isInTurn).toBe(false);
    expect(idle!.claimAt()).toBe(clock.now() + EMPTY_WAIT_MIN_MS);
  });
});
