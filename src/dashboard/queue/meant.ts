/** The jobs of a bulk action under a list's filter. Pure. */
import type { QueueActionKind } from "../../shared/index.js";
import { isFinished, type JobFilter, type ListFilter } from "../../shared/index.js";

/** `null` where no action can have the same filter: bulk actions do not filter by worker. */
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

/** The actions on jobs of the filter's status: unfinished jobs can be canceled, finished ones retried. */
export function possible({ status }: ListFilter): readonly ManyKind[] {
  if (status === undefined) return ["cancelMany", "retryMany", "deleteMany"];
  return isFinished(status) ? ["retryMany", "deleteMany"] : ["cancelMany", "deleteMany"];
}
