/** A hook that enqueues. */
import { useMutation } from "convex/react";
import { useMemo } from "react";
import type {
  EnqueueApi,
  EnqueueQueueOf,
  JobId,
  PayloadArgs,
  PayloadsOf,
} from "../shared/index.js";

/** Puts a job into a queue, or `many`; answers with ids. */
export interface Enqueue<Api extends EnqueueApi, Queue extends string> {
  /** One job, by its payload, which may be left out where the queue takes none. */
  (...payload: PayloadArgs<Api, Queue>): Promise<JobId<Queue>>;
  /** Many jobs, all or none. */
  many(payloads: PayloadsOf<Api, Queue>): Promise<JobId<Queue>[]>;
}

/**
 * Puts jobs into a queue, as far as the app's `conveyor.api` lets pages: see its `enqueue`.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`.
 * @param queue The queue. The payload and the id have its types.
 * @returns A function that is the same for as long as the queue is. It rejects with the error of `enqueue`:
 * `forbidden`, `invalidPayload` with the path, `payloadTooLarge`, `queueDraining`.
 * @example
 * const send = useEnqueue(api.jobs, "emails");
 * return <button onClick={async () => setJob(await send({ to, body }))}>Send</button>;
 */
export function useEnqueue<Api extends EnqueueApi, const Queue extends EnqueueQueueOf<Api>>(
  jobs: Api,
  queue: Queue,
): Enqueue<Api, Queue> {
  const enqueue = useMutation(jobs.enqueue);
  return useMemo(() => {
    const one = (...payload: unknown[]) =>
      enqueue(payload.length === 0 ? { queue } : { queue, payload: payload[0] });
    return Object.assign(one, {
      many: (payloads: unknown) => enqueue({ queue, payloads }),
    }) as never;
  }, [enqueue, queue]);
}
