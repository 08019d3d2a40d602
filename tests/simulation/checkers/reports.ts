import { outputOf } from "../app/turns.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { isOf, type Kind } from "../plan.js";
import {
  attemptKey,
  changed,
  changedJobs,
  endedBy,
  roundBy,
  statusOf,
  turnIn,
  workOf,
} from "./jobs.js";

/** Handlers there can say nothing. */
const SILENT: readonly Kind[] = ["written", "looked"];

export const reports: Checker = {
  name: "reports",
  promise:
    "an attempt's output and log are there in their order, each piece once, and whole when the attempt has succeeded; its progress is its own",
  marks: ["output is written", "output is whole", "a log is written", "progress is shown"],
  watch({ tables, broken, happened, nameOf }) {
    const written = new Map<string, string[]>();
    const logged = new Map<string, string[]>();
    return {
      commit(commit) {
        for (const { before, after } of changed(commit, "chunks")) {
          if (before !== null || after === null) continue;
          const { job, attempt, index, text } = after;
          const own = listOf(written, after);
          if (index !== own.length) {
            broken(`chunk ${index} of ${known(after)} comes after ${own.length} more`);
          }
          own.push(text as string);
          const said = wholeOf(job as string, attempt as number);
          if (said?.startsWith(own.join("")) === false) {
            broken(`the output of ${known(after)} differs from its handler's`);
          }
          happened("output is written");
        }
        for (const { before, after } of changed(commit, "logs")) {
          if (before !== null || after === null) continue;
          const own = listOf(logged, after);
          if (after["entry"] !== own.length) {
            broken(`entry ${after["entry"]} of ${known(after)} comes after ${own.length} more`);
          }
          own.push(after["message"] as string);
          happened("a log is written");
        }
        for (const { after } of changed(commit, "progress")) {
          if (after === null) continue;
          happened("progress is shown");
          if (after["value"].attempt !== after["attempt"]) {
            broken(`the progress of ${known(after)} is that of another attempt`);
          }
        }
        for (const change of changedJobs(commit)) {
          const { id, after } = change;
          const attempt = endedBy(change);
          if (attempt === null || after === null) continue;
          const stands = statusOf(after) === "succeeded" || roundBy(change) === "succeeded";
          if (!stands || isOf(SILENT, after["queue"])) continue;
          if (turnIn(tables, after, attempt)?.talks !== true) continue;
          const key = attemptKey(id, attempt);
          const isWhole = (written.get(key) ?? []).join("") === wholeOf(id, attempt);
          if (!isWhole) broken(`${nameOf(id)} has succeeded, and its output is not whole`);
          if ((logged.get(key) ?? []).length !== 1) {
            broken(`${nameOf(id)} has succeeded, and its log is not whole`);
          }
          happened("output is whole");
        }
      },
    };

    function known({ job, attempt }: Row): string {
      return `attempt ${attempt as number} of ${nameOf(job as string)}`;
    }

    function wholeOf(id: string, attempt: number): string | undefined {
      const job = tables.get("jobs", id);
      const work = job === undefined ? undefined : workOf(tables, job);
      return work === undefined ? undefined : outputOf(work.n, attempt).join("");
    }
  },
};

function listOf(lists: Map<string, string[]>, { job, attempt }: Row): string[] {
  const key = attemptKey(job as string, attempt as number);
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
}
