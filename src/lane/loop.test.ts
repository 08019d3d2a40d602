import { describe, expect, test } from "vitest";
import type { LaneJob, LaneReply } from "../shared/index.js";
import { FakeClock } from "../worker/fakes.test.js";
import type { Said } from "./index.js";
import { heardOf, job, nothing, runOne, start } from "./fakes.test.js";

/** A lane of these jobs, each ended at once, whose calls are answered by `answer`. Returns the calls. */
async function play(
  jobs: LaneJob[],
  answer: (args: Said, call: number) => LaneReply,
): Promise<Said[]> {
  const calls: Said[] = [];
  await runOne(
    {
      step: (args) => {
        calls.push(args);
        return new Promise((resolve) => resolve(answer(args, calls.length)));
      },
      later: () => Promise.resolve(null),
      run: () => Promise.resolve({ outcome: { kind: "succeeded", result: null } }),
    },
    start(...jobs),
  );
  return calls;
}

test("a call that seemed to fail is not counted as heard: the next is told what it claimed", async () => {
  const calls = await play([job("a")], (args, call) => {
    if (call === 1) throw new Error("The answer was lost.");
    return { ...nothing, answers: heardOf(args), jobs: call === 2 ? [job("b")] : [] };
  });
  expect(calls.map(({ n, heard }) => [n, heard])).toEqual([
    [2, 1],
    [3, 1],
    [4, 3],
  ]);
  expect(calls.map(({ finished }) => finished.map(({ id }) => id))).toEqual([["a"], ["a"], ["b"]]);
});

test("each call says when it was made: a transaction that is run again since it lost takes fewer jobs", async () => {
  const before = Date.now();
  const calls = await play([job("a")], (args) => ({ ...nothing, answers: heardOf(args) }));
  expect(calls).toHaveLength(1);
  expect(calls[0]!.sentAt).toBeGreaterThanOrEqual(before);
  expect(calls[0]!.sentAt).toBeLessThanOrEqual(Date.now());
});

test("a lane whose first jobs were too large to be carried asks for them at once", async () => {
  const calls: Said[] = [];
  await runOne(
    {
      step: (args) => {
        calls.push(args);
        const jobs = calls.length === 1 ? [job("large")] : [];
        return Promise.resolve({ ...nothing, answers: heardOf(args), jobs });
      },
      later: () => Promise.resolve(null),
      run: () => Promise.resolve({ outcome: { kind: "succeeded", result: null } }),
    },
    { ...start(), n: 5, heard: 4, lookAfterMs: 60_000 },
    new FakeClock(),
  );
  expect(calls.map(({ n, heard, finished }) => [n, heard, finished.length])).toEqual([
    [6, 4, 0],
    [7, 6, 1],
  ]);
});

describe("what ends within a moment", () => {
  /** When calls were made, and what they reported, of jobs that run so long. */
  const reported = async (runsMs: Record<string, number>) => {
    const clock = new FakeClock();
    const calls: [number, string[]][] = [];
    const jobs = Object.keys(runsMs).map((id) => job(id));
    const over = runOne(
      {
        step: (args) => {
          calls.push([clock.now(), args.finished.map(({ id }) => id)]);
          const isOver = calls.flatMap(([, ids]) => ids).length === jobs.length;
          return Promise.resolve({ ...nothing, answers: heardOf(args), isOver });
        },
        later: () => Promise.resolve(null),
        run: (one) =>
          new Promise((resolve) => {
            const outcome = { kind: "succeeded", result: null } as const;
            clock.after(runsMs[one.job.id]!, () => resolve({ outcome }));
          }),
      },
      start(...jobs),
      clock,
    );
    await clock.advance(5_000);
    await over;
    return calls;
  };

  test("is reported together, 25 ms after the first of it", async () => {
    expect(await reported({ a: 10, b: 30, c: 1_000 })).toEqual([
      [35, ["a", "b"]],
      [1_000, ["c"]],
    ]);
  });

  test("is reported at once when nothing runs any more", async () => {
    expect(await reported({ a: 10, b: 12 })).toEqual([[12, ["a", "b"]]]);
  });
});

test("mutations that bring a call down are run one by one, and what fails alone has failed", async () => {
  const calls = await play([job("a", "mutation"), job("b", "mutation")], (args) => {
    if (args.execute.some(({ id }) => id === "b")) throw new Error("Too much.");
    return { ...nothing, answers: heardOf(args) };
  });
  expect(calls.map(({ execute }) => execute.map(({ id }) => id))).toEqual([
    ["a", "b"],
    ["a"],
    ["b"],
    [],
  ]);
  expect(calls.at(-1)!.finished).toEqual([
    { id: "b", attempt: 1, queue: "", outcome: { kind: "failed", error: "Too much." } },
  ]);
});

test("mutations without an answer were too much beside others, and are run alone", async () => {
  const calls = await play([job("a", "mutation"), job("b", "mutation")], (args) => ({
    ...nothing,
    answers: args.execute.length > 1 ? [] : heardOf(args),
  }));
  expect(calls.map(({ execute }) => execute.length)).toEqual([2, 1, 1]);
});

describe("a mutation that conflicts however often has done nothing wrong", () => {
  /** How a job is put off, at that attempt, whose handler brings down every call in which it is. */
  const putOff = async (attempt: number, failures = 0, said = CONFLICT) => {
    const [a, b] = [job("a", "mutation"), job("b", "mutation")];
    Object.assign(b.job, { attempt, failures });
    const calls = await play([a, b], (args) => {
      if (args.execute.some(({ id }) => id === "b")) throw new Error(said);
      return { ...nothing, answers: heardOf(args) };
    });
    const [finished, ...more] = calls.at(-1)!.finished;
    expect(more).toEqual([]);
    expect(finished).toMatchObject({ id: "b", attempt });
    return finished!.outcome;
  };
  const CONFLICT =
    'Documents read from or written to the "notes" table changed while this mutation was being run and on every ' +
    "subsequent retry.";

  test("its job comes back later, ever later, and within minutes", async () => {
    const waits: number[] = [];
    for (const attempt of [1, 2, 4, 7, 400]) {
      const outcome = await putOff(attempt);
      expect(outcome.kind).toBe("snoozed");
      waits.push(outcome.kind === "snoozed" ? outcome.runAfter : NaN);
    }
    for (const [i, full] of [1_000, 2_000, 8_000, 64_000, 300_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(full * 0.5);
      expect(waits[i]).toBeLessThanOrEqual(full * 1.5);
    }
  });

  test("what it failed by before does not make it wait longer", async () => {
    expect(await putOff(9, 8)).toMatchObject({ kind: "snoozed", runAfter: expect.any(Number) });
    const { runAfter } = (await putOff(9, 8)) as { runAfter: number };
    expect(runAfter).toBeLessThanOrEqual(1_500);
  });

  test.each(["Too many concurrent requests.", "Too many writes per second."])(
    "nor was it to blame for %s",
    async (said) => {
      expect(await putOff(1, 0, said)).toMatchObject({ kind: "snoozed" });
    },
  );

  test.each([
    "Too many writes in a single function execution (limit: 16000)",
    "Uncaught Error: the row changed while this mutation was away",
  ])("but for %s", async (said) => {
    expect(await putOff(1, 0, said)).toMatchObject({ kind: "failed" });
  });
});
