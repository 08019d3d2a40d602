/** What can be done to one job, each shown at once. */
import { useWrite } from "../frame/context.js";
import { canceled, changeJob, deleted, retried } from "./optimistic.js";
import { usePerform } from "./usePerform.js";

export function useJobDeeds(job: { queue: string; id: string; title: string }) {
  const perform = usePerform();
  const { queue, id, title } = job;
  const cancel = useWrite<"cancel">((store, api, call) => changeJob(store, api, call, canceled));
  const retry = useWrite<"retry">((store, api, call) => changeJob(store, api, call, retried));
  const deleteJob = useWrite<"delete">((store, api, call) => changeJob(store, api, call, deleted));
  return {
    cancel: (reason?: string) =>
      perform({
        work: () => cancel({ kind: "cancel", queue, id, ...(reason ? { reason } : {}) }),
        done: (reply) =>
          reply.canceled
            ? `${title} is canceled.`
            : reply.requested
              ? `${title} is asked to end.`
              : `${title} had ended before.`,
        failed: `${title} could not be canceled`,
      }),
    retry: () =>
      perform({
        work: () => retry({ kind: "retry", queue, id }),
        done: (reply) => (reply.retried ? `${title} is retried.` : `${title} was not retried.`),
        failed: `${title} could not be retried`,
      }),
    delete: () =>
      perform({
        work: () => deleteJob({ kind: "delete", queue, id }),
        done: (reply) => (reply.deleted ? `${title} is deleted.` : `${title} was gone before.`),
        failed: `${title} could not be deleted`,
      }),
  };
}
