import type { Checker } from "../part.js";
import { changed } from "./jobs.js";

interface Lease {
  id: string;
  attempt: number;
}

export const quietKept: Checker = {
  name: "quiet",
  promise:
    "from the commit on that makes a worker quiet it takes nothing, until the one that lets it claim again; what it has goes on",
  marks: [
    "a quiet worker ends a job",
    "a quiet worker claims again",
    "a job waits beside a quiet worker",
  ],
  watch({ plan, tables, broken, happened, nameOf }) {
    if (!plan.parts.includes("quiet workers")) return {};
    const wasQuiet = new Set<string>();
    return {
      commit(commit) {
        for (const { id, before, after } of changed(commit, "sessions")) {
          if (before === null || after === null) continue;
          const had = before["leases"] as Lease[];
          const taken = (after["leases"] as Lease[]).filter(
            (one) => !had.some((other) => other.id === one.id && other.attempt === one.attempt),
          );
          if (before["isQuiet"] === true) {
            wasQuiet.add(id);
            for (const one of taken)
              broken(`${nameOf(one.id)} is taken by ${after["name"] as string}, which is quiet`);
            if (after["leases"].length < had.length) happened("a quiet worker ends a job");
            const waits = tables
              .all("jobs")
              .some(({ status, queue }) => status === "pending" && after["queues"].includes(queue));
            if (waits) happened("a job waits beside a quiet worker");
          } else if (taken.length > 0 && wasQuiet.has(id)) happened("a quiet worker claims again");
        }
      },
    };
  },
};
