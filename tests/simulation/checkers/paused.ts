import type { Checker } from "../part.js";
import { changed, changedJobs, claimedBy, statusOf } from "./jobs.js";

export const paused: Checker = {
  name: "paused",
  promise:
    "from the commit on that pauses a queue, or a job, no claim takes it until it is resumed; from the one on that drains a queue, nothing is enqueued into it",
  marks: [
    "jobs wait in a paused queue",
    "a paused job waits",
    "a job is paused while it runs, or before it is due",
    "a paused queue is resumed",
    "a queue drains",
  ],
  watch({ tables, broken, happened, nameOf }) {
    return {
      commit(commit) {
        for (const { before, after } of changed(commit, "queues")) {
          if (before?.["pausedAt"] !== undefined && after?.["pausedAt"] === undefined) {
            happened("a paused queue is resumed");
          }
        }
        for (const change of changedJobs(commit)) {
          const { id, before, after } = change;
          if (after === null) continue;
          const queue = tables.all("queues").find(({ name }) => name === after["queue"]);
          if (before === null && queue?.["drainingAt"] !== undefined) {
            broken(`${nameOf(id)} came into ${after["queue"] as string}, which drains`);
          }
          if (queue?.["drainingAt"] !== undefined) happened("a queue drains");
          const waits = statusOf(after) === "pending";
          if (waits && queue?.["pausedAt"] !== undefined) happened("jobs wait in a paused queue");
          if (after["paused"] === true) {
            happened(
              waits ? "a paused job waits" : "a job is paused while it runs, or before it is due",
            );
          }
          if (claimedBy(change) === null) continue;
          if (queue?.["pausedAt"] !== undefined) {
            broken(`${nameOf(id)} is claimed, and its queue is paused`);
          }
          if (before?.["paused"] === true) broken(`${nameOf(id)} is claimed, and was paused`);
        }
      },
    };
  },
};
