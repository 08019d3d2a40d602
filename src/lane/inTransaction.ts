/**
 * Log entries and jobs to follow of a handler that is a mutation: none is sent while it runs, and all are written at its end, in
 * its own transaction. By the same code as a worker's.
 */
import {
  REPORT_MAX_BYTES,
  REPORT_MAX_ITEMS,
  type Continuation,
  type JobFacts,
  type ReportAnswer,
} from "../shared/index.js";
import type { Attempt } from "../worker/attempts.js";
import { printEvent } from "../worker/consoleEvents.js";
import { systemClock } from "../worker/clock.js";
import { actionsOf, type Telling } from "../worker/job.js";
import { UnsentReports, type ReportBatch } from "../worker/unsentReports.js";
import type { JobActions } from "../worker/types.js";

export interface InTransaction {
  actions: Pick<JobActions, "log" | "snooze" | "continueWith">;
  /** Jobs that are to follow. */
  continued: readonly Continuation[];
  /** Has all log entries written, in as many calls as it takes. */
  write: (report: (reported: ReportBatch) => Promise<ReportAnswer[]>) => Promise<void>;
}

export function inTransaction(job: JobFacts): InTransaction {
  const unsent = new UnsentReports({ id: job.id, attempt: job.attempt });
  const continued: Continuation[] = [];
  // A transaction has neither signal nor time: the actions below read no other field of an attempt.
  const attempt = { state: "running", job, abort: {}, continued } as unknown as Attempt;
  const reports = { of: () => unsent, changed: () => {} } as unknown as Telling["reports"];
  const { log, snooze, continueWith } = actionsOf(attempt, {
    ...{ reports, emit: printEvent, clock: systemClock },
  });
  return {
    actions: { log, snooze, continueWith },
    continued,
    write: async (report) => {
      while (!unsent.isEmpty) {
        const reported = unsent.take({ items: REPORT_MAX_ITEMS, bytes: REPORT_MAX_BYTES }, true);
        const [answer] = await report(reported);
        unsent.confirm(reported, answer!);
      }
    },
  };
}
