import { describe, expect, test } from "vitest";
import type { LaneJob, LaneReply } from "../shared/index.js";
import { FakeClock } from "../worker/fakes.test.js";
import type { StepReport, ApartReport } from "./index.js";
import { answered, heardOf, job, nothing, runOne, start } from "./fakes.test.js";

const CONFLICT =
  'Documents read from or written to the "notes" table changed while this mutation was being run and on every ' +
  "subsequent retry.";

type Called = { at: number; step: StepReport } | { at: number; apart: ApartReport };

/** A lane of these jobs, and its calls. Where nothing is said, all are answered at once. */
class Played {
  readonly clock = new FakeClock();
  readonly calls: Called[] = [];
  isOver = false;
  step: (said: StepReport) => LaneReply = (said) => ({ ...nothing, answers: heardOf(said) });
  apart: (said: ApartReport) => unknown = () => undefined;

  async begin(...jobs: LaneJob[]): Promise<void> {
    const { clock, calls } = this;
    const lane = runOne(
      {
        step: async (said) => {
          calls.push({ at: clock.now(), step: said });
          return await Promise.resolve(this.step(said));
        },
        apart: async (said) => {
          calls.push({ at: clock.now(), apart: said });
          await this.apart(said);
          return await answered(said);
        },
        run: () => Promise.resolve({ outcome: { kind: "succeeded", result: null } }),
      },
      start(...jobs),
      clock,
    );
    void lane.then(() => (this.isOver = true));
    await clock.advance(0);
  }

  get steps(): StepReport[] {
    return this.calls.flatMap((one) => ("step" in one ? [one.step] : []));
  }

  get aparts(): (ApartReport & { at: number })[] {
    return this.calls.flatMap((one) => ("apart" in one ? [{ ...one.apart, at: one.at }] : []));
  }
}

const ids = (jobs: readonly { id: string }[] = []) => jobs.map(({ id }) => id);

describe("a job without an answer has lost, or its call was too large", () => {
  test("handlers that are mutations go on each by itself, and the next call says that they are over", async () => {
    const played = new Played();
    played.step = ({ execute, ...said }) => ({
      ...nothing,
      answers: heardOf({ ...said, execute: [] }),
      isOver: execute.length === 0,
    });
    const timed = job("a", "mutation");
    const times = { timeoutMs: 9_000, claimableAt: 7 };
    await played.begin({ ...timed, job: { ...timed.job, ...times } }, job("b", "mutation"));
    expect(ids(played.aparts)).toEqual(["a", "b"]);
    expect(played.aparts[0], "its handler is told the times of its claim").toMatchObject(times);
    expect(played.aparts.every(({ finished }) => finished === undefined)).toBe(true);
    expect(played.steps.map(({ execute, over }) => [ids(execute), ids(over)])).toEqual([
      [["a", "b"], []],
      [[], ["a", "b"]],
    ]);
    expect(played.isOver).toBe(true);
  });

  test("an outcome goes on by itself too", async () => {
    const played = new Played();
    played.step = ({ finished }) => ({ ...nothing, isOver: finished.length === 0 });
    await played.begin(job("a"));
    expect(played.aparts).toMatchObject([{ id: "a", finished: { id: "a", attempt: 1 } }]);
    expect(played.steps.map(({ over }) => ids(over))).toEqual([[], ["a"]]);
    expect(played.isOver).toBe(true);
  });

  // Shows D16.
  // Rules out D33.
  test("so does each that was in a call that was refused", async () => {
    const played = new Played();
    played.step = (said) => {
      if (said.execute.length + said.finished.length > 0) throw new Error(CONFLICT);
      return { ...nothing, isOver: true };
    };
    await played.begin(job("a", "mutation"), job("b"));
    await played.clock.advance(2_000);
    expect(ids(played.aparts).sort()).toEqual(["a", "b"]);
    expect(played.isOver).toBe(true);
  });
});

