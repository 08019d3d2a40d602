import { describe, expect, test } from "vitest";
import { Asking } from "./asking.js";
import { FakeClock } from "./fakes.test.js";
import { EMPTY_CLAIMS_MAX, LOOK_AGAIN_MS } from "./limits.js";

const MORE = { jobs: [], more: true };
const NONE = { jobs: [], more: false };
const request = { max: 1 };
const empty = (cursor: string) => ({ jobs: [], cursor });

function told(...queues: string[]): Asking {
  const asking = new Asking(new FakeClock(), ["tiles", "walls"], "w");
  for (const queue of ["tiles", "walls"])
    asking.subscriptionAnswered(queue, queues.includes(queue) ? MORE : NONE);
  return asking;
}

const claims = (asking: Asking, count: number) => {
  const followed = Array.from({ length: count }, (_, n) => {
    asking.answered(empty(`c${n + 1}`), request, 5);
    return asking.toFollow(request);
  });
  return followed.flatMap(({ queues, cursor }) => queues.map((queue) => `${queue} ${cursor}`));
};

describe("a queue that is said to have work", () => {
  test("is followed from the cursor on after some empty scans, and with each one once it is", () => {
    const asking = told("tiles");
    expect(claims(asking, EMPTY_CLAIMS_MAX)).toEqual([`tiles c${EMPTY_CLAIMS_MAX}`]);
    asking.subscriptionAnswered("tiles", NONE);
    expect(claims(asking, 1)).toEqual([]);
    asking.subscriptionAnswered("tiles", MORE);
    expect(claims(asking, 1)).toEqual(["tiles c1"]);
    // Where that fails, the subscription that all share takes its place.
    asking.subscriptionFailed("tiles");
    asking.subscriptionAnswered("tiles", MORE);
    expect(claims(asking, 1)).toEqual([]);
  });

  test("is not while scans find jobs, or other workers are faster now and then", () => {
    const asking = told("tiles");
    for (let round = 0; round < 3; round += 1) {
      expect(claims(asking, EMPTY_CLAIMS_MAX - 1)).toEqual([]);
      asking.subscriptionAnswered("tiles", NONE);
      asking.subscriptionAnswered("tiles", MORE);
    }
  });

  test("is not by a claim that scanned elsewhere", () => {
    const asking = told("tiles");
    claims(asking, EMPTY_CLAIMS_MAX - 1);
    asking.answered(empty("c"), { ...request, lookIn: ["walls"] }, 5);
    expect(asking.toFollow({ ...request, lookIn: ["walls"] }).queues).toEqual([]);
  });
});

const LAST = { whenIdle: ["backfill"] };

describe("a queue that comes last", () => {
  const asks = (asking: Asking, got = 0) => {
    const request = asking.request({ max: 2 })!;
    const jobs = Array.from({ length: got }, (_, n) => ({ id: `${n}` })) as never[];
    asking.answered({ jobs, cursor: "c" }, request, 5);
    return request.lookIn;
  };
  const preferring = (...queues: string[]) => {
    const asking = new Asking(new FakeClock(), ["backfill", "tiles", "walls"], "w", LAST);
    for (const queue of ["backfill", "tiles", "walls"])
      asking.subscriptionAnswered(queue, queues.includes(queue) ? MORE : NONE);
    return asking;
  };

  test("is not asked for while claims from the other queues fill the room", () => {
    const asking = preferring("backfill", "tiles");
    expect([asks(asking, 2), asks(asking, 2), asks(asking, 2)]).toEqual([
      ["tiles"],
      ["tiles"],
      ["tiles"],
    ]);
  });

  test("is asked for at once, and once, after a claim that did not", () => {
    const asking = preferring("backfill", "tiles");
    expect(asks(asking, 1)).toEqual(["tiles"]);
    expect(asking.claimAt()).toBe(0);
    expect(asks(asking, 2)).toEqual(["backfill"]);
    expect(asks(asking, 2)).toEqual(["tiles"]);
  });

  test("is asked for at once where the subscriptions say that the other queues have nothing", () => {
    const asking = preferring("backfill");
    expect([asks(asking, 2), asks(asking, 2)]).toEqual([["backfill"], ["backfill"]]);
  });

  test("is asked for after the other queues while no subscription says anything", async () => {
    const clock = new FakeClock();
    const asking = new Asking(clock, ["backfill", "tiles"], "w", LAST);
    await clock.advance(1_000);
    expect([asks(asking), asks(asking)]).toEqual([["tiles"], ["backfill"]]);
    await clock.advance(60_000);
    expect(asks(asking)).toEqual(["tiles"]);
  });

  test("leaves the first claims of a fleet that starts as they are: the other queues are scanned once more", async () => {
    const clock = new FakeClock();
    const asking = new Asking(clock, ["backfill", "tiles"], "w", LAST);
    await clock.advance(100);
    const first = asking.request({ max: 2 })!;
    asking.answered(empty("c"), first, 5);
    const rest = asking.request({ max: 2 })!;
    expect([first.lookIn, rest.lookIn]).toEqual([["tiles"], ["backfill"]]);
    asking.answered(empty("c"), rest, 5);
    for (const queue of ["backfill", "tiles"]) asking.subscriptionAnswered(queue, NONE);
    expect(asking.claimAt()).toBe(1.5 * LOOK_AGAIN_MS);
  });

  test("has its named jobs left out of claims from the other queues", () => {
    const asking = preferring();
    asking.subscriptionAnswered("backfill", { jobs: [{ id: "later" }], more: false });
    asking.subscriptionAnswered("tiles", { jobs: [{ id: "now" }], more: false });
    const { named } = asking.request({ max: 4 })!;
    expect(named).toEqual(["now"]);
  });
});

