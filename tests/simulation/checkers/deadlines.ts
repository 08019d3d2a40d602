import { EXPIRY_WIDTHS } from "../../../src/shared/index.js";
import type { Change, Commit, Row } from "../observed.js";
import type { Checker, Facts } from "../part.js";
import { changed, changedJobs, claimedBy, hasEnded, rulesOf, statusOf } from "./jobs.js";
import { isHeldUp } from "./inTime.js";
import { sureMs } from "./slack.js";

/** The alarm's hop, jobs before this one, a conflict or two. */
const HOPS_MS = 2_000;
/** Of an attempt: its worker's own timer and call, or a sweep behind that, which comes for lanes every five seconds. */
const ATTEMPT_MS = 7_000;
/** An attempt's own clock runs from its call. */
const CLOCK_MS = 1_000;
/** The longest time that a handler of the simulation asks for, and that a lane waits for room. */
const SNOOZE_MS = 1_500;
const NO_ROOM_MS = 5 * 60_000;
const RETRY_AFTER_MS = 2_500;

interface Deadline {
  at: number;
}

const deadlineOf = (row: Row | null): Deadline | undefined =>
  row?.["deadline"] as Deadline | undefined;
/** Whether its deadline has ended it. */
const isExceeded = (row: Row | null): boolean => row?.["code"] === "deadlineExceeded";

export const deadlinesKept: Checker = {
  name: "deadlines",
  promise:
    "no attempt begins behind its job's deadline; where no fault holds up the scheduler, a job has ended soon after it, and none is ended by it before, unless no other attempt could begin in time; and a job that had ended otherwise stays as it was",
  marks: [
    "a job that waits is ended by its deadline",
    "a job that runs is ended by its deadline",
    "a job has ended before its deadline",
    "a deadline begins anew",
  ],
  watch: (facts) => new Deadlines(facts),
};

class Deadlines {
  private readonly isJudged: boolean;
  /** Of each job that has not ended: since when it has been there, or waits or runs as it does. */
  private readonly open = new Map<string, number>();

  constructor(private readonly facts: Facts) {
    this.isJudged = !isHeldUp(facts.plan);
  }

  commit(commit: Commit): void {
    for (const change of changedJobs(commit)) {
      if (deadlineOf(change.after) !== undefined) this.checkChange(commit, change);
      this.follow(change);
    }
    if (changed(commit, "timers").length > 0) this.checkOpen();
  }

  end(): void {
    this.checkOpen();
  }

  private checkChange(commit: Commit, change: Change): void {
    const { broken, happened, nameOf } = this.facts;
    const { id, before, after } = change;
    const { at } = deadlineOf(after)!;
    const startedAt = after!["startedAt"] as number;
    if (claimedBy(change) !== null && startedAt >= at) {
      broken(`${nameOf(id)} is begun ${startedAt - at} ms behind its deadline`);
    }
    const was = deadlineOf(before);
    if (was !== undefined && hasEnded(before) && !hasEnded(after)) {
      if (was.at === at) broken(`${nameOf(id)} is tried again, and its deadline is that of before`);
      else happened("a deadline begins anew");
    } else if (was !== undefined && was.at !== at) {
      broken(`${nameOf(id)} is not tried again by hand, and its deadline is another`);
    }
    if (!hasEnded(after) || hasEnded(before)) {
      if (isExceeded(after) && !isExceeded(before)) {
        broken(`${nameOf(id)} was ${statusOf(before)}, and its deadline has changed it`);
      }
      return;
    }
    if (!isExceeded(after)) happened("a job has ended before its deadline");
    else this.checkEnd(commit, change, at);
  }

  /** Ended by its deadline: that has passed, or no other attempt could begin before. */
  private checkEnd(commit: Commit, { id, before, after }: Change, at: number): void {
    const { broken, happened, nameOf, date } = this.facts;
    const isRunning = statusOf(before) === "running";
    const aheadMs = at - date();
    const most = isRunning ? this.mostAheadMs(commit, before!, after!) : 0;
    if (aheadMs > most) broken(`${nameOf(id)} is ended ${aheadMs} ms before its deadline`);
    happened(`a job that ${isRunning ? "runs" : "waits"} is ended by its deadline`);
  }

  private mostAheadMs(commit: Commit, before: Row, after: Row): number {
    const ended = changed(commit, "attempts").find(
      (one) => one.before === null && one.after?.["job"] === before._id,
    );
    const { retry } = rulesOf(this.facts.tables, after);
    switch (ended?.after?.["outcome"]) {
      case "failed":
        return Math.max(retry.maxBackoffMs as number, RETRY_AFTER_MS);
      case "timedOut":
        return Math.max(retry.maxBackoffMs as number, CLOCK_MS);
      case "snoozed":
        return isLanes(this.facts, before) ? NO_ROOM_MS : SNOOZE_MS;
      default:
        return 0;
    }
  }

  private follow({ id, before, after }: Change): void {
    if (deadlineOf(after) === undefined || hasEnded(after)) this.open.delete(id);
    else if (statusOf(before) !== statusOf(after)) this.open.set(id, this.facts.date());
  }

  private checkOpen(): void {
    if (!this.isJudged) return;
    const { plan, tables, broken, nameOf, date } = this.facts;
    for (const [id, since] of this.open) {
      const job = tables.get("jobs", id)!;
      const isRunning = statusOf(job) === "running";
      const lateMs = date() - Math.max(deadlineOf(job)!.at, since);
      const most = isRunning ? ATTEMPT_MS : EXPIRY_WIDTHS[0];
      if (lateMs > most + sureMs(plan, HOPS_MS)) {
        broken(`${nameOf(id)} is ${statusOf(job)} ${lateMs.toFixed()} ms behind its deadline`);
      }
    }
  }
}

function isLanes({ tables }: Facts, { session }: Row): boolean {
  return tables.get("sessions", session as string)?.["lane"] !== undefined;
}
