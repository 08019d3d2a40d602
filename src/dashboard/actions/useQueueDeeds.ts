/** What can be done to a queue, each shown at once. */
import { useMutation } from "convex/react";
import {
  CANCELABLE_STATUSES,
  FINISHED_STATUSES,
  type BulkReply,
  type JobFilter,
} from "../../shared/index.js";
import { useApi } from "../frame/context.js";
import { several } from "../words.js";
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
  const api = useApi();
  const perform = usePerform();
  const pause = useMutation(api.pause).withOptimisticUpdate((store, args) =>
    changeQueue(store, api, args.queue, paused),
  );
  const resume = useMutation(api.resume).withOptimisticUpdate((store, args) =>
    changeQueue(store, api, args.queue, resumed),
  );
  const drain = useMutation(api.drain).withOptimisticUpdate((store, args) =>
    changeQueue(store, api, args.queue, draining),
  );
  return {
    pause: () =>
      perform({
        work: () => pause({ queue }),
        done: () => `${queue} is paused.`,
        failed: `${queue} could not be paused`,
      }),
    resume: () =>
      perform({
        work: () => resume({ queue }),
        done: () => `${queue} goes on.`,
        failed: `${queue} could not be resumed`,
      }),
    drain: () =>
      perform({
        work: () => drain({ queue }),
        done: () => `${queue} takes no new jobs.`,
        failed: `${queue} could not be drained`,
      }),
  };
}

/** Cancels, retries or deletes all jobs that a filter means. */
export function useManyDeeds(queue: string) {
  const api = useApi();
  const perform = usePerform();
  const cancelMany = useMutation(api.cancelMany).withOptimisticUpdate((store, args) =>
    changeMeant(store, api, args, canceled, [...CANCELABLE_STATUSES, "running"]),
  );
  const retryMany = useMutation(api.retryMany).withOptimisticUpdate((store, args) =>
    changeMeant(store, api, args, retried, ["failed", "timedOut"]),
  );
  const deleteMany = useMutation(api.deleteMany).withOptimisticUpdate((store, args) =>
    changeMeant(store, api, args, deleted, FINISHED_STATUSES),
  );
  const told = (what: string) => (reply: BulkReply) =>
    `${several(reply.changed, "job")} ${what}${reply.isDone ? "." : "; the rest goes on by itself."}`;
  return {
    cancelMany: (filter: JobFilter) =>
      perform({
        work: () => cancelMany({ queue, filter }),
        done: told("canceled"),
        failed: "The jobs could not be canceled",
      }),
    retryMany: (filter: JobFilter) =>
      perform({
        work: () => retryMany({ queue, filter }),
        done: told("retried"),
        failed: "The jobs could not be retried",
      }),
    deleteMany: (filter: JobFilter) =>
      perform({
        work: () => deleteMany({ queue, filter }),
        done: told("deleted"),
        failed: "The jobs could not be deleted",
      }),
  };
}
