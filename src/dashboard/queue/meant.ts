/** Which jobs a list's filter means when something is done to all of them. Pure. */
import type { QueueActionKind } from "../../shared/index.js";
import { isFinished, type JobFilter, type ListFilter } from "../../shared/index.js";
import { STATUS_WORDS } from "../words.js";

/** `null` where no action can mean the same: none is told by the worker. */
export function meantBy({ status, tag, group, name, worker }: ListFilter): JobFilter | null {
  if (worker !== undefined) return null;
  return {
    ...(status === undefined ? {} : { statuses: [status] }),
    ...(tag === undefined ? {} : { tags: [tag] }),
    ...(group === undefined ? {} : { group }),
    ...(name === undefined ? {} : { name }),
  };
}

export type ManyKind = Extract<QueueActionKind, "cancelMany" | "retryMany" | "deleteMany">;

/** What can be done to jobs in the filter's state: what waits or runs can be canceled, what has ended retried. */
export function possible({ status }: ListFilter): readonly ManyKind[] {
  if (status === undefined) return ["cancelMany", "retryMany", "deleteMany"];
  return isFinished(status) ? ["retryMany", "deleteMany"] : ["cancelMany", "deleteMany"];
}

/** Of a filter for any state: which of its jobs an action leaves alone by itself. */
const OF_ANY: Readonly<Record<ManyKind, string>> = {
  cancelMany: "scheduled, pending and running jobs",
  retryMany: "failed and timed out jobs",
  deleteMany: "finished jobs",
};

/** "failed jobs named “resize” with the tag “customer:7”". */
export function filterWords(filter: ListFilter, kind?: ManyKind): string {
  const { status, tag, group, name, worker } = filter;
  const any = kind === undefined ? "jobs" : OF_ANY[kind];
  return [
    status === undefined ? any : `${STATUS_WORDS[status].toLowerCase()} jobs`,
    name === undefined ? "" : `named “${name}”`,
    tag === undefined ? "" : `with the tag “${tag}”`,
    group === undefined ? "" : `of the group “${group}”`,
    worker === undefined ? "" : `that “${worker}” had last`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}
