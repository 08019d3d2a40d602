import { DISPATCH_WIDTHS, EXPIRY_WIDTHS } from "../../../src/shared/index.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import type { Plan } from "../plan.js";
import { changed, changedJobs, statusOf } from "./jobs.js";
import { sureMs } from "./slack.js";

/**
 * The component promises the end of the finest slice of time, and its transactions after that: the alarm's hop, jobs before this
 * one, a conflict or two. Only these take longer where times differ most.
 */
const HOPS_MS = 2_000;
const DUE_HOPS_MS = 1_400;
/** With these, alarms themselves come late. */
const LATE = ["late", "starved", "restarts", "conflicts", "lost schedules"];

/** Whether a due job may be late for other reasons than the component's. */
export const isHeldUp = ({ parts }: Plan): boolean => parts.some((part) => LATE.includes(part));

export const inTime: Checker = {
  name: "in time",
  promise:
    "where no fault holds up the scheduler, a due job is claimable soon after, and a job that is not begun in time has failed soon after that",
  marks: ["a job that is due can be had", "a job that was not begun has failed"],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    if (isHeldUp(plan)) return {};
    /** Since when each job waits as it does: a transaction that took long may be late at once. */
    const since = new Map<string, number>();
    return {
      commit(commit) {
        for (const { id, before, after } of changedJobs(commit)) {
          if (before !== null) checkDue(before);
          if (
            before === null ||
            (statusOf(after) === "scheduled" && after!["seq"] !== before["seq"])
          ) {
            since.set(id, date());
          }
          if (before === null) continue;
          checkExpiry(before);
          if (statusOf(before) === "scheduled" && statusOf(after) === "pending") {
            happened("a job that is due can be had");
          }
          if (expires(before) && statusOf(after) === "failed") {
            happened("a job that was not begun has failed");
          }
        }
        if (changed(commit, "timers").length > 0) checkAll();
      },
      end: checkAll,
    };

    function checkAll(): void {
      for (const job of tables.all("jobs")) {
        checkDue(job);
        checkExpiry(job);
      }
    }

    function checkDue(job: Row): void {
      if (statusOf(job) !== "scheduled" || job["paused"] === true) return;
      const dueAt = Math.max(job["order"] as number, since.get(job._id) ?? 0);
      const lateMs = date() - dueAt;
      if (lateMs > DISPATCH_WIDTHS[0] + sureMs(plan, DUE_HOPS_MS))
        broken(`${nameOf(job._id)} is due for ${lateMs.toFixed()} ms`);
    }

    function checkExpiry(job: Row): void {
      if (!expires(job)) return;
      const lateMs = date() - Math.max(job["expiresAt"] as number, since.get(job._id) ?? 0);
      if (lateMs > expiresWithinMs(plan)) {
        broken(`${nameOf(job._id)} expired ${lateMs.toFixed()} ms ago, and has not failed`);
      }
    }
  },
};

function expiresWithinMs(plan: Plan): number {
  return EXPIRY_WIDTHS[0] + sureMs(plan, HOPS_MS);
}

/** The job has never begun, and has a time at which it fails for that. */
function expires(job: Row): boolean {
  const waits = statusOf(job) === "scheduled" || statusOf(job) === "pending";
  return waits && job["attempt"] === 0 && job["expiresAt"] !== undefined;
}
