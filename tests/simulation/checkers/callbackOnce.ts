import { LOOP } from "../app/names.js";
import type { FinishedStatus } from "../../../src/shared/index.js";
import type { Change } from "../observed.js";
import type { Checker, Row } from "../part.js";
import { isRows } from "../workloads/rows.js";
import {
  attemptKey,
  changed,
  changedJobs,
  hasEnded,
  insertedIn,
  roundBy,
  rulesOf,
  statusOf,
  storedIn,
  workOf,
} from "./jobs.js";

/** So many attempts a broken app's callback has before it is given up: that takes longer than any seed's faults. */
const TRIES = 10;

export const callbackOnce: Checker = {
  name: "callback once",
  promise:
    "onComplete takes effect exactly once for each end of a job, and each round, that has one: in the transaction of the end, or owed by that and delivered alone; the ends of one job in their order",
  marks: [
    "runs in the transaction of the end",
    "owed by the end",
    "runs later, alone",
    "runs after a round",
    "an end waits for an earlier one",
    "an end that is excluded",
    "a job is deleted before its callback",
  ],
  watch({ tables, broken, happened, nameOf }) {
    const keyOf = (row: Row, status: unknown) =>
      `${attemptKey(row["job"] as string, row["attempt"] as number)} ${status as string}`;
    /** Of each job the ends that were neither delivered nor given up, in their order. */
    const open = new Map<string, string[]>();
    return {
      commit(commit) {
        const told = insertedIn(commit, "told");
        const debts = changed(commit, "callbacks");
        const jobs = changedJobs(commit);
        const ends: string[] = [];
        const unpaid = debts.flatMap(({ before, after }) =>
          before?.["state"] === "owed" && after === null
            ? [keyOf(before, before["outcome"].status)]
            : [],
        );
        for (const change of jobs) {
          const status = endBy(change);
          if (status === null) continue;
          const job = change.after!;
          const excluded = (rulesOf(tables, job)["onCompleteExclude"] ?? []) as string[];
          if (excluded.includes(status)) happened("an end that is excluded");
          else {
            const end = `${attemptKey(change.id, attemptOf(change))} ${status}`;
            ends.push(end);
            const earlier = open.get(change.id) ?? [];
            if (earlier.length > 0) happened("an end waits for an earlier one");
            open.set(change.id, [...earlier, end]);
            if (roundBy(change) !== null) happened("runs after a round");
          }
        }
        for (const row of told) {
          const key = keyOf(row, row["status"]);
          if (takeFrom(ends, key)) happened("runs in the transaction of the end");
          else if (takeFrom(unpaid, key)) happened("runs later, alone");
          else broken(`${known(row)} had a callback that was not due`);
          if (closed(row["job"] as string, key) > 0)
            broken(`${known(row)} had its callback before an earlier end`);
          checkWords(row);
        }
        for (const { before, after } of debts) {
          if (before === null) {
            const key = keyOf(after!, after!["outcome"].status);
            if (takeFrom(ends, key)) happened("owed by the end");
            else broken(`${known(after!)} is owed, and has not ended or had its callback`);
          } else if (after === null) {
            const isGone = tables.get("jobs", before["job"] as string) === undefined;
            if (isGone) happened("a job is deleted before its callback");
            else if (takeFrom(unpaid, keyOf(before, before["outcome"].status))) {
              broken(`${known(before)} is owed no more, and had no callback`);
            }
          } else if (after["state"] === "dead" && before["state"] !== "dead") {
            closed(after["job"] as string, keyOf(after, after["outcome"].status));
            if (after["tries"] === TRIES) continue;
            broken(`${known(after)} was given up after ${after["tries"] as number} tries`);
          }
        }
        for (const key of ends) {
          const job = key.slice(0, key.indexOf("/"));
          broken(
            `${nameOf(job)} ended as ${key.slice(job.length)}, with a callback neither run nor owed`,
          );
        }
      },
      end() {
        for (const row of tables.all("callbacks")) {
          if (row["state"] !== "dead") broken(`${known(row)} is still owed`);
        }
      },
    };

    /** How many ends of the job come before this one, which is open no longer. */
    function closed(job: string, end: string): number {
      const before = open.get(job)?.indexOf(end) ?? -1;
      takeFrom(open.get(job) ?? [], end);
      return before;
    }

    function known(row: Row): string {
      return `attempt ${row["attempt"] as number} of ${nameOf(row["job"] as string)}`;
    }

    function checkWords(row: Row): void {
      const job = tables.get("jobs", row["job"] as string);
      if (job === undefined) return;
      const context = (storedIn(tables, job["context"]) ?? null) as unknown;
      // Where its row is gone, the app does not know its number.
      const isGone = row["n"] === -1 && isRows(job["queue"]);
      const isRight =
        (isGone || row["n"] === workOf(tables, job)?.n) &&
        JSON.stringify(row["context"]) === JSON.stringify(context);
      if (!isRight) broken(`${known(row)} had the callback of another`);
    }
  },
};

/** How a job, or one of its rounds, has ended with this change. */
function endBy(change: Change): FinishedStatus | null {
  const { before, after } = change;
  // A loop's batch has none.
  if (after?.["queue"] === LOOP) return null;
  const round = roundBy(change);
  if (round !== null) return round;
  if (after === null || !hasEnded(after) || hasEnded(before)) return null;
  return statusOf(after) as FinishedStatus;
}

/** The attempt that ended: another may have begun since. */
function attemptOf({ before, after }: Change): number {
  return (statusOf(after) === "running" ? before : after)!["attempt"] as number;
}

function takeFrom(list: string[], one: string): boolean {
  const at = list.indexOf(one);
  if (at < 0) return false;
  list.splice(at, 1);
  return true;
}
