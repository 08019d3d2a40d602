/** Places that a process does not use: when it gives them back, by which call, and how it wakes queues that wait for them. */
import { describe, expect, test } from "vitest";
import { FakeProcess, heardOf, job, nothing, processOf, start } from "./fakes.test.js";

const receiving = (places: number) => processOf([start(job("a"))], { places, receives: true });

/** A lane that goes on, even without jobs. */
const goesOn = { ...nothing, isOver: false };

const rousesOf = (fake: FakeProcess) => fake.asked.filter(({ call }) => call === "rouse");

/** The first call that gives places back by itself. */
const refusedOnce = (calls: number) => {
  if (calls === 1) throw new Error("Too many concurrent requests.");
};

describe("places that it does not use", () => {
  /** A lane with a job, and two more jobs that have ended. */
  const looking = () => {
    const fake = new FakeProcess();
    fake.step = (args) => ({ ...goesOn, answers: heardOf(args), lookAfterMs: 1_000 });
    return fake;
  };

  test("are given back by a call, a second after it was last given some", async () => {
    const fake = looking();
    await fake.start(processOf([start(job("a"), job("b"))], { places: 20 }));
    await fake.end("b");
    await fake.clock.advance(900);
    expect(fake.steps.every((said) => said.in!.givenBack === undefined)).toBe(true);
    await fake.clock.advance(5_100);
    const given = fake.steps.map((said) => said.in!.givenBack ?? 0);
    // One runs and two are offered: one and a half times as many, and three, it keeps.
    expect(given.filter((count) => count > 0)).toEqual([expect.any(Number)]);
    const left = 20 - given.reduce((sum, count) => sum + count);
    expect(left).toBeGreaterThanOrEqual(4);
    expect(left).toBeLessThanOrEqual(10);
  });

  test("are given back by a call of their own where all lanes wait for long jobs, and make none", async () => {
    const fake = new FakeProcess();
    fake.step = (args) => ({ ...goesOn, answers: heardOf(args) });
    await fake.start(processOf([start(job("a"), job("b"), job("c"))], { places: 20 }));
    await fake.clock.advance(990);
    expect(rousesOf(fake)).toEqual([]);
    await fake.clock.advance(60_000);
    expect(rousesOf(fake).map(({ args }) => args)).toEqual([
      { process: "process", generation: 3, givenBack: 17 },
    ]);
    // Few are kept: the next job is likely to need one.
    await fake.end("b");
    await fake.end("c");
    await fake.clock.advance(60_000);
    expect(rousesOf(fake)).toHaveLength(1);
  });

  test("are said again a second later where the call that gives them back was refused", async () => {
    const fake = new FakeProcess();
    fake.rouse = refusedOnce;
    await fake.start(processOf([start(job("a"))], { places: 20 }));
    await fake.clock.advance(60_000);
    expect(rousesOf(fake).map(({ args }) => args)).toEqual([
      { process: "process", generation: 3, givenBack: 19 },
      { process: "process", generation: 3, givenBack: 19 },
    ]);
  });

  test("are given back at once where queues wait, all but one, with the word that wakes them", async () => {
    const fake = looking();
    fake.look = (upTo) => ({ lanes: [], upTo, areWaiting: true });
    await fake.start(receiving(6));
    await fake.clock.advance(250);
    expect(rousesOf(fake).map(({ args }) => args)).toEqual([
      { process: "process", generation: 3, givenBack: 5 },
    ]);
  });

  test("are given back by the next call where one was refused, or its answer lost", async () => {
    const fake = looking();
    const answer = fake.step;
    const back = () => fake.steps.flatMap((said) => said.in!.givenBack ?? []);
    fake.step = (args, calls) => {
      if (back().length === 1 && args.in!.givenBack !== undefined)
        throw new Error("Too many concurrent requests.");
      return answer(args, calls);
    };
    await fake.start(processOf([start(job("a"), job("b"))], { places: 20 }));
    await fake.end("b");
    await fake.clock.advance(10_000);
    const [first, again, ...more] = back();
    expect(again).toBe(first);
    expect(more).toEqual([]);
  });

  test("are given back by the next call where the word that wakes queues was refused", async () => {
    const fake = looking();
    fake.look = (upTo) => ({ lanes: [], upTo, areWaiting: true });
    fake.rouse = refusedOnce;
    await fake.start(receiving(6));
    await fake.clock.advance(3_000);
    expect(rousesOf(fake).map(({ args }) => args)).toEqual([
      { process: "process", generation: 3, givenBack: 5 },
      { process: "process", generation: 3, givenBack: 5 },
    ]);
  });

  test("queues that wait are not woken where no place is free, neither here nor in the mount", async () => {
    const fake = new FakeProcess();
    fake.look = (upTo) => ({ lanes: [], upTo, areWaiting: true, arePlaces: false });
    await fake.start(receiving(1));
    await fake.clock.advance(4_400);
    expect(rousesOf(fake)).toEqual([]);
  });

  test("queues that wait are woken every second while the mount has places", async () => {
    const fake = new FakeProcess();
    fake.look = (upTo) => ({ lanes: [], upTo, areWaiting: true, arePlaces: true });
    await fake.start(receiving(1));
    await fake.clock.advance(4_400);
    expect(rousesOf(fake).map(({ at }) => at)).toEqual([50, 1_050, 2_050, 3_050, 4_050]);
    expect(rousesOf(fake)[0]!.args).toMatchObject({ givenBack: 0 });
  });
});
