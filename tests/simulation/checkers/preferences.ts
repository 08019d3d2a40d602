import { EXPIRY_WIDTHS } from "../../../src/shared/index.js";
import type { NewJob } from "../work.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import type { Plan } from "../plan.js";
import { isHeldUp } from "./inTime.js";
import { changed, changedJobs, claimedBy, statusOf } from "./jobs.js";
import { sureMs } from "./slack.js";

/** The alarm's hop, and a conflict or two, as for a job that falls due. */
const HOPS_MS = 1_400;

interface Prefer {
  labels?: string[];
  worker?: string;
  forMs: number;
  /** The preference counts from when the job is due. */
  runAfter: number;
}

export const preferencesKept: Checker = {
  name: "preferences",
  promise:
    "while a job's preference lasts only the workers that it prefers take it, and Convex itself does not; within a second of its end any may",
  marks: [
    ...["a preferred worker takes a job", "another worker takes a job later"],
    "a preference is over",
  ],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    const asked = preferencesOf(plan);
    if (asked.size === 0) return {};
    return {
      commit(commit) {
        for (const change of changedJobs(commit)) {
          const { id, before, after } = change;
          const prefer = asked.get(nameOf(id));
          if (prefer === undefined) continue;
          if (before !== null) checkOver(before, prefer);
          if (before?.["prefer"] !== undefined && after?.["prefer"] === undefined)
            if (statusOf(after) === "pending") happened("a preference is over");
          // A row that came and was claimed in one commit had no other worker before it.
          if (claimedBy(change) === 1) checkTaker(after!, prefer);
        }
        if (changed(commit, "timers").length > 0)
          for (const job of tables.all("jobs")) {
            const prefer = asked.get(nameOf(job._id));
            if (prefer !== undefined) checkOver(job, prefer);
          }
      },
    };

    function checkTaker(job: Row, prefer: Prefer): void {
      const session = tables.get("sessions", (job["session"] ?? "") as string);
      const spec = plan.workers.find(({ name }) => name === session?.["name"]);
      const isLane = session?.["lane"] !== undefined;
      // The liar has labels of its own making.
      if (spec === undefined && !isLane) return;
      const fits =
        spec !== undefined &&
        (prefer.worker === undefined || prefer.worker === spec.name) &&
        (prefer.labels ?? []).every((label) => spec.labels.includes(label));
      if (fits) return happened("a preferred worker takes a job");
      const lastsMs = endOf(job, prefer) - date();
      if (lastsMs <= 0) return happened("another worker takes a job later");
      broken(
        `${nameOf(job._id)} prefers another worker for ${lastsMs.toFixed()} ms, and is taken by ${session?.["name"] as string}`,
      );
    }

    /** It waits, and still prefers workers. */
    function checkOver(job: Row, prefer: Prefer): void {
      if (statusOf(job) !== "pending" || job["prefer"] === undefined || isHeldUp(plan)) return;
      const lateMs = date() - endOf(job, prefer);
      if (lateMs > EXPIRY_WIDTHS[0] + sureMs(plan, HOPS_MS))
        broken(`the preference of ${nameOf(job._id)} is over for ${lateMs.toFixed()} ms`);
    }

    function endOf(job: Row, { forMs, runAfter }: Prefer): number {
      return (job["enqueuedAt"] as number) + runAfter + forMs;
    }
  },
};

/** By the name of a job, as it was asked for. */
export function preferencesOf({ events }: Plan): Map<string, Prefer> {
  return new Map(
    events.flatMap(({ queue = "pulled", jobs = [] }) =>
      (jobs as NewJob[]).flatMap(({ payload, options }): [string, Prefer][] => {
        const { prefer, runAfter = 0 } = (options ?? {}) as { prefer?: Prefer; runAfter?: number };
        // Jobs of other workloads prefer none, and have payloads of their own.
        if (prefer === undefined) return [];
        return [[`${queue as string} ${payload.n}`, { ...prefer, runAfter }]];
      }),
    ),
  );
}
