import type { Checker } from "../part.js";
import { kindOf } from "../plan.js";
import { attemptKey, changedJobs, endedBy, insertedIn, statusOf } from "./jobs.js";

export const effectsAtomic: Checker = {
  name: "effects atomic",
  promise:
    "the writes of a handler that is a mutation, and its job's success, are one transaction: exactly once",
  marks: ["an effect comes with its job's success", "an attempt ends without success"],
  watch({ broken, happened, nameOf }) {
    const seen = new Set<string>();
    return {
      commit(commit) {
        const effects = insertedIn(commit, "effects");
        const ended = changedJobs(commit).filter(
          ({ before, after }) => kindOf((before ?? after)!["queue"]) === "written",
        );
        for (const { job, attempt } of effects) {
          const key = attemptKey(job as string, attempt as number);
          if (seen.has(key)) broken(`attempt ${attempt} of ${nameOf(job as string)} wrote twice`);
          seen.add(key);
          const stands = ended.some(
            (change) =>
              change.id === job &&
              endedBy(change) === attempt &&
              statusOf(change.after) === "succeeded",
          );
          if (!stands) {
            broken(`attempt ${attempt} of ${nameOf(job as string)} wrote, and did not succeed`);
          }
        }
        for (const change of ended) {
          const attempt = endedBy(change);
          if (attempt === null || change.after === null) continue;
          if (statusOf(change.after) !== "succeeded") {
            happened("an attempt ends without success");
            continue;
          }
          const own = effects.filter((row) => row["job"] === change.id);
          if (own.length === 1 && own[0]!["attempt"] === attempt) {
            happened("an effect comes with its job's success");
          } else broken(`${nameOf(change.id)} has succeeded, and wrote ${own.length} times`);
        }
      },
    };
  },
};
