/** Limits and hooks that decide about claims, on a manual clock. */
import { describe, expect, test } from "vitest";
import { manual, startLoop } from "./fakes.test.js";
import type { ClaimConditions, ClaimContext } from "./hookTypes.js";
import { HELD_BACK_MS } from "./limits.js";

describe("beforeClaim", () => {
  test("that returns false leaves the claim out, and is asked again a second later", async () => {
    let asked = 0;
    let mayClaim = false;
    const beforeClaim = () => (asked++, mayClaim);
    const { clock, deployment, callsOf } = startLoop(async () => null, { hooks: { beforeClaim } });
    deployment.enqueue();
    await clock.advance(4.5 * HELD_BACK_MS);
    expect(callsOf("claim")).toEqual([]);
    expect(asked).toBe(5);
    mayClaim = true;
    await clock.advance(HELD_BACK_MS);
    expect(deployment.recorded.size).toBe(1);
  });

  // Shows SG-06.
  test("gets the room and the budget that running jobs leave over, and the worker's status", async () => {
    const { handler } = manual();
    const asked: ClaimContext[] = [];
    const beforeClaim = (ctx: ClaimContext) => void asked.push(ctx);
    const { clock, deployment } = startLoop(handler, {
      ...{ concurrency: 3, maxCost: 10, hooks: { beforeClaim } },
    });
    deployment.enqueue(null, "tiles", { cost: 4 });
    await clock.advance(1_000);
    deployment.enqueue();
    await clock.advance(1_000);
    expect(asked[0]).toMatchObject({ max: 3, maxCost: 10, status: { slots: { used: 0, had: 3 } } });
    expect(asked.at(-1)).toMatchObject({ max: 2, maxCost: 6, status: { state: "working" } });
  });

  test("that takes time holds up no outcome", async () => {
    const { begun, handler } = manual();
    const answers: ((conditions: ClaimConditions) => void)[] = [];
    const beforeClaim = () => new Promise<ClaimConditions>((resolve) => answers.push(resolve));
    const { clock, deployment } = startLoop(handler, { hooks: { beforeClaim } });
    const id = deployment.enqueue();
    deployment.enqueue();
    await clock.advance(10_000);
    expect(begun).toHaveLength(0);
    answers[0]!({});
    await clock.advance(100);
    expect(begun).toHaveLength(1);
    begun[0]!.resolve("done");
    await clock.advance(10_000);
    expect(deployment.outcomeOf(id)).toEqual({ kind: "succeeded", result: "done" });
    expect(begun).toHaveLength(1);
    answers[1]!({});
    await clock.advance(100);
    expect(begun).toHaveLength(2);
  });

  test("narrows a claim to a cost, to labels and to groups, and such a claim has no cursor", async () => {
    const conditions = { maxCost: 2, labels: ["gpu"], groups: ["org_1"] };
    let isNarrow = true;
    const { clock, deployment } = startLoop(async () => null, {
      ...{ maxCost: 10, labels: ["gpu", "eu"] },
      hooks: { beforeClaim: () => (isNarrow ? conditions : {}) },
    });
    deployment.claimAnswer = () => ({ cursor: "of a scan" });
    for (const narrow of [true, false, false, true]) {
      isNarrow = narrow;
      deployment.enqueue();
      await clock.advance(1_000);
    }
    const asked = deployment.requests;
    expect(asked[0]).toMatchObject({ max: 1, ...conditions });
    const cursors = (of: boolean) =>
      asked.filter(({ labels }) => (labels !== undefined) === of).map(({ cursor }) => cursor);
    expect(new Set(cursors(true))).toEqual(new Set([undefined]));
    // Of claims with the whole offer, the second goes on where the first one ended.
    expect(new Set(cursors(false))).toEqual(new Set([undefined, "of a scan"]));
  });

  test("that returns null, or a promise that is not of the platform's own, counts as such", async () => {
    const said: unknown[] = [null, thenable(false), thenable(null)];
    const beforeClaim = () => said.shift() as never;
    const { clock, deployment, callsOf, kinds } = startLoop(async () => null, {
      hooks: { beforeClaim, backPressure: { check: () => thenable(false) as never } },
    });
    await clock.advance(100);
    expect(callsOf("claim")).toHaveLength(1);
    deployment.enqueue();
    await clock.advance(HELD_BACK_MS - 100);
    expect(callsOf("claim")).toHaveLength(1);
    await clock.advance(2 * HELD_BACK_MS);
    expect(deployment.recorded.size).toBe(1);
    expect([...kinds("hookFailed"), ...kinds("backPressure")]).toEqual([]);
  });

  // Shows LF-07.
  test("may name the jobs that it has seen: the claim is for these alone", async () => {
    const beforeClaim = async ({ peek }: ClaimContext) => ({
      ids: (await peek()).filter(({ payload }) => payload === "mine").map(({ id }) => id),
    });
    const { clock, deployment } = startLoop(async () => null, {
      ...{ concurrency: 4, hooks: { beforeClaim } },
    });
    deployment.enqueue("other");
    const mine = deployment.enqueue("mine");
    await clock.advance(50);
    expect(deployment.requests[0]).toMatchObject({ max: 4, named: [mine], lookIn: [] });
  });

  test("that names no job, or a queue without jobs, costs no call, and is asked ever more seldom", async () => {
    let asked = 0;
    const beforeClaim = () => (asked++, { ids: [] });
    const { clock, deployment, callsOf } = startLoop(async () => null, { hooks: { beforeClaim } });
    deployment.enqueue();
    await clock.advance(60_000);
    expect(callsOf("claim")).toEqual([]);
    expect(asked).toBeGreaterThan(10);
    expect(asked).toBeLessThan(30);
  });

  test.each([
    ["throws", () => Promise.reject(new Error("no driver")), /no driver/],
    [
      "names a queue of another worker",
      () => ({ queues: ["walls"] }),
      /among .*tiles; got "walls"/,
    ],
    ["names queues and jobs", () => ({ queues: ["tiles"], ids: [] }), /not both/],
    ["offers a label that the worker has not", () => ({ labels: ["tpu"] }), /none; got "tpu"/],
  ])("that %s leaves the claim out, and the event says so", async (_, beforeClaim, said) => {
    const { clock, deployment, callsOf, kinds, end } = startLoop(async () => null, {
      hooks: { beforeClaim },
    });
    deployment.enqueue();
    await clock.advance(HELD_BACK_MS);
    expect(callsOf("claim")).toEqual([]);
    const [failed] = kinds("hookFailed");
    expect(failed).toMatchObject({ hook: "beforeClaim", error: expect.stringMatching(said) });
    expect(end.value).toBeUndefined();
  });
});

