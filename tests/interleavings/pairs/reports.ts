/** Workers' reports on running jobs, beside the calls that end their attempts. */
import type { ReportAnswer } from "../../../src/shared/index.js";
import { must } from "../../races/world.js";
import { UNVALIDATED, type Pair } from "../pair.js";
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

export const REPORTS: readonly Pair[] = [firstReport, reportAndExpire, reportAndComplete];
