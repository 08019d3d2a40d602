/** The main loop of a mount, as tables. */
import { describe, expect, test } from "vitest";
import {
  choose,
  grant,
  keptSlots,
  INLINE_LIFE_MS,
  lifeOf,
  limitsOf,
  next,
  placesLeft,
  PLACES_BY_CLASS,
  PROCESS_LIFE_MS,
  PROCESS_WIDTH,
  PROCESSES_BY_CLASS,
  receives,
  receivesMs,
  type ProcessEvent,
  type ProcessState,
} from "./index.js";

const MINUTE = 60_000;
const STATES: readonly ProcessState[] = ["free", "open", "receiving"];
const EVENTS: readonly ProcessEvent[] = [
  ...(["start", "startLast", "handOver", "close", "closeInVain", "lose"] as const),
];

describe("the life of a process", () => {
  const table: Record<string, [ProcessState, ...string[]]> = {
    "free start": ["open", "schedule"],
    "free startLast": ["receiving", "schedule"],
    "open close": ["free", "rouse"],
    "open lose": ["free", "rouse"],
    "receiving handOver": ["receiving", "insert"],
    "receiving close": ["free", "rouse"],
    "receiving closeInVain": ["receiving", "adopt"],
    "receiving lose": ["free", "forget", "rouse"],
  };
  const all = STATES.flatMap((state) => EVENTS.map((event) => [state, event] as const));

  test.each(all.filter(([state, event]) => `${state} ${event}` in table))(
    "%s: %s",
    (state, event) => {
      const [to, ...does] = table[`${state} ${event}`]!;
      expect(next(state, event)).toEqual({ to, does });
    },
  );

  test.each(all.filter(([state, event]) => !(`${state} ${event}` in table)))(
    "%s: %s may not be",
    (state, event) => {
      expect(next(state, event)).toBeNull();
    },
  );

  test("every state is left again, and every event is possible somewhere", () => {
    for (const state of STATES) {
      const away = EVENTS.map((event) => next(state, event)?.to).filter((to) => to !== undefined);
      expect(away.some((to) => to !== state)).toBe(true);
    }
    for (const event of EVENTS)
      expect(STATES.some((state) => next(state, event) !== null)).toBe(true);
  });
});

describe("where a lane begins", () => {
  const NOW = 1_000 * MINUTE;
  const own = { kind: "start", event: "start" } as const;
  const last = { kind: "start", event: "startLast" } as const;
  const wait = { kind: "wait" } as const;
  const to = (id: string) => ({ kind: "handOver", to: id }) as const;
  /** Minutes since each was opened, minutes that a job may run, and whether it runs in the app's action. */
  interface Case {
    free: number;
    kept?: number;
    ages?: number[];
    timeout?: number;
    inline?: boolean;
  }
  const chosen = ({ free, kept = 2, ages = [], timeout = 10, inline = false }: Case) =>
    choose(
      {
        ...{ free, kept },
        receivers: ages.map((age) => ({ id: `of ${age}`, openedAt: NOW - age * MINUTE })),
      },
      { timeoutMs: timeout * MINUTE, isInline: inline },
      NOW,
    );

  test.each<[string, Case, ReturnType<typeof chosen>]>([
    ["more than two slots are free", { free: 3 }, own],
    ["more than two are free, and there is a receiver", { free: 8, ages: [1] }, own],
    ["two are free, and there is no receiver", { free: 2 }, last],
    ["two are free, and there is a receiver", { free: 2, ages: [1] }, to("of 1")],
    ["there are two receivers: the younger", { free: 2, ages: [9, 1] }, to("of 1")],
    ["two are free, and the receiver is too old", { free: 2, ages: [20] }, last],
    ["one is free, and there is no receiver", { free: 1 }, last],
    ["one is free, and the receiver is too old", { free: 1, ages: [20] }, last],
    ["none is free, and there is a receiver", { free: 0, ages: [1] }, to("of 1")],
    ["none is free, and there is no receiver", { free: 0 }, wait],
    ["none is free, and the receiver is too old", { free: 0, ages: [20] }, wait],
    ["a job of 25 minutes finds a young receiver", { free: 0, ages: [4], timeout: 25 }, to("of 4")],
    ["it finds no old one", { free: 0, ages: [5], timeout: 25 }, wait],
    ["it takes the second free slot", { free: 2, ages: [5], timeout: 25 }, last],
    ["it takes the last where there is no receiver", { free: 1, timeout: 25 }, last],
    ["it leaves the last to a successor", { free: 1, ages: [5], timeout: 25 }, wait],
    [
      "it takes the last where the receiver ends while the next one still receives",
      { free: 1, ages: [10.1], timeout: 25 },
      last,
    ],
    [
      "a short job finds a process that has less time left than jobs are given as a rule",
      { free: 0, ages: [19], timeout: 0.1 },
      to("of 19"),
    ],
    ["but none that receives no more", { free: 0, ages: [19.6], timeout: 0.1 }, wait],
    [
      "inline: a receiver that still takes jobs",
      { free: 0, ages: [0.4], timeout: 9, inline: true },
      to("of 0.4"),
    ],
    ["inline: no longer", { free: 0, ages: [0.6], timeout: 1, inline: true }, wait],
    ["a large class keeps more slots for receivers", { free: 5, kept: 5 }, last],
    ["beyond these a lane has a slot of its own", { free: 6, kept: 5, ages: [1] }, own],
    ["where all receivers are full another begins", { free: 4, kept: 5 }, last],
  ])("%s", (_, given, expected) => {
    expect(chosen(given)).toEqual(expected);
  });

  test("a process receives while its jobs may still end before it does, and for no longer than it is to", () => {
    for (const isInline of [false, true]) {
      const until = receivesMs(isInline);
      expect(receives({ openedAt: 0 }, 1, isInline, until)).toBe(true);
      expect(receives({ openedAt: 0 }, 1, isInline, until + 1)).toBe(false);
    }
    expect(lifeOf(false)).toBe(PROCESS_LIFE_MS);
    expect(lifeOf(true)).toBe(INLINE_LIFE_MS);
  });
});

