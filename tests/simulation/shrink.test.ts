import { describe, expect, test } from "vitest";
import { candidates, cutPlan } from "./cuts.js";
import { drawPlan } from "./draws.js";
import { replayLine } from "./failures.js";
import type { Plan } from "./plan.js";
import { shrink } from "./shrink.js";

/** One with some of everything. */
function eventful(): Plan {
  for (let seed = 1; seed < 500; seed += 1) {
    const plan = drawPlan(seed);
    const hasBatch = candidates(plan).some((cut) => cut.startsWith("job:"));
    if (plan.events.length >= 5 && plan.workers.length >= 2 && hasBatch) return plan;
  }
  throw new Error("No seed draws such a plan.");
}

const jobsOf = (plan: Plan) =>
  plan.events.flatMap((event) => (event["jobs"] as { payload: { n: number } }[] | undefined) ?? []);

describe("a plan", () => {
  test("is plain data, and the seed's alone", () => {
    for (const seed of [1, 2, 3, 40]) {
      const plan = drawPlan(seed);
      expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
      expect(drawPlan(seed)).toEqual(plan);
    }
    expect(drawPlan(1)).not.toEqual(drawPlan(2));
  });

  test("a cut removes the part it names, and moves nothing else", () => {
    const plan = eventful();
    const cut = cutPlan(plan, ["event:1", `worker:${plan.workers[1]!.name}`]);
    expect(cut.events).toEqual(plan.events.filter((_, i) => i !== 1));
    expect(cut.workers).toEqual(plan.workers.filter((_, i) => i !== 1));
    expect(cut.queues).toEqual(plan.queues);
    expect(cutPlan(plan, ["even"]).jitter).toBe(0);
  });

  test("loses a part with all its events", () => {
    const plan = eventful();
    const part = plan.events[0]!.do.split(".")[0]!;
    const cut = cutPlan(plan, [`part:${part}`]);
    expect(cut.parts).not.toContain(part);
    expect(cut.events.some((event) => event.do.startsWith(`${part}.`))).toBe(false);
    expect(cut.events.length).toBeLessThan(plan.events.length);
  });

  test("loses single jobs of a batch, and the call with the last of them", () => {
    const plan = eventful();
    const job = candidates(plan).find((cut) => cut.startsWith("job:"));
    expect(job, "the plan has a batch").toBeDefined();
    expect(jobsOf(cutPlan(plan, [job!]))).toHaveLength(jobsOf(plan).length - 1);
    const index = job!.slice("job:".length).split(".")[0]!;
    const all = candidates(plan).filter((cut) => cut.startsWith(`job:${index}.`));
    expect(cutPlan(plan, all).events).toHaveLength(plan.events.length - 1);
  });
});

describe("the shrinker", () => {
  test("keeps the events that the failure needs, and little else", async () => {
    const plan = eventful();
    const needed = jobsOf(plan)[0]!.payload.n;
    let tried = 0;
    const cuts = await shrink(plan, (some) => {
      tried += 1;
      return Promise.resolve(
        jobsOf(cutPlan(plan, some)).some(({ payload }) => payload.n === needed),
      );
    });
    const left = cutPlan(plan, cuts);
    expect(jobsOf(left).map(({ payload }) => payload.n)).toEqual([needed]);
    expect(left.events).toHaveLength(1);
    expect(left.parts).toEqual(["producers"]);
    expect(tried).toBeLessThan(10 * candidates(plan).length);
  });

  test("gives back the whole plan where all of it is needed", async () => {
    const plan = eventful();
    const whole = JSON.stringify(cutPlan(plan, []));
    const fails = (cuts: readonly string[]) =>
      Promise.resolve(JSON.stringify(cutPlan(plan, cuts)) === whole);
    expect(await shrink(plan, fails)).toEqual([]);
  });

  test("stops with the smallest plan so far when its time is over", async () => {
    const plan = eventful();
    let tried = 0;
    const fails = () => Promise.resolve(tried++ >= 0);
    const cuts = await shrink(plan, fails, () => tried >= 1);
    expect(tried).toBe(1);
    expect(cuts.length).toBeGreaterThan(0);
  });
});

test("the message of a failure has the line that replays it", () => {
  expect(replayLine(7)).toBe("npm run simulate -- --seed=7");
  expect(replayLine(7, { cuts: ["event:1", "worker:worker 2"], mutant: "a bug" })).toBe(
    `npm run simulate -- --seed=7 --cut="event:1,worker:worker 2" --mutant="a bug"`,
  );
});
