import { msOfCommit } from "../../../src/shared/index.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, changedJobs, configOf, hasEnded, statusOf, isDeletionAsked } from "./jobs.js";

/** A purge is so much later at most for jobs that are kept for less than a minute. */
const PURGE_LATE_MS = 120_000;
const DAY_MS = 24 * 60 * 60_000;
const KEPT = {
  succeededMs: DAY_MS,
  canceledMs: DAY_MS,
  failedMs: 7 * DAY_MS,
  timedOutMs: 7 * DAY_MS,
};
/** All that hangs on a job, by the field that names it. */
const HANGS = ["attempts", "logs", "chunks", "progress", "callbacks", "expiries", "cancels"];

export const retention: Checker = {
  name: "retention",
  promise:
    "a finished job is kept for as long as was asked, and goes soon after with all that hangs on it; nothing goes that is still named, and nothing stays that is not",
  marks: [
    "a job goes when its time is over",
    "a job is kept",
    "a value lies apart",
    "a value goes",
  ],
  watch({ tables, asked, broken, happened, nameOf, date }) {
    const keptFor = (job: Row): number => {
      const kept = { ...KEPT, ...configOf(tables, job["queue"] as string)["retention"] };
      return kept[`${statusOf(job)!}Ms` as keyof typeof KEPT];
    };
    return {
      commit(commit) {
        const jobs = changedJobs(commit);
        for (const { id, before, after } of jobs) {
          if (after !== null) {
            for (const value of [after["payload"], after["result"], after["context"]]) {
              checkThere(after, value);
            }
            continue;
          }
          if (before === null || isDeletionAsked(asked, id, before["queue"]) || !hasEnded(before))
            continue;
          const early = msOfCommit(before["seq"] as bigint) + keptFor(before) - date();
          if (early > 0) broken(`${nameOf(id)} goes ${early} ms before its time`);
          happened("a job goes when its time is over");
        }
        for (const { id, before, after } of changed(commit, "payloads")) {
          if (before === null) happened("a value lies apart");
          if (after !== null) continue;
          happened("a value goes");
          if (named().has(id)) broken(`a value goes that is still named`);
        }
      },
      end() {
        for (const table of HANGS) {
          for (const { job } of tables.all(table)) {
            if (tables.get("jobs", job as string) !== undefined) continue;
            broken(`a row of ${table} is left of ${nameOf(job as string)}, which is gone`);
          }
        }
        const there = named();
        for (const { _id: id } of tables.all("payloads")) {
          if (!there.has(id)) broken(`a stored value is left without a job`);
        }
        for (const job of tables.all("jobs")) {
          if (!hasEnded(job)) continue;
          const late = date() - msOfCommit(job["seq"] as bigint) - keptFor(job);
          if (late > PURGE_LATE_MS && keptFor(job) < 60_000) {
            broken(`${nameOf(job._id)} is still there ${late} ms after its time`);
          }
          happened("a job is kept");
        }
        if (tables.all("cancels").length > 0) broken("a request to end a job remains");
      },
    };

    /** The rows of values that jobs, and callbacks that are owed, name. */
    function named(): Set<string> {
      const values = tables
        .all("jobs")
        .flatMap(({ payload, result, context }) => [payload, result, context]);
      values.push(...tables.all("callbacks").map(({ outcome }) => outcome.result));
      return new Set(values.flatMap((value) => (value?.row === undefined ? [] : [value.row])));
    }

    function checkThere(job: Row, value: any): void {
      if (value?.row === undefined || tables.get("payloads", value.row as string)) return;
      broken(`${nameOf(job._id)} names a value that is gone`);
    }
  },
};
