import { describe, expect, test } from "vitest";
import type { LaneJob, LaneReply } from "../shared/index.js";
import { FakeClock } from "../worker/fakes.test.js";
import type { StepReport } from "./index.js";
import { answered, heardOf, job, nothing, runOne, start } from "./fakes.test.js";

/** A lane of these jobs, each ended at once, with `answer` for its calls. Returns the calls. */
async function play(
  jobs: LaneJob[],
  answer: (args: StepReport, call: number) => LaneReply,
): Promise<StepReport[]> {
  const calls: StepReport[] = [];
  await runOne(
    {
      step: (args) => {
        calls.push(args);
        return new Promise((resolve) => resolve(answer(args, calls.length)));
      },
      apart: answered,
      run: () => Promise.resolve({ outcome: { kind: "succeeded", result: null } }),
    },
    start(...jobs),
  );
  return calls;
}

test("a call that seemed to fail is not counted as heard: the next is answered with its claimed jobs", async () => {
  const calls = await play([job("a")], (args, call) => {
    if (call === 1) throw new Error("The answer was lost.");
    return { ...nothing, answers: heardOf(args), jobs: call === 2 ? [job("b")] : [] };
  });
  expect(calls.map(({ callSeq: n, lastAckedCall: heard }) => [n, heard])).toEqual([
    [2, 1],
    [3, 1],
    [4, 3],
  ]);
  // The outcomes of the failed call have been recorded apart since.
  expect(calls.map(({ over = [] }) => over.map(({ id }) => id))).toEqual([[], ["a"], ["b"]]);
});

test("each call carries its time: a transaction that retries after a conflict takes fewer jobs", async () => {
  const before = Date.now();
  const calls = await play([job("a")], (args) => ({ ...nothing, answers: heardOf(args) }));
  expect(calls).toHaveLength(1);
  expect(calls[0]!.sentAt).toBeGreaterThanOrEqual(before);
  expect(calls[0]!.sentAt).toBeLessThanOrEqual(Date.now());
});

test("a lane with first jobs that were too large to be carried asks for them at once", async () => {
  const calls: StepReport[] = [];
  await runOne(
    {
      step: (args) => {
        calls.push(args);
        const jobs = calls.length === 1 ? [job("large")] : [];
        return Promise.resolve({ ...nothing, answers: heardOf(args), jobs });
      },
      apart: answered,
      run: () => Promise.resolve({ outcome: { kind: "succeeded", result: null } }),
    },
    { ...start(), callSeq: 5, lastAckedCall: 4, lookAfterMs: 60_000 },
    new FakeClock(),
  );
  expect(
    calls.map(({ callSeq: n, lastAckedCall: heard, finished }) => [n, heard, finished.length]),
  ).toEqual([
    [6, 4, 0],
    [7, 6, 1],
  ]);
});

describe("outcomes within a moment", () => {
  /** When calls were made, and the jobs that they reported, for jobs with these durations. */
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
        apart: answered,
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

  // Rules out D18.
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
