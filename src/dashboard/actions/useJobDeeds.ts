/** What can be done to one job, each shown at once. */
import { useMutation } from "convex/react";
import { useApi } from "../frame/context.js";
import { canceled, changeJob, deleted, retried } from "./optimistic.js";
import { usePerform } from "./usePerform.js";

export function useJobDeeds(job: { queue: string; id: string; title: string }) {
  const api = useApi();
  const perform = usePerform();
  const { queue, id, title } = job;
  const cancel = useMutation(api.cancel).withOptimisticUpdate((store, args) =>
    changeJob(store, api, args, canceled),
  );
  const retry = useMutation(api.retry).withOptimisticUpdate((store, args) =>
    changeJob(store, api, args, retried),
  );
  const remove = useMutation(api.remove).withOptimisticUpdate((store, args) =>
    changeJob(store, api, args, deleted),
  );
  return {
    cancel: (reason?: string) =>
      perform({
        work: () => cancel({ queue, id, ...(reason ? { reason } : {}) }),
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
        work: () => retry({ queue, id }),
        done: (reply) => (reply.retried ? `${title} is retried.` : `${title} was not retried.`),
        failed: `${title} could not be retried`,
      }),
    remove: () =>
      perform({
        work: () => remove({ queue, id }),
        done: (reply) => (reply.deleted ? `${title} is deleted.` : `${title} was gone before.`),
        failed: `${title} could not be deleted`,
      }),
  };
}