describe("a worker that follows nothing", () => {
  // Shows CR-14, C13.
  test("polls about every `pollMs`, ever more seldom while it finds nothing, and again as often once it has found a job", async () => {
    const clock = new FakeClock();
    const asking = new Asking(clock, ["tiles"], "w", { pollMs: 1_000 });
    const waits: number[] = [];
    const poll = async (got: number) => {
      const wait = asking.claimAt()! - clock.now();
      await clock.advance(wait);
      waits.push(wait);
      const jobs = Array.from({ length: got }, (_, n) => ({ id: `${n}` })) as never[];
      asking.answered({ jobs, cursor: "c" }, asking.request({ max: 2 })!, 5);
    };
    for (const got of [0, 0, 0, 0, 0, 1, 0, 0]) await poll(got);
    expect(waits.slice(1)).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 1_000, 1_000]);
  });

  // Shows CR-14, C13.
  test("draws each wait anew, between three quarters and five quarters of it: a fleet does not poll as one", async () => {
    const waits: number[] = [];
    for (const draw of [0, 0.25, 0.999]) {
      const clock = Object.assign(new FakeClock(), { random: () => draw });
      const asking = new Asking(clock, ["tiles"], "w", { pollMs: 1_000 });
      await clock.advance(asking.claimAt()!);
      asking.answered(empty("c"), asking.request({ max: 1 })!, 5);
      await clock.advance(asking.claimAt()! - clock.now());
      asking.answered(empty("c"), asking.request({ max: 1 })!, 5);
      waits.push(asking.claimAt()! - clock.now());
    }
    expect(waits).toEqual([1_500, 1_750, 2_499]);
  });

  test("claims at once while each claim fills its room", async () => {
    const clock = new FakeClock();
    const asking = new Asking(clock, ["tiles"], "w", { pollMs: 1_000 });
    await clock.advance(100);
    const jobs = [{ id: "a" }, { id: "b" }] as never[];
    asking.answered({ jobs, cursor: "c" }, asking.request({ max: 2 })!, 5);
    expect(asking.claimAt()).toBe(clock.now());
  });
});

test("however its claims are narrowed, a worker never asks itself again at the same moment without end", async () => {
  let seed = 7;
  const draw = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const queues = ["backfill", "tiles", "walls"];
  const conditions = [{}, { ids: [] }, { ids: ["gone"] }, { queues: ["walls"] }, { maxCost: 1 }];
  for (let world = 0; world < 300; world += 1) {
    const clock = new FakeClock();
    const asking = new Asking(clock, queues, "w", draw(2) === 0 ? LAST : {});
    for (let step = 0; step < 30; step += 1) {
      const jobs = Array.from({ length: draw(3) }, () => ({ id: `${draw(9)}` }));
      if (draw(3) > 0) asking.subscriptionAnswered(queues[draw(3)]!, { jobs, more: draw(3) === 0 });
      let asked = 0;
      for (; (asking.claimAt() ?? Infinity) <= clock.now(); asked += 1) {
        expect(asked, `world ${world}, step ${step}`).toBeLessThan(6);
        const request = asking.request({ max: 2 }, conditions[draw(conditions.length)]);
        if (request !== null) asking.answered(empty("c"), request, 5);
      }
      await clock.advance(draw(400));
    }
  }
});
