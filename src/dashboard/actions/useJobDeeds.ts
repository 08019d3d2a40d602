/** The actions on one job, each shown before the backend has answered. */
import { useLabels, useWrite } from "../frame/context.js";
import { canceled, changeJob, deleted, retried } from "./optimistic.js";
import { usePerform } from "./usePerform.js";

export function useJobDeeds(job: { queue: string; id: string; title: string }) {
  const perform = usePerform();
  const labels = useLabels().jobActions;
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
            ? labels.canceled(title)
            : reply.requested
              ? labels.cancelRequested(title)
              : labels.alreadyFinished(title),
        failed: (why) => labels.cancelFailed(title, why),
      }),
    retry: () =>
      perform({
        work: () => retry({ kind: "retry", queue, id }),
        done: (reply) => (reply.retried ? labels.retried(title) : labels.notRetried(title)),
        failed: (why) => labels.retryFailed(title, why),
      }),
    delete: () =>
      perform({
        work: () => deleteJob({ kind: "delete", queue, id }),
        done: (reply) => (reply.deleted ? labels.deleted(title) : labels.alreadyDeleted(title)),
        failed: (why) => labels.deleteFailed(title, why),
      }),
  };
}
