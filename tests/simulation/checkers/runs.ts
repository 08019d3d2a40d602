import { LOOP } from "../app/names.js";
import type { Change, Row, Tables } from "../observed.js";
import type { Checker } from "../part.js";
import { isOf, type Kind } from "../plan.js";
import { wayBetween } from "./edges.js";
import {
  attemptKey,
  changedJobs,
  claimedBy,
  endedBy,
  roundBy,
  rulesOf,
  statusOf,
  storedIn,
  workOf,
} from "./jobs.js";

/** Handlers there report nothing: their effects are checked, or they have none. */
const SILENT: readonly Kind[] = ["written", "looked"];

/** Faults with which a word to the service outside may be lost. */
const UNHEARD = ["network", "restarts"];

export const runsAsPromised: Checker = {
  name: "runs as promised",
  promise:
    "an attempt begins once at most, and only when it was claimed; another attempt begins only after a lost lease, a failure, a retry, or when its session gave the job back; and the result of a job is that of the attempt that ended it",
  marks: ["an attempt begins", "another attempt begins", "a result is that of its attempt"],
  watch({ plan, tables, broken, happened, nameOf }) {
    // Effects stay done even where their reports are lost.
    const isHeard = !UNHEARD.some((part) => plan.parts.includes(part));
    const claimed = new Set<string>();
    /** By attempt, the run that began it; and which have ended. */
    const began = new Map<string, string>();
    const ended = new Set<string>();
    /** By job, how many attempts have begun, and how many more may. */
    const attempts = new Map<string, number>();
    const excuses = new Map<string, number>();
    return {
      ran({ job, attempt, run, what }) {
        const key = attemptKey(job, attempt);
        const name = `attempt ${attempt} of ${nameOf(job)}`;
        if (what === "ended") {
          ended.add(key);
          return;
        }
        if (!claimed.has(key)) broken(`${name} has begun, without a claim`);
        const other = began.get(key);
        if (other !== undefined) broken(`${name} has begun twice: ${other} and ${run}`);
        began.set(key, run);
        happened("an attempt begins");
        const count = (attempts.get(job) ?? 0) + 1;
        attempts.set(job, count);
        if (count > 1) happened("another attempt begins");
        if (count > 1 + (excuses.get(job) ?? 0)) {
          broken(`${name} has begun, the ${count}th, and nothing had gone wrong before`);
        }
      },
      commit(commit) {
        for (const change of changedJobs(commit)) {
          const { id, after } = change;
          const attempt = claimedBy(change);
          if (attempt !== null) claimed.add(attemptKey(id, attempt));
          const last = endedBy(change);
          if (last === null) {
            if (isRetried(change)) excuses.set(id, (excuses.get(id) ?? 0) + 1);
            continue;
          }
          if (mayGoOn(tables, change)) excuses.set(id, (excuses.get(id) ?? 0) + 1);
          if (after === null) continue;
          const stands = statusOf(after) === "succeeded" || roundBy(change) === "succeeded";
          if (stands) checkResult(change, last);
        }
      },
    };

    function checkResult({ id, after }: Change, attempt: number): void {
      if (after!["queue"] === LOOP) return;
      const result = storedIn(tables, after!["result"]) as { n: number; attempt: number } | null;
      const name = `${nameOf(id)} has succeeded with attempt ${attempt}`;
      if (result?.attempt !== attempt || result.n !== workOf(tables, after!)?.n) {
        broken(`${name}, and its result is of ${result?.n}, attempt ${result?.attempt}`);
      }
      if (isOf(SILENT, after!["queue"])) return;
      const key = attemptKey(id, attempt);
      if (isHeard && !ended.has(key)) broken(`${name}, and its handler has not ended`);
      happened("a result is that of its attempt");
    }
  },
};

function isRetried({ before, after }: Change): boolean {
  return before !== null && after !== null && (wayBetween(before, after) ?? []).includes("retry");
}

/**
 * Whether another attempt may begin after this one's end. One that its session never spoke of may have begun as well: where
 * no worker may be lost, that is no reason.
 */
function mayGoOn(tables: Tables, { before, after }: Change): boolean {
  if (before === null || after === null || statusOf(after) === "succeeded") return false;
  const isUnheard = count(after, "unacknowledged") > count(before, "unacknowledged");
  const isLost = isUnheard || count(after, "resets") > count(before, "resets");
  return !isLost || rulesOf(tables, after)["maxResets"] > 0;
}

const count = (row: Row, field: string): number => (row[field] ?? 0) as number;
