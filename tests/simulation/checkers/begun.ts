import { isOf, PUSHED } from "../plan.js";
import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { changed, changedJobs, configOf, statusOf } from "./jobs.js";
import { placesGiven, placesOf } from "./places.js";

/** Before any repair would treat a job as forgotten. */
const WITHIN_MS = 4_500;
/** With these, wakes or lanes are lost, or come late. */
const SPARED = ["late", "starved", "restarts", "conflicts", "lost schedules", "lost actions"];
/** Programs outside get jobs of `mixed` first, so it has another time. */
const WATCHED = PUSHED.filter((name) => name !== "mixed");

export const begun: Checker = {
  name: "begun",
  promise:
    "where no function is lost or late, a job that waits in a push queue begins while nothing else goes on there and the class has places, and not only after a repair",
  marks: ["a job that waits is begun by a lane"],
  watch({ plan, tables, broken, happened, nameOf, date }) {
    if (plan.parts.some((part) => SPARED.includes(part))) return {};
    /** By queue: the time of its last change, and its running jobs. */
    const stirred = new Map<string, number>();
    const running = new Map<string, Set<string>>();
    /** Other queues had all places of the class until then. */
    let fullUntil = -Infinity;
    let isFull = false;
    return {
      commit(commit) {
        if (isFull) fullUntil = date();
        isFull = placesGiven(tables) >= placesOf(plan);
        for (const { before, after } of changedJobs(commit)) {
          if (before === null) continue;
          checkWait(before);
          if (statusOf(before) === "pending" && statusOf(after) === "running" && isWatched(before))
            happened("a job that waits is begun by a lane");
        }
        for (const table of ["jobs", "lanes", "gates", "queues"]) {
          for (const { before, after } of changed(commit, table)) {
            const row = (after ?? before)!;
            stirred.set((row["queue"] ?? row["name"]) as string, date());
          }
        }
        for (const { before, after } of changed(commit, "sessions")) {
          const row = (after ?? before)!;
          if (row["lane"] !== undefined) stirred.set(row["queues"][0] as string, date());
        }
        for (const { id, before, after } of changedJobs(commit)) {
          const queue = (after ?? before)!["queue"] as string;
          const all = running.get(queue) ?? new Set<string>();
          running.set(queue, all);
          if (statusOf(after) === "running") all.add(id);
          else all.delete(id);
        }
        if (changed(commit, "timers").length > 0) tables.all("jobs").forEach(checkWait);
      },
    };

    function checkWait(job: Row): void {
      if (statusOf(job) !== "pending" || job["paused"] === true || !isWatched(job)) return;
      // No lane may have it.
      if (job["labels"]?.length > 0) return;
      const queue = job["queue"] as string;
      const row = tables.all("queues").find(({ name }) => name === queue);
      const { maxParallelism } = configOf(tables, queue);
      if (row?.["pausedAt"] !== undefined || maxParallelism === 0) return;
      const waits = date() - Math.max(stirred.get(queue) ?? Infinity, fullUntil);
      if (waits > WITHIN_MS && (running.get(queue)?.size ?? 0) === 0) {
        broken(`${nameOf(job._id)} waits for ${waits.toFixed()} ms, and nothing runs there`);
      }
    }
  },
};

const isWatched = (job: Row): boolean => isOf(WATCHED, job["queue"]);