function raise(error: Error): never {
  throw error;
}

/** A promise as of another library. */
function thenable(value: unknown): PromiseLike<unknown> {
  const real = Promise.resolve(value);
  return { then: (resolve, reject) => real.then(resolve, reject) };
}

describe("back pressure", () => {
  test.each([
    ["at once", () => raise(new Error("no gauge"))],
    ["later", () => Promise.reject(new Error("no gauge"))],
  ])(
    "with a check that throws %s leaves the claim out, and the event names it",
    async (_, check) => {
      const { clock, deployment, callsOf, kinds } = startLoop(async () => null, {
        hooks: { backPressure: { check }, beforeClaim: () => true },
      });
      deployment.enqueue();
      await clock.advance(HELD_BACK_MS - 1);
      expect(callsOf("claim")).toEqual([]);
      expect(kinds("hookFailed")).toEqual([
        { kind: "hookFailed", hook: "backPressure", error: "no gauge" },
      ]);
    },
  );

  test("names beforeClaim where that throws after a limit was reached", async () => {
    let isFull = true;
    const { clock, kinds } = startLoop(async () => null, {
      hooks: {
        backPressure: { check: () => isFull },
        beforeClaim: () => raise(new Error("no driver")),
      },
    });
    await clock.advance(1_500);
    isFull = false;
    await clock.advance(HELD_BACK_MS);
    expect(kinds("hookFailed")).toMatchObject([{ hook: "beforeClaim" }]);
  });

  test.each([
    ["memory", 0.85, 0.75],
    ["cpu", 0.95, 0.85],
  ] as const)(
    "claims nothing while %s is over its limit, and says when that begins and ends",
    async (measure, above, below) => {
      const { begun, handler } = manual();
      const used = { memory: 0.5, cpu: 0.2 };
      const { clock, deployment, kinds } = startLoop(handler, {
        concurrency: 2,
        hooks: { backPressure: { memory: 0.8, cpu: 0.9 } },
        load: { memory: () => used.memory, cpu: () => used.cpu },
      });
      deployment.enqueue();
      await clock.advance(1_000);
      expect(begun).toHaveLength(1);
      used[measure] = above;
      deployment.enqueue();
      await clock.advance(10_000);
      expect(begun).toHaveLength(1);
      used[measure] = below;
      await clock.advance(HELD_BACK_MS + 100);
      expect(begun).toHaveLength(2);
      expect(kinds("backPressure")).toEqual([
        { kind: "backPressure", by: measure },
        { kind: "backPressure", by: null },
      ]);
    },
  );

  test("goes by a check of the app's own, before `beforeClaim` is asked", async () => {
    let isFull = true;
    let asked = 0;
    const { clock, deployment, kinds } = startLoop(async () => null, {
      hooks: {
        backPressure: { check: () => Promise.resolve(isFull) },
        beforeClaim: () => void asked++,
      },
    });
    deployment.enqueue();
    await clock.advance(10_000);
    expect({ asked, recorded: deployment.recorded.size }).toEqual({ asked: 0, recorded: 0 });
    isFull = false;
    await clock.advance(2 * HELD_BACK_MS);
    expect(deployment.recorded.size).toBe(1);
    expect(kinds("backPressure").map((event) => "by" in event && event.by)).toEqual([
      "check",
      null,
    ]);
  });
});
