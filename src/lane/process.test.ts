/** A process: how its lanes share places, how it receives lanes, and how it ends. */
import { describe, expect, test } from "vitest";
import { INLINE_OPEN_MS, PROCESS_LATE_MS, receivesMs } from "../shared/index.js";
import {
  FakeProcess,
  handedOver,
  heardOf,
  job,
  laneOf,
  nothing,
  processOf,
  start,
} from "./fakes.test.js";

const handed = (lane: string, ...ids: string[]) => ({
  ...laneOf(lane, ...ids.map((id) => job(id))),
  handOver: `handOver of ${lane}`,
});
const receiving = (places: number) => processOf([start(job("a"))], { places, receives: true });

/** A lane that goes on, even without jobs. */
const goesOn = { ...nothing, isOver: false };

describe("places", () => {
  test("are shared by all lanes of the process: no more jobs run than there are places", async () => {
    const fake = new FakeProcess();
    const lanes = [laneOf("x", job("a"), job("b")), laneOf("y", job("c"), job("d"))];
    await fake.start(processOf(lanes, { places: 3 }));
    expect(fake.running).toHaveLength(3);
    await fake.end("a");
    expect([...fake.running].sort()).toEqual(["b", "c", "d"]);
  });

  test("go first to the lane that runs least", async () => {
    const fake = new FakeProcess();
    const lanes = [laneOf("x", job("a"), job("b"), job("c")), laneOf("y", job("d"))];
    await fake.start(processOf(lanes, { places: 1 }));
    await fake.end("a");
    expect(fake.running).toEqual(["d"]);
  });

  test("that one call is offered are not offered to another that is under way", async () => {
    const fake = new FakeProcess();
    const lanes = [laneOf("x", job("a")), laneOf("y", job("b"))];
    await fake.start(processOf(lanes, { places: 3 }));
    await fake.end("a", "b");
    const offered = fake.steps.map((said) => said.in!.places);
    expect(offered).toHaveLength(2);
    expect(offered[0]! + offered[1]!).toBeLessThanOrEqual(3);
    // The second asks for no more: the first may leave some of its own.
    expect(fake.steps.map((said) => said.in!.isFull)).toEqual([true, false]);
  });

  test("of a call that was answered with nothing are free again", async () => {
    const fake = new FakeProcess();
    fake.step = (args) => ({ ...goesOn, answers: heardOf(args), lookAfterMs: 100 });
    await fake.start(processOf([start(job("a"))], { places: 2 }));
    await fake.end("a");
    await fake.clock.advance(100);
    expect(fake.steps.map((said) => said.in!.places)).toEqual([2, 2]);
  });

  test("that a step brings are filled by its next, which is offered as many as before where the step took nothing and is repeated at once", async () => {
    const fake = new FakeProcess();
    fake.step = (args, calls) => ({
      ...{ ...goesOn, answers: heardOf(args), lookAfterMs: 0 },
      ...(calls === 1 ? { given: 4 } : { lookAfterMs: null }),
    });
    await fake.start(processOf([start(job("a"), job("b"))], { places: 2 }));
    await fake.end("a");
    // One of its two places is still taken, so the next call has five.
    expect(fake.steps.map((said) => said.in!.places)).toEqual([1, 5]);
  });
});

describe("a job that was handed over and finds no place", () => {
  test("waits, and the process asks for some", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7, handed("x", "b"));
    await fake.start(receiving(1));
    await fake.clock.advance(250);
    expect(fake.running).toEqual(["a"]);
    const [asked] = fake.asked.filter(({ call }) => call === "ask");
    expect(asked!.args).toEqual({ process: "process", generation: 3, any: 4, few: 1 });
  });

  test("begins as soon as the process is given one", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7, handed("x", "b"));
    fake.ask = () => 2;
    await fake.start(receiving(1));
    await fake.clock.advance(250);
    expect(fake.running).toEqual(["a", "b"]);
  });

  test("begins with the end of another where the process is given none, which asks again after 500 ms", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7, handed("x", "b"));
    await fake.start(receiving(1));
    await fake.clock.advance(250);
    expect(fake.countOf("ask")).toBe(1);
    await fake.clock.advance(500);
    expect(fake.countOf("ask")).toBe(2);
    await fake.end("a");
    expect(fake.running).toEqual(["b"]);
    await fake.clock.advance(2_000);
    expect(fake.countOf("ask")).toBe(2);
  });

  test("is asked for with the mount's share, where the app has said one", async () => {
    const fake = new FakeProcess();
    await fake.start(processOf([start(job("a"), job("b"))], { places: 1, share: 0.25 }));
    expect(fake.asked[0]!.args).toMatchObject({ share: 0.25 });
  });
});

