import type { Change, Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, changedJobs, hasEnded, statusOf } from "./jobs.js";

/** The purge comes so much later at most, and a little. */
const PURGE_LATE_MS = 60 * 60_000 + 60_000;

export const keys: Checker = {
  name: "keys",
  promise:
    "of the jobs of a queue with one key one is active at most; the key is its own until it has ended, or for as long as was asked, and then free",
  marks: [
    "a key is taken",
    "a key is freed",
    "a key goes to another",
    "a key is kept for a window after its job has ended",
    "a window is over",
  ],
  watch({ tables, broken, happened, nameOf, date }) {
    const rowOf = (queue: unknown, key: unknown) =>
      tables.all("keys").filter((row) => row["queue"] === queue && row["key"] === key);
    return {
      commit(commit) {
        const jobs = changedJobs(commit);
        const touched: Row[] = [];
        for (const change of changed(commit, "keys")) {
          const { before, after } = change;
          if (after !== null) touched.push(after);
          if (after !== null && before === null) happened("a key is taken");
          if (before !== null) checkGone(change, jobs);
        }
        for (const { queue, key } of touched) {
          if (rowOf(queue, key).length > 1) broken(`the key ${key} of ${queue} is there twice`);
        }
        for (const { job, key, until, queue } of touched) {
          const owner = tables.get("jobs", job as string);
          if (owner?.["key"] !== key || owner?.["queue"] !== queue) {
            broken(`the key ${key} is that of ${nameOf(job as string)}, which has another`);
          }
          if (owner?.["keyUntil"] !== until) broken(`the window of ${key} is not that of its job`);
          if (until === undefined && hasEnded(owner)) broken(`${key} is taken by one that ended`);
        }
        for (const { before, after } of jobs) checkJob((after ?? before)!, after !== null);
      },
      end() {
        for (const { queue, key, job, until } of tables.all("keys")) {
          const owner = tables.get("jobs", job as string);
          const isActive = owner !== undefined && !hasEnded(owner);
          if (until === undefined && !isActive) broken(`the key ${key} of ${queue} has leaked`);
          if (until !== undefined && until + PURGE_LATE_MS < date()) {
            broken(`the key ${key} of ${queue} is there long after its window`);
          }
        }
      },
    };

    /** A key went, or went to another: its job has ended, or its window is over. */
    function checkGone({ before, after }: Change, jobs: readonly Change[]): void {
      const { job, until, key } = before!;
      if (after?.["job"] === job && after?.["until"] === until) return;
      happened(after === null ? "a key is freed" : "a key goes to another");
      if (until !== undefined && until <= date()) {
        happened("a window is over");
        return;
      }
      const own = jobs.find(({ id }) => id === job);
      const ends = own !== undefined && (own.after === null || hasEnded(own.after));
      // Within its window only another that was to replace it, and has, may have it.
      const isReplaced = after !== null && statusOf(own?.after) === "canceled";
      if (until === undefined ? !ends : !isReplaced) {
        broken(`${nameOf(job as string)} has lost its key ${key as string}`);
      }
    }

    function checkJob(job: Row, isThere: boolean): void {
      const key = job["key"] as string | undefined;
      if (key === undefined) return;
      const rows = rowOf(job["queue"], key);
      const isOwner = rows.some((row) => row["job"] === job._id);
      if (job["keyUntil"] !== undefined) {
        if (hasEnded(job) && isOwner)
          happened("a key is kept for a window after its job has ended");
        return;
      }
      const isActive = isThere && !hasEnded(job);
      if (isActive && !isOwner) broken(`${nameOf(job._id)} is active without its key ${key}`);
      if (!isActive && isOwner) broken(`${nameOf(job._id)} has ended, and has its key ${key}`);
    }
  },
};
