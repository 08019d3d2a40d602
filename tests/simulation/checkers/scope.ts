import { SCOPED } from "../app/names.js";
import type { Checker } from "../part.js";
import { hasScope, PREFIX } from "../workloads/scope.js";
import { changedJobs, claimedBy, statusOf } from "./jobs.js";

export const scopeKept: Checker = {
  name: "scope",
  promise:
    "a worker that is bound to groups takes no job of another one: at the commit of its claim the app says so of that group, or the group begins with the token's prefix",
  marks: [
    "a job is claimed in a group of the moment",
    "a job is claimed in a group that begins so",
    "a job waits for its group",
  ],
  watch({ plan, tables, broken, happened, nameOf }) {
    if (!hasScope(plan)) return {};
    return {
      commit(commit) {
        // No commit both claims and changes them.
        const members = tables.all("members", "").map(({ group }) => group as string);
        for (const change of changedJobs(commit)) {
          const { id, after } = change;
          if (after?.["queue"] !== SCOPED) continue;
          const group = after["group"] as string;
          if (statusOf(after) === "pending" && !members.includes(group))
            happened("a job waits for its group");
          if (claimedBy(change) === null) continue;
          const session = tables.get("sessions", (after["session"] ?? "") as string);
          const token = plan.workers.find(({ name }) => name === session?.["name"])?.token;
          const isIn = token === "byQuery" ? members.includes(group) : group.startsWith(PREFIX);
          if (token === undefined) continue;
          if (!isIn) broken(`${nameOf(id)} of ${group} is claimed by ${session?.["name"]}`);
          else
            happened(
              token === "byQuery"
                ? "a job is claimed in a group of the moment"
                : "a job is claimed in a group that begins so",
            );
        }
      },
    };
  },
};
