import type { Change, Row } from "../observed.js";
import type { Checker } from "../part.js";
import { wayBetween, wayOfNew } from "./edges.js";
import {
  attemptKey,
  changed,
  changedJobs,
  claimedBy,
  endedBy,
  LIAR,
  rulesOf,
  roundBy,
  statusOf,
  turnIn,
} from "./jobs.js";

/** The delays that the simulation's handlers ask for. */
const SNOOZE_MS = 1_500;
const RETRY_AFTER_MS = 2_500;
/** A lane waits ever longer for room, five minutes at most, give or take a half. */
const NO_ROOM_MS = 1.5 * 5 * 60_000;

/** A worker in which an earlier handler of a job goes on waits twice as long with each time, a minute at most. */
const BACKS_MS = [2_000, 4_000, 8_000, 16_000, 32_000, 60_000];

/** How an attempt that took this edge may be remembered. */
const OUTCOMES: Record<string, readonly string[]> = {
  fail: ["failed"],
  backOff: ["failed", "timedOut"],
  timeOut: ["timedOut", "lost"],
  release: ["released", "lost"],
  reset: ["lost"],
  releaseLater: ["released", "lost"],
  resetLater: ["lost"],
  snooze: ["snoozed"],
  stop: ["canceled"],
  comeRound: ["failed", "timedOut"],
  rest: ["failed", "timedOut"],
};
/** Where its job's deadline leaves no time for another: see `deadlines.ts`. */
const AT_DEADLINE: readonly string[] = ["failed", "timedOut", "lost", "released", "snoozed"];