describe("while one job loses again and again", () => {
  const hot = async (until = Infinity, said: string = CONFLICT) => {
    const played = new Played();
    played.step = ({ execute, over = [], ...args }) => ({
      ...nothing,
      answers: heardOf({ ...args, execute: [] }),
      lookAfterMs: 1_000,
      isOver: ids(over).includes("hot"),
      jobs: execute.length > 0 ? [job("b"), job("c", "mutation")] : [],
    });
    played.apart = ({ id }) => {
      if (id === "hot" && played.clock.now() < until) throw new Error(said);
    };
    await played.begin(job("hot", "mutation"));
    return played;
  };

  test("its lane goes on with everything else", async () => {
    const played = await hot();
    await played.clock.advance(5_000);
    expect(played.steps.length).toBeGreaterThan(4);
    expect(ids(played.aparts)).toEqual(expect.arrayContaining(["b", "c"]));
    expect(played.steps.flatMap(({ over = [] }) => ids(over)).sort()).toEqual(["b", "c"]);
    expect(played.isOver).toBe(false);
  });

  test("it is repeated, ever more seldom and at least every 10 s, until it is answered", async () => {
    const played = await hot(60_000);
    await played.clock.advance(75_000);
    const times = played.aparts.filter(({ id }) => id === "hot").map(({ at }) => at);
    const waits = times.slice(1).map((at, i) => at - times[i]!);
    expect(waits.slice(0, 4)).toEqual([187.5, 375, 750, 1_500]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
    expect(times.at(-1)).toBeGreaterThanOrEqual(60_000);
    expect(played.isOver).toBe(true);
  });

  test("from the third refusal on its callback runs later", async () => {
    const played = await hot();
    await played.clock.advance(3_000);
    const deferred = played.aparts
      .filter(({ id }) => id === "hot")
      .map(({ deferCallbacks = false }) => deferCallbacks);
    expect(deferred.slice(0, 4)).toEqual([false, false, true, true]);
  });

  test.each(["Too many concurrent requests.", "Too many writes per second."])(
    "it is not to blame for %s",
    async (said) => {
      const played = await hot(20_000, said);
      await played.clock.advance(40_000);
      const own = played.aparts.filter(({ id }) => id === "hot");
      expect(own.every(({ finished }) => finished === undefined)).toBe(true);
      expect(played.isOver).toBe(true);
    },
  );

  test.each([
    "Too much.",
    "Too many writes in a single function execution (limit: 16000)",
    "Uncaught Error: the row changed while this mutation was away",
  ])("but for %s: it has failed", async (said) => {
    const played = new Played();
    played.step = ({ over = [] }) => ({ ...nothing, isOver: over.length > 0 });
    played.apart = ({ finished }) => {
      if (finished === undefined) throw new Error(said);
    };
    await played.begin(job("a", "mutation"));
    await played.clock.advance(1_000);
    expect(played.aparts.map(({ finished }) => finished?.outcome)).toMatchObject([
      undefined,
      { kind: "failed" },
    ]);
    expect(played.isOver).toBe(true);
  });
});

test("after a loss jobs go apart from the first, until none has lost for ten seconds", async () => {
  const played = new Played();
  let brings: LaneJob[] = [];
  played.step = ({ execute, finished }) => {
    const jobs = brings;
    brings = [];
    const answers = ids(execute).includes("lost") ? [] : heardOf(played.steps.at(-1)!);
    return {
      ...nothing,
      answers,
      lookAfterMs: 1_000,
      isOver: ids(finished).includes("last"),
      jobs,
    };
  };
  await played.begin(job("lost", "mutation"));
  brings = [job("soon", "mutation"), job("done")];
  await played.clock.advance(9_000);
  brings = [job("late", "mutation")];
  await played.clock.advance(2_000);
  brings = [job("last")];
  await played.clock.advance(2_000);
  expect(ids(played.aparts)).toEqual(
    ["lost", "soon", "done", "late"].slice(0, ids(played.aparts).length),
  );
  expect(ids(played.aparts)).toEqual(expect.arrayContaining(["lost", "soon", "done"]));
  expect(played.steps.flatMap(({ finished }) => ids(finished))).toEqual(["last"]);
  expect(played.isOver).toBe(true);
});