describe("hand-overs", () => {
  test("that two answers tell of are adopted once", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7, handed("x", "b"));
    fake.step = (args) => ({
      ...{ ...nothing, answers: heardOf(args) },
      handedOver: handedOver(8, handed("x", "b"), handed("y", "c")),
    });
    await fake.start(receiving(9));
    await fake.clock.advance(250);
    await fake.end("a");
    await fake.clock.advance(1_000);
    expect(fake.running).toEqual(["b", "c"]);
  });

  test("are named by the lane's calls until one has been answered", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7, handed("x", "b"));
    fake.step = (args, calls) => {
      if (calls === 1) throw new Error("The answer was lost.");
      return { ...goesOn, answers: heardOf(args), lookAfterMs: 5_000 };
    };
    await fake.start(receiving(9));
    await fake.clock.advance(250);
    await fake.end("b");
    await fake.clock.advance(7_000);
    expect(fake.steps.map(({ handOver }) => handOver)).toEqual([
      "handOver of x",
      "handOver of x",
      undefined,
    ]);
  });

  test("are asked for from the last commit on of which the process has heard", async () => {
    const fake = new FakeProcess();
    fake.look = () => handedOver(7);
    await fake.start(receiving(9));
    await fake.clock.advance(500);
    await fake.end("a");
    const upTo = fake.asked.map(({ args }) => (args as { upTo: bigint }).upTo);
    expect(upTo).toEqual([0n, 7n]);
    expect(fake.steps[0]!.in!.receivedUpTo).toBe(7n);
  });
});

describe("polls", () => {
  test("are soon after the start, then every 250 ms, and every second where a step has polled", async () => {
    const fake = new FakeProcess();
    fake.step = (args) => ({
      ...{ ...goesOn, answers: heardOf(args), lookAfterMs: 100 },
      handedOver: handedOver(7),
    });
    await fake.start(receiving(9));
    await fake.clock.advance(1_000);
    expect(fake.asked.map(({ at, call }) => [at, call])).toEqual(
      [50, 300, 550, 800].map((at) => [at, "look"]),
    );
    await fake.end("a");
    await fake.clock.advance(5_000);
    expect(fake.countOf("look")).toBe(4 + 5);
  });

  test("are made only by a process that receives", async () => {
    const fake = new FakeProcess();
    await fake.start(processOf([start(job("a"))]));
    await fake.clock.advance(60_000);
    await fake.end("a");
    expect(fake.countOf("look")).toBe(0);
    expect(fake.steps[0]!.in).not.toHaveProperty("receivedUpTo");
  });

  test("end a minute after the last lane is handed over", async () => {
    const fake = new FakeProcess();
    await fake.start(receiving(9), true);
    await fake.clock.advance(receivesMs(true) + PROCESS_LATE_MS + 1_000);
    const before = fake.countOf("look");
    expect(fake.asked.at(-1)!.at).toBeGreaterThan(receivesMs(true) + PROCESS_LATE_MS - 1_000);
    await fake.clock.advance(60_000);
    expect(fake.countOf("look")).toBe(before);
    // From then on no lane comes that could use its places.
    expect(fake.asked.at(-1)).toMatchObject({ call: "rouse", args: { givenBack: 8 } });
    expect(fake.countOf("rouse")).toBe(1);
  });

  test("that are refused are made again", async () => {
    const fake = new FakeProcess();
    fake.look = () => {
      throw new Error("No answer.");
    };
    await fake.start(receiving(9));
    await fake.clock.advance(750);
    expect(fake.countOf("look")).toBe(3);
  });
});

