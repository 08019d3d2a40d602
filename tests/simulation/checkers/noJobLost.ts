import { FOLLOWS } from "../app/turns.js";
import type { Asked, Checker } from "../part.js";
import { isOf, type Kind } from "../plan.js";
import { isOfTable } from "../workloads/rows.js";
import {
  changed,
  changedJobs,
  endedBy,
  hasEnded,
  insertedIn,
  roundBy,
  statusOf,
  turnIn,
  workOf,
  isDeletionAsked,
} from "./jobs.js";

/** Handlers that can continue their job; in "mixed" only handlers of programs outside. */
const CONTINUES: readonly Kind[] = ["pulled", "ring", "inlined"];

export const noJobLost: Checker = {
  name: "no job lost",
  promise:
    "a job is there if and only if the transaction that enqueued it committed, and it goes by retention or on demand alone",
  marks: [
    "a call is answered after its jobs are there",
    "a call that threw has left nothing",
    "a job follows another",
    "an enqueue finds a job with its key",
    "a job is deleted on demand",
    "a job is purged",
  ],
  watch({ tables, asked, broken, happened, nameOf }) {
    const ordered = new Map<string, number>();
    const numbers = new Set<number>();
    return {
      commit(commit) {
        const orders = insertedIn(commit, "orders");
        const jobs = changedJobs(commit);
        for (const { n, job, queue, isNew } of orders) {
          ordered.set(job as string, n as number);
          numbers.add(n as number);
          const made = jobs.find(({ id, before }) => id === job && before === null);
          // An enqueue that finds a job with its key may find one of its own transaction.
          const isOthers = orders.some((one) => one["job"] === job && one["isNew"] === true);
          if ((made !== undefined) !== (isNew || isOthers)) {
            broken(`order ${n} of ${queue} and its job are not of one commit`);
          }
          if (!isNew) happened("an enqueue finds a job with its key");
        }
        for (const { id, before, after } of jobs) {
          if (before === null) {
            // Of rows of the app's: see `rows.ts`.
            if (isOfTable(after!["queue"])) continue;
            const n = workOf(tables, after!)?.n ?? NaN;
            if (orders.some(({ job, isNew }) => job === id && isNew === true)) continue;
            const parent = jobs.find(
              (one) =>
                one.after !== null &&
                endedBy(one) !== null &&
                workOf(tables, one.after)?.n === n - FOLLOWS,
            );
            const stands =
              parent !== undefined &&
              (statusOf(parent.after) === "succeeded" || roundBy(parent) === "succeeded");
            if (!stands) broken(`${nameOf(id)} is there, without an enqueue`);
            else happened("a job follows another");
          } else if (after === null) {
            if (isDeletionAsked(asked, id, before["queue"] as string))
              happened("a job is deleted on demand");
            else {
              const purges = changed(commit, "timers").some(
                (timer) => (timer.before ?? timer.after)!["kind"] === "purge",
              );
              if (!hasEnded(before)) broken(`${nameOf(id)} is gone, and was ${statusOf(before)}`);
              else if (!purges) broken(`${nameOf(id)} is gone, without a purge`);
              else happened("a job is purged");
            }
          }
        }
        for (const change of jobs) {
          const attempt = endedBy(change);
          const { before, after } = change;
          if (attempt === null || after === null || before === null) continue;
          if (statusOf(after) !== "succeeded" && roundBy(change) !== "succeeded") continue;
          if (!isOf(CONTINUES, after["queue"])) continue;
          if (turnIn(tables, after, attempt)?.end !== "continues") continue;
          const n = workOf(tables, after)!.n + FOLLOWS;
          const followers = jobs.filter(
            (one) => one.before === null && workOf(tables, one.after!)?.n === n,
          );
          if (followers.length !== 1) {
            broken(`${nameOf(after._id)} is followed by ${followers.length} jobs, and not by one`);
          }
        }
      },
      answered({ what, args, reply, error }: Asked) {
        if (error !== undefined || reply === undefined) return;
        const ids: string[] =
          what === "enqueue" || what === "enqueueBatch"
            ? (reply as string[])
            : what === "replace" && reply.replaced === true
              ? [reply.id as string]
              : [];
        if (ids.length === 0) return;
        const jobs = what === "replace" ? [args.job] : args.jobs;
        if (ids.length !== jobs.length) broken(`${jobs.length} jobs, and ${ids.length} ids`);
        for (const id of ids) {
          if (!ordered.has(id)) broken(`a caller was given ${nameOf(id)}, and no order is there`);
        }
        happened("a call is answered after its jobs are there");
      },
      end() {
        for (const { args } of asked) {
          if (args.throws !== true) continue;
          for (const { payload } of args.jobs) {
            if (numbers.has(payload.n)) broken(`the caller of ${payload.n} threw, and it is there`);
          }
          happened("a call that threw has left nothing");
        }
      },
    };
  },
};
