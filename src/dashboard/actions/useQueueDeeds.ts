/** The actions on a queue and on many of its jobs, each shown before the backend has answered. */
import { CANCELABLE_STATUSES, FINISHED_STATUSES, type JobFilter } from "../../shared/index.js";
import { useLabels, useWrite } from "../frame/context.js";
import {
  canceled,
  changeMeant,
  changeQueue,
  deleted,
  draining,
  paused,
  resumed,
  retried,
} from "./optimistic.js";
import { usePerform } from "./usePerform.js";

/** Pauses, resumes and drains. */
export function useQueueDeeds(queue: string) {
  const perform = usePerform();
  const labels = useLabels().queueActions;
  const pause = useWrite<"pause">((store, api, call) =>
    changeQueue(store, api, call.queue, paused),
  );
  const resume = useWrite<"resume">((store, api, call) =>
    changeQueue(store, api, call.queue, resumed),
  );
  const drain = useWrite<"drain">((store, api, call) =>
    changeQueue(store, api, call.queue, draining),
  );
  return {
    pause: () =>
      perform({
        work: () => pause({ kind: "pause", queue }),
        done: () => labels.paused(queue),
        failed: (reason) => labels.pauseFailed(queue, reason),
      }),
    resume: () =>
      perform({
        work: () => resume({ kind: "resume", queue }),
        done: () => labels.resumed(queue),
        failed: (reason) => labels.resumeFailed(queue, reason),
      }),
    drain: () =>
      perform({
        work: () => drain({ kind: "drain", queue }),
        done: () => labels.draining(queue),
        failed: (reason) => labels.drainFailed(queue, reason),
      }),
  };
}

/** Cancels, retries or deletes all jobs of a filter. */
export function useManyDeeds(queue: string) {
  const perform = usePerform();
  const labels = useLabels().bulk;
  const cancelMany = useWrite<"cancelMany">((store, api, call) =>
    changeMeant(store, api, call, canceled, [...CANCELABLE_STATUSES, "running"]),
  );
  const retryMany = useWrite<"retryMany">((store, api, call) =>
    changeMeant(store, api, call, retried, ["failed", "timedOut"]),
  );
  const deleteMany = useWrite<"deleteMany">((store, api, call) =>
    changeMeant(store, api, call, deleted, FINISHED_STATUSES),
  );
  return {
    cancelMany: (filter: JobFilter) =>
      perform({
        work: () => cancelMany({ kind: "cancelMany", queue, filter }),
        done: ({ changed, isDone }) => labels.canceled(changed, isDone),
        failed: labels.cancelFailed,
      }),
    retryMany: (filter: JobFilter) =>
      perform({
        work: () => retryMany({ kind: "retryMany", queue, filter }),
        done: ({ changed, isDone }) => labels.retried(changed, isDone),
        failed: labels.retryFailed,
      }),
    deleteMany: (filter: JobFilter) =>
      perform({
        work: () => deleteMany({ kind: "deleteMany", queue, filter }),
        done: ({ changed, isDone }) => labels.deleted(changed, isDone),
        failed: labels.deleteFailed,
      }),
  };
}
