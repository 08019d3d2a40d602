/** A job as a list shows it: its row without payload, result and context, so that a page of a hundred is some 30 KB. */
import {
  firstCharacters,
  LISTED_ERROR_LENGTH,
  type ListedJob,
  withoutUndefined,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";

export function listedOf(job: Doc<"jobs">): ListedJob {
  const { _id: id, queue, status, enqueuedAt, attempt, failures = 0 } = job;
  const { startedAt, finishedAt, worker, name, key, priority, group, tags, labels } = job;
  const { paused, cancelRequestedAt } = job;
  const error =
    job.error === undefined ? undefined : firstCharacters(job.error, LISTED_ERROR_LENGTH);
  const dueAt = status === "scheduled" ? job.order : undefined;
  const more = {
    ...{ dueAt, startedAt, finishedAt, worker, error, name, key, priority, group, tags, labels },
    ...{ paused, cancelRequestedAt },
  };
  return { id, queue, status, enqueuedAt, attempt, failures, ...withoutUndefined(more) };
}