export const counts: Checker = {
  name: "counts",
  promise:
    "an attempt is counted with every claim, and every one that did not succeed is remembered as it ended; no more fail than retry allows, and none is lost more often than maxResets; a job that waits is neither begun before its time nor delayed longer than its rule says, and one that expired is not begun",
  marks: [
    ...new Set(Object.values(OUTCOMES).flat()),
    "waits as its rule says",
    "waits as its handler says",
    "not tried again, since it would fail as well",
    "not tried again, since it has failed so often",
    "expires",
    "waits for room",
    "waits for its handler that goes on",
  ],
  watch({ plan, tables, runs, broken, happened, nameOf, date }) {
    const claims = new Map<string, number>();
    const remembered = new Set<string>();
    return {
      commit(commit) {
        const rows = changed(commit, "attempts").flatMap(({ before, after }) =>
          before === null && after !== null ? [after] : [],
        );
        const jobs = changedJobs(commit);
        for (const change of jobs) {
          const { id, before, after } = change;
          if (after === null) continue;
          const way = before === null ? wayOfNew(after) : wayBetween(before, after);
          const isMoved = before?.["seq"] !== after["seq"];
          if (claimedBy(change) !== null) checkClaim(change);
          if (before !== null && isMoved && way?.includes("promote") === true) {
            if (date() < before["order"]) {
              broken(`${nameOf(id)} falls due ${before["order"] - date()} ms before its time`);
            }
          }
          if (isMoved && way?.includes("expire") === true) checkExpiry(change);
          const attempt = endedBy(change);
          if (attempt === null) continue;
          const own = rows.filter((row) => row["job"] === id && row["attempt"] === attempt);
          const isBrief = statusOf(before) !== "running";
          const edge = isBrief ? way?.at(-1) : way?.[0];
          const succeeds = edge === "succeed" || roundBy(change) === "succeeded";
          if (own.length !== (succeeds ? 0 : 1)) {
            broken(`attempt ${attempt} of ${nameOf(id)} ended with ${own.length} rows of it`);
          } else if (!succeeds) checkEnd(change, edge ?? "none", own[0]!);
        }
        for (const { job, attempt } of rows) {
          const key = attemptKey(job as string, attempt as number);
          if (remembered.has(key)) broken(`${nameOf(job as string)}/${attempt} ends twice`);
          remembered.add(key);
          const ends = jobs.some((change) => change.id === job && endedBy(change) === attempt);
          if (!ends) broken(`attempt ${attempt} of ${nameOf(job as string)} is said to have ended`);
        }
      },
    };

    function checkClaim({ id, before, after }: Change): void {
      const count = (claims.get(id) ?? 0) + 1;
      claims.set(id, count);
      if (after!["attempt"] !== count) {
        broken(`${nameOf(id)} is claimed for time ${count}, as attempt ${after!["attempt"]}`);
      }
      const { expiresAt, startedAt } = after!;
      if (count === 1 && expiresAt !== undefined && before !== null && startedAt >= expiresAt) {
        broken(`${nameOf(id)} is begun ${startedAt - expiresAt} ms after it expired`);
      }
    }

    function checkExpiry({ id, after }: Change): void {
      happened("expires");
      if (after!["attempt"] > 0) broken(`${nameOf(id)} expires, and was begun before`);
      if (after!["expiresAt"] > date()) broken(`${nameOf(id)} expires before its time`);
    }

    /**
     * A job that was not begun is delayed as if it slept: by a lane for want of room, by a worker in which an earlier handler of it
     * goes on. No other job is.
     */
    function checkRoom({ job, attempt, worker }: Row, wait: number): void {
      const hasBegun = runs.some((run) => run.job === job && run.attempt === attempt);
      const isLane = !plan.workers.some(({ name }) => name === worker);
      const isBack = BACKS_MS.includes(wait);
      if (isLane && !hasBegun && wait > 0 && wait <= NO_ROOM_MS) happened("waits for room");
      else if (!isLane && !hasBegun && isBack) happened("waits for its handler that goes on");
      else broken(`${nameOf(job as string)} sleeps for ${wait} ms`);
    }

    function checkEnd({ id, before, after }: Change, way: string, row: Row): void {
      const outcome = row["outcome"] as string;
      // The counts of a sleep; its place was forgotten, and the dispatcher finds it another.
      const isPutBack = way === "snooze" && outcome !== "snoozed" && after!["ofWorker"] === true;
      const edge = isPutBack ? "releaseLater" : way;
      const isOver = after!["code"] === "deadlineExceeded";
      const outcomes = isOver ? AT_DEADLINE : OUTCOMES[edge];
      if (outcomes?.includes(outcome) === true) happened(outcome);
      else broken(`${nameOf(id)} took the way of ${edge}, and is remembered as ${outcome}`);
      const isOthers = statusOf(before) === "running" && row["session"] !== before!["session"];
      if (isOthers) broken(`${nameOf(id)} ended by another's hand`);
      const { retry, maxResets } = rulesOf(tables, after!);
      const failures = (after!["failures"] ?? 0) as number;
      const wait = (after!["order"] as number) - (row["endedAt"] as number);
      const turn = turnIn(tables, after!, row["attempt"] as number);
      switch (edge) {
        case "reset":
          if ((after!["resets"] as number) > maxResets) broken(`${nameOf(id)} is lost too often`);
          break;
        case "timeOut":
          if (isOver) break;
          if (outcome === "lost" && ((after!["resets"] ?? 0) as number) < maxResets) {
            broken(`${nameOf(id)} is given up, and might be lost once more`);
          } else if (outcome === "timedOut" && failures < retry.maxAttempts) {
            broken(`${nameOf(id)} is given up after ${failures} of ${retry.maxAttempts} failures`);
          }
          break;
        case "fail": {
          const isFatal = ["throwsForGood", "returnsBadly", "continues"].includes(turn?.end ?? "");
          if (failures < retry.maxAttempts && !isFatal) {
            broken(`${nameOf(id)} is not tried again after ${failures} of ${retry.maxAttempts}`);
          }
          happened(
            `not tried again, since it ${failures < retry.maxAttempts ? "would fail as well" : "has failed so often"}`,
          );
          break;
        }
        case "backOff": {
          if (failures >= retry.maxAttempts) broken(`${nameOf(id)} is tried again too often`);
          const { initialBackoffMs, maxBackoffMs, base } = retry;
          const most = Math.min(initialBackoffMs * base ** (failures - 1), maxBackoffMs);
          const isAsked = turn?.end === "throwsUntil" && wait === RETRY_AFTER_MS;
          happened(`waits as its ${isAsked ? "handler" : "rule"} says`);
          if (!isAsked && (wait < 0 || wait > most)) {
            broken(`${nameOf(id)} waits ${wait} ms after failure ${failures}, at most ${most} may`);
          }
          break;
        }
        case "snooze":
          if (wait !== SNOOZE_MS && row["worker"] !== LIAR) checkRoom(row, wait);
          if (statusOf(after) !== "scheduled")
            broken(`${nameOf(id)} sleeps, and is ${statusOf(after)}`);
      }
    }
  },
};
