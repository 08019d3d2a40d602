/** What can be done to a queue, each shown at once. */
import {
  CANCELABLE_STATUSES,
  FINISHED_STATUSES,
  type BulkReply,
  type JobFilter,
} from "../../shared/index.js";
import { useWrite } from "../frame/context.js";
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
  const perform = usePerform();
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
        done: () => `${queue} is paused.`,
        failed: `${queue} could not be paused`,
      }),
    resume: () =>
      perform({
        work: () => resume({ kind: "resume", queue }),
        done: () => `${queue} goes on.`,
        failed: `${queue} could not be resumed`,
      }),
    drain: () =>
      perform({
        work: () => drain({ kind: "drain", queue }),
        done: () => `${queue} takes no new jobs.`,
        failed: `${queue} could not be drained`,
      }),
  };
}

/** Cancels, retries or deletes all jobs that a filter means. */
export function useManyDeeds(queue: string) {
  const perform = usePerform();
  const cancelMany = useWrite<"cancelMany">((store, api, call) =>
    changeMeant(store, api, call, canceled, [...CANCELABLE_STATUSES, "running"]),
  );
  const retryMany = useWrite<"retryMany">((store, api, call) =>
    changeMeant(store, api, call, retried, ["failed", "timedOut"]),
  );
  const deleteMany = useWrite<"deleteMany">((store, api, call) =>
    changeMeant(store, api, call, deleted, FINISHED_STATUSES),
  );
  const told = (what: string) => (reply: BulkReply) =>
    `${several(reply.changed, "job")} ${what}${reply.isDone ? "." : "; the rest goes on by itself."}`;
  return {
    cancelMany: (filter: JobFilter) =>
      perform({
        work: () => cancelMany({ kind: "cancelMany", queue, filter }),
        done: told("canceled"),
        failed: "The jobs could not be canceled",
      }),
    retryMany: (filter: JobFilter) =>
      perform({
        work: () => retryMany({ kind: "retryMany", queue, filter }),
        done: told("retried"),
        failed: "The jobs could not be retried",
      }),
    deleteMany: (filter: JobFilter) =>
      perform({
        work: () => deleteMany({ kind: "deleteMany", queue, filter }),
        done: told("deleted"),
        failed: "The jobs could not be deleted",
      }),
  };
}
