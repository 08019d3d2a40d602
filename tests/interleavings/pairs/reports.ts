/** Workers' reports on running jobs, beside the calls that end their attempts. */
import type { ReportAnswer } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { UNVALIDATED, type Pair } from "../pair.js";
import { LEASE_MS, type Line } from "../line.js";
import { Worker } from "../worker.js";

type ReportReply = { answers: ReportAnswer[] };

/** The claim is the latest commit: an older snapshot does not show the session yet. */
const firstReport: Pair = {
  of: "the first report of a session that has just claimed, and an enqueue",
  orders: 12,
  async setUp(line) {
    await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    return {
      calls: { report: worker.reports(jobs), enqueue: line.enqueues() },
      check(answers) {
        const { answer } = answers.of<ReportReply>("report").answers[0]!;
        must(answer === "ok", "a lease that stands is said to be lost");
      },
    };
  },
  mutants: [
    {
      without: "the real read of a session that the snapshot does not show",
      changes: [{ in: "report.ts:sessionOf", call: "sessionOfKey", gives: "seen" }],
      finds: /^a lease that stands/,
    },
  ],
};

/** The reply to the claim may have been lost; a worker that reports has had it. */
const reportAndExpire: Pair = {
  of: "a report, and the sweep that ends its session's leases",
  orders: 12,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    await line.untilSweep();
    return {
      calls: { report: worker.reports(jobs) },
      check(answers, line) {
        const { answer } = answers.of<ReportReply>("report").answers[0]!;
        const { releases = 0 } = line.job(id!);
        const shown = line.rows("progress").length;
        if (answer === "ok")
          must(releases === 0, "an attempt that has begun was taken for one that has not");
        else must(releases === 1 && shown === 0, "a lost attempt has reported");
      },
    };
  },
  mutants: [
    {
      without: "the check of the session's reports",
      changes: [{ in: "reported.ts:hasReported", condition: "progress attempt", is: false }],
      finds: /^an attempt that has begun/,
    },
    UNVALIDATED,
  ],
};

const reportAndComplete: Pair = {
  of: "a report, and the completion of the same attempt",
  orders: 12,
  async setUp(line) {
    await line.enqueue();
    const worker = new Worker(line, "worker");
    const jobs = await worker.claim();
    return {
      calls: { report: worker.reports(jobs), complete: worker.completes(jobs) },
      check(answers, line) {
        const { answer } = answers.of<ReportReply>("report").answers[0]!;
        const inTime = answers.isBefore("report", "complete");
        const shown = line.rows("progress").length;
        must(
          inTime === (answer === "ok") && shown === (inTime ? 1 : 0),
          "an attempt that has ended has reported",
        );
      },
    };
  },
  mutants: [
    {
      without: "the check whether the job runs",
      changes: [{ in: "report.ts:judgeLease", condition: `"running"`, is: "job === null" }],
      finds: /^an attempt that has ended/,
    },
    UNVALIDATED,
  ],
};

/** A worker's call without an answer may go on while the worker repeats it. */
const twoHandOvers: Pair = {
  of: "a hand-over of an outcome, its repeat, and the mutation that records it",
  orders: 672,
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const [job] = await worker.claim();
    return {
      calls: { one: worker.handsOver(job!), two: worker.handsOver(job!) },
      check(_, line) {
        const count = recorders(line);
        must(count === 1, `${count} mutations were to record one outcome`);
      },
      async rest(line) {
        await line.pass(LEASE_MS);
        must(line.job(id!).status === "succeeded", "an outcome that was handed over is lost");
      },
    };
  },
  mutants: [
    {
      without: "the note of the mutation in the job's row",
      changes: [
        {
          in: "completeLater.ts:completeLater",
          call: "noteHandedOver",
          gives: "await ctx.scheduler.runAfter(0, recordLate, args)",
        },
      ],
      finds: /^2 mutations/,
    },
    UNVALIDATED,
  ],
};

/** Its own call, which had no answer, records the outcome after all; or the sweep has ended the lease. */
const handOverAndEnd = (end: "complete" | "tend/janitor:sweep"): Pair => ({
  of: `a hand-over of an outcome, the mutation that records it, and ${ENDS[end]}`,
  orders: ENDINGS[end],
  async setUp(line) {
    const [id] = await line.enqueue();
    const worker = new Worker(line, "worker");
    const [job] = await worker.claim();
    if (end !== "complete") await line.untilSweep();
    const handOver = worker.handsOver(job!, FAILED);
    return {
      calls: { handOver, ...(end === "complete" ? { complete: worker.completes([job!]) } : {}) },
      check(answers, line) {
        // A sweep by an older snapshot sees no lease that has run out.
        const { status, releases = 0 } = line.job(id!);
        const hasEnded = status === "succeeded" || releases === 1;
        const isLate = hasEnded && answers.isBefore(end, "handOver");
        must(!isLate || recorders(line) === 0, "an attempt that has ended is to be recorded");
      },
      async rest(line) {
        await line.pass(LEASE_MS);
        const { status, releases = 0 } = line.job(id!);
        const isEnded = status === "succeeded" || status === "failed";
        const told = line.rows("told", "").length;
        must(told === (isEnded ? 1 : 0), `a job that is ${String(status)} had ${told} callbacks`);
        must(isEnded !== (releases === 1), "the outcome is lost, or the lease's end is");
      },
    };
  },
  mutants: [
    {
      without: "the check whether the attempt is the session's",
      changes: [
        { in: "completeLater.ts:completeLater", condition: '"leaseLost"', is: "job === null" },
      ],
      finds: /^an attempt that has ended/,
    },
    UNVALIDATED,
  ],
});
const ENDS = {
  complete: "the completion of the same attempt",
  "tend/janitor:sweep": "the sweep that ends its lease",
};
const ENDINGS = { complete: 294, "tend/janitor:sweep": 620 };
const FAILED = { kind: "failed", error: "as it was handed over", retryable: false } as const;

/** How many mutations were to record an outcome that was handed over. */
function recorders(line: Line): number {
  const names = line.rows("_scheduled_functions").map(({ name }) => String(name));
  return names.filter((name) => name.includes("recordLate")).length;
}

export const REPORTS: readonly Pair[] = [
  firstReport,
  reportAndExpire,
  reportAndComplete,
  twoHandOvers,
  handOverAndEnd("complete"),
  handOverAndEnd("tend/janitor:sweep"),
];
