import { DEPLOYED } from "../app/names.js";
import type { Checker } from "../part.js";
import { ACTION_LOST } from "./blame.js";
import { changed, insertedIn } from "./jobs.js";

/** With these an attempt may be lost, with any deploy. */
const LOSES =
  /lost|starved|restarts|network|conflicts|late|liars|worker|skew|snapshots|new version/;
const COMPONENT = "conveyor";

export const handlersDeployed: Checker = {
  name: "deploys",
  promise:
    "a deploy may add or remove a queue's handler: no attempt fails for it, and a job without a handler is shown",
  marks: [
    "a job of a queue that deploys change has been done",
    "a job's handler is gone, and seen",
  ],
  watch({ plan, tables, broken, happened, nameOf }) {
    if (!plan.parts.includes("deploys")) return {};
    const isCalm = !plan.parts.some((part) => LOSES.test(part));
    return {
      commit(commit) {
        for (const { before, after } of changed(commit, "jobs")) {
          if (after?.["queue"] !== DEPLOYED || before?.["status"] !== "running") continue;
          if (after["status"] === "succeeded")
            happened("a job of a queue that deploys change has been done");
        }
        for (const { job, attempt, outcome, error, blocked } of insertedIn(
          commit,
          "attempts",
          COMPONENT,
        )) {
          if (tables.get("jobs", job as string)?.["queue"] !== DEPLOYED) continue;
          const name = `attempt ${attempt as number} of ${nameOf(job as string)}`;
          // A machine that is lost fails an action, with any deploy.
          const isFailed = outcome === "failed" && !String(error).includes(ACTION_LOST);
          if (isFailed || (outcome === "lost" && isCalm))
            broken(`${name} is ${outcome}: ${String(error)}`);
          if (outcome !== "snoozed") continue;
          // Its handler never snoozes by itself.
          const isSeen = tables
            .all("events")
            .some(({ kind, queue }) => queue === DEPLOYED && kind === blocked?.kind);
          if (isSeen && blocked.kind === "handlerMissing")
            happened("a job's handler is gone, and seen");
          if (!isSeen) broken(`${name} is put off, and no event says why: ${String(error)}`);
        }
      },
    };
  },
};
