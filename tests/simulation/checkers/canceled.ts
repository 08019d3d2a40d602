import type { Row } from "../observed.js";
import type { Checker } from "../part.js";
import { isOf, PULLED } from "../plan.js";
import { isUndisturbed } from "./heard.js";
import { changedJobs, claimedBy, hasEnded, statusOf } from "./jobs.js";
import { sureMs } from "./slack.js";

/** By a subscription, which begins half a second after the job did: a worker's next beat would come later. */
const TOLD_WITHIN_MS = 1_000;

export const canceled: Checker = {
  name: "canceled",
  promise:
    "a job that was canceled before it began never runs, until it is retried; one that runs and is to end ends as canceled, or as succeeded, and its worker is notified at once",
  marks: [
    "canceled before it began",
    "canceled between two attempts",
    "asked to end, and canceled",
    "asked to end, and succeeded",
    "a caller hears that it is canceled",
    "a caller hears that it is asked to end",
    "a caller hears that it has ended",
    "a worker is notified that a job is to end",
  ],
  watch({ plan, tables, broken, happened, nameOf, now }) {
    /** By job, when it was last canceled where it waited, and after how many attempts. */
    const since = new Map<string, number>();
    const canceledAt = new Map<string, number[]>();
    const requestedAt = new Map<string, number[]>();
    const add = (to: Map<string, number[]>, id: string) =>
      to.set(id, [...(to.get(id) ?? []), now()]);
    /** Attempts of workers that are to end, with the time of the request. */
    const untold = new Map<string, number>();
    /** Attempts that their worker has ended, or was notified to end. */
    const stopped = new Set<string>();
    return {
      commit(commit) {
        for (const [key, at] of untold) {
          if (now() > at + sureMs(plan, TOLD_WITHIN_MS))
            broken(`the worker of ${key} is not notified to end it`);
        }
        for (const change of changedJobs(commit)) {
          const { id, before, after } = change;
          if (before !== null && statusOf(after) !== "running") untold.delete(attemptOf(before));
          if (after === null) continue;
          if (claimedBy(change) !== null) {
            if (since.has(id)) broken(`${nameOf(id)} was canceled, and is claimed`);
          }
          const isNewlyCanceled = statusOf(after) === "canceled" && statusOf(before) !== "canceled";
          if (isNewlyCanceled) add(canceledAt, id);
          if (isNewlyCanceled && statusOf(before) !== "running") {
            since.set(id, after["attempt"] as number);
            const isBegun = (after["attempt"] as number) > 0;
            happened(isBegun ? "canceled between two attempts" : "canceled before it began");
          }
          if (hasEnded(before) && !hasEnded(after)) since.delete(id);
          const wasAsked = before?.["cancelRequestedAt"] !== undefined;
          if (!wasAsked && after["cancelRequestedAt"] !== undefined) {
            add(requestedAt, id);
            if (isWorkers(after) && !stopped.has(attemptOf(after)))
              untold.set(attemptOf(after), now());
          }
          if (!wasAsked || statusOf(after) === "running") continue;
          const status = statusOf(after);
          if (status === "canceled" || status === "succeeded") {
            happened(`asked to end, and ${status}`);
          } else broken(`${nameOf(id)} was asked to end, and is ${status}`);
        }
      },
      printed(_, line) {
        const { kind, reason, id, attempt } = line as Record<string, string>;
        if (!["finished", "aborted", "leaseLost"].includes(kind!)) return;
        if (reason === "canceled") happened("a worker is notified that a job is to end");
        stopped.add(`${nameOf(id!)}/${attempt!}`);
        untold.delete(`${nameOf(id!)}/${attempt!}`);
      },
      ran({ job, attempt, what }) {
        // An attempt that was claimed earlier, by a worker that was lost since, may begin late: it cannot be called back.
        if (what === "began" && since.get(job) === 0) {
          broken(`attempt ${attempt} of ${nameOf(job)} begins, which was canceled before any`);
        }
      },
      answered({ what, args, reply, at }) {
        if (what !== "cancel" || reply === undefined) return;
        const { id } = args as { id: string };
        const within = (times: Map<string, number[]>) =>
          (times.get(id) ?? []).some((one) => one >= at);
        if (reply.canceled === true) {
          if (within(canceledAt)) happened("a caller hears that it is canceled");
          else broken(`a caller hears that ${nameOf(id)} is canceled, and it was not`);
        } else if (reply.requested === true) {
          if ((requestedAt.get(id) ?? []).length === 0) {
            broken(`a caller hears that ${nameOf(id)} is asked to end, and it was not`);
          } else happened("a caller hears that it is asked to end");
        } else if (["succeeded", "failed", "canceled", "timedOut"].includes(reply.status)) {
          happened("a caller hears that it has ended");
        } else
          broken(`a caller hears that ${nameOf(id)}, which is ${reply.status}, was not canceled`);
      },
      end() {
        for (const { _id: id, cancelRequestedAt } of tables.all("jobs")) {
          if (cancelRequestedAt !== undefined) broken(`${nameOf(id)} is still asked to end`);
        }
      },
    };

    function isWorkers({ queue, session }: Row): boolean {
      if (!isOf(PULLED, queue) || !isUndisturbed(plan)) return false;
      return tables.get("sessions", session as string)?.["lane"] === undefined;
    }

    function attemptOf({ _id, attempt }: Row): string {
      return `${nameOf(_id)}/${attempt as number}`;
    }
  },
};