describe("the end", () => {
  test("is with the call of the last lane, which says so; a lane with other lanes beside it does not", async () => {
    const fake = new FakeProcess();
    await fake.start(processOf([laneOf("x", job("a")), laneOf("y", job("b"))]));
    await fake.end("a");
    expect(fake.isOver).toBe(false);
    await fake.end("b");
    expect(fake.isOver).toBe(true);
    expect(fake.steps.map((said) => said.in!.closes)).toEqual([undefined, true]);
    expect(fake.asked).toEqual([]);
  });

  test("is asked for once more, by a call of its own, where the reply of that call was lost", async () => {
    const fake = new FakeProcess();
    fake.step = (args, calls) => {
      if (calls === 1) throw new Error("The answer was lost.");
      return { ...nothing, answers: heardOf(args) };
    };
    await fake.start(processOf([start(job("a"))]));
    await fake.end("a");
    await fake.clock.advance(2_000);
    expect(fake.asked.map(({ call, args }) => [call, args])).toEqual([
      ["close", { process: "process", generation: 3 }],
    ]);
    expect(fake.isOver).toBe(true);
  });

  test.each(["step", "close"] as const)(
    "does not come where the %s tells of a lane that was handed over: the process adopts it",
    async (by) => {
      const fake = new FakeProcess();
      const last = handedOver(9, handed("x", "b"));
      fake.step = (args, calls) => ({
        ...{ ...nothing, answers: heardOf(args) },
        ...(calls > 1 ? { isClosed: true } : by === "step" ? { handedOver: last } : {}),
      });
      fake.close = () => ({ isClosed: false, handedOver: last });
      await fake.start(receiving(1));
      await fake.end("a");
      expect(fake.running).toEqual(["b"]);
      expect(fake.isOver).toBe(false);
      await fake.end("b");
      expect(fake.isOver).toBe(true);
      expect(fake.countOf("close")).toBe(by === "close" ? 1 : 0);
    },
  );

  test("is left to the janitor where five calls that would say so are refused", async () => {
    const fake = new FakeProcess();
    fake.step = (args) => ({ ...nothing, answers: heardOf(args) });
    fake.close = () => {
      throw new Error("No answer.");
    };
    await fake.start(processOf([start(job("a"))]));
    await fake.end("a");
    await fake.clock.advance(10_000);
    expect(fake.countOf("close")).toBe(5);
    expect(fake.isOver).toBe(true);
  });
});

test("a process in an action of the app says until when it takes jobs, which ends before its life does", async () => {
  const fake = new FakeProcess();
  const said = processOf([start(job("a"))]);
  await fake.start(said, true);
  await fake.end("a");
  const { openUntil, endsAt } = fake.steps[0]!.in!;
  expect(openUntil).toBe(said.openedAt + INLINE_OPEN_MS);
  expect(endsAt).toBeGreaterThan(openUntil!);
});

describe("late work", () => {
  const late = (fake: FakeProcess) => (args: Parameters<FakeProcess["step"]>[0]) => ({
    ...{ ...nothing, answers: heardOf(args), lookAfterMs: 100, isOver: false },
    isLate: fake.countOf("tend") === 0,
  });

  test("is tended by the process of a lane whose answer says so, until no more is left", async () => {
    const fake = new FakeProcess();
    fake.tends = 3;
    fake.step = late(fake);
    await fake.start(processOf([start(job("a"), job("b"))]));
    await fake.end("a");
    await fake.clock.advance(300);
    expect(fake.steps.length).toBeGreaterThan(2);
    expect(fake.countOf("tend")).toBe(3);
  });

  test("is tended by one call at a time, and by so many in a row at most", async () => {
    const fake = new FakeProcess();
    fake.tends = Infinity;
    fake.step = (args) => ({ ...late(fake)(args), isLate: fake.steps.length === 1 });
    await fake.start(processOf([start(job("a"), job("b"))]));
    await fake.end("a");
    await fake.clock.advance(300);
    expect(fake.countOf("tend")).toBe(16);
  });
});