describe("slots and places of a mount", () => {
  test.each(Object.keys(PROCESSES_BY_CLASS))("half of %s's scheduler, if nothing is said", (of) => {
    expect(limitsOf(of)).toEqual({ slots: PROCESSES_BY_CLASS[of], ...PLACES_BY_CLASS[of] });
    expect(limitsOf(of)).toEqual(limitsOf(of, 0.5));
  });

  test("receivers have as many slots as it takes to run all places", () => {
    const kept = Object.keys(PROCESSES_BY_CLASS).map((of) => keptSlots(limitsOf(of), false));
    expect(kept).toEqual([2, 6, 21, 42]);
    expect(keptSlots(limitsOf("d2048"), true)).toBe(2);
  });

  test.each([
    ["s16", 0.25, { slots: 2, any: 24, all: 28 }],
    ["s16", 0.9, { slots: 7, any: 86, all: 100 }],
    ["s16", 0.01, { slots: 1, any: 1, all: 1 }],
    ["s256", 0.25, { slots: 16, any: 96, all: 112 }],
    ["d1024", 0.1, { slots: 12, any: 153, all: 166 }],
    ["d2048", 0.01, { slots: 2, any: 30, all: 33 }],
  ] as const)("of %s with a share of %d", (of, share, expected) => {
    expect(limitsOf(of, share)).toEqual(expected);
  });

  test("a class that is not known is taken for the smallest", () => {
    expect(limitsOf("s17")).toEqual(limitsOf("s16"));
  });

  test("two mounts with half of it each have no more together than one has", () => {
    for (const of of Object.keys(PROCESSES_BY_CLASS)) {
      const [whole, half] = [limitsOf(of), limitsOf(of, 0.25)];
      for (const key of ["slots", "any", "all"] as const)
        expect(2 * half[key]).toBeLessThanOrEqual(whole[key]);
    }
  });
});

describe("places", () => {
  const LIMITS = { slots: 4, any: 48, all: 56 };

  test.each([
    ["nothing has been given", [], { any: 47, few: 52 }],
    ["some have been given", [10, 7], { any: 30, few: 35 }],
    ["all for any queue have been given", [40, 7], { any: 0, few: 5 }],
    ["all have been given", [47, 5], { any: 0, few: 0 }],
    ["more have been given than there are now", [60, 60], { any: 0, few: 0 }],
  ])("that are left where %s", (_, given, left) => {
    expect(
      placesLeft(
        LIMITS,
        given.map((extra) => ({ extra })),
      ),
    ).toEqual(left);
  });

  test("with one slot and one place nothing is left to be given", () => {
    expect(placesLeft(limitsOf("s16", 0.01), [])).toEqual({ any: 0, few: 0 });
  });

  test.each([
    ["as many as are asked for, of either kind", { any: 20, few: 25 }, 0, { any: 8, few: 1 }, 9],
    ["as many as are left", { any: 3, few: 3 }, 0, { any: 8, few: 0 }, 3],
    ["those for queues of few jobs besides", { any: 0, few: 5 }, 0, { any: 8, few: 2 }, 2],
    ["both together", { any: 3, few: 8 }, 0, { any: 8, few: 2 }, 5],
    ["none for any queue from those for few", { any: 0, few: 5 }, 0, { any: 8, few: 0 }, 0],
    ["few no more than are left beside", { any: 3, few: 4 }, 0, { any: 8, few: 5 }, 4],
    ["nothing where nothing is left", { any: 0, few: 0 }, 0, { any: 8, few: 2 }, 0],
  ])("that are given: %s", (_, left, extra, asked, given) => {
    expect(grant(left, extra, asked)).toBe(given);
  });

  test("for jobs that may be there a quarter of the rest, or eight: the larger a class, the sooner a lane has all its places", () => {
    const asked = { any: 47, few: 0, isPart: true };
    const given = [10, 47, 120, 190].map((any) => grant({ any, few: any }, 0, asked));
    expect(given).toEqual([8, 11, 30, 47]);
    expect(grant({ any: 3, few: 3 }, 0, asked)).toBe(3);
    expect(grant({ any: 190, few: 190 }, 0, { any: 2, few: 0, isPart: true })).toBe(2);
  });

  test("no process has more than its width", () => {
    const left = { any: 1_000, few: 1_000 };
    const most = PROCESS_WIDTH - 1;
    expect(grant(left, 0, { any: 500, few: 500 })).toBe(most);
    expect(grant(left, most - 1, { any: 500, few: 500 })).toBe(1);
    expect(grant(left, most, { any: 500, few: 500 })).toBe(0);
    expect(grant(left, most + 9, { any: 500, few: 500 })).toBe(0);
  });

  test("however many processes ask, the places of any queue and all together stay within the bounds, with one place per slot", () => {
    const grants: { extra: number }[] = [];
    for (let slot = 0; slot < LIMITS.slots; slot += 1)
      grants.push({ extra: grant(placesLeft(LIMITS, grants), 0, { any: 20, few: 0 }) });
    const taken = () => grants.reduce((sum, { extra }) => sum + extra, 0);
    expect(taken()).toBe(LIMITS.any - 1);
    for (const one of grants)
      one.extra += grant(placesLeft(LIMITS, grants), one.extra, { any: 20, few: 2 });
    expect(taken() + LIMITS.slots).toBe(LIMITS.all);
  });
});
