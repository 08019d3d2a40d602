/**
 * Related data: the result of the app's own query for each job, read in the transaction that claims it. So a worker
 * begins with data that are as new as its lease, and needs no access to the app's tables.
 */
import type { FunctionReference, FunctionReturnType, GenericMutationCtx } from "convex/server";
import { getConvexSize, type Value } from "convex/values";
import {
  errorText,
  CLAIM_MAX_BYTES,
  RELATED_LIMITS,
  type ClaimedJob,
  type Finished,
  type QueueTypes,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RunsMutations } from "./types.js";

/** The arguments of a `related` query. */
export type RelatedArgs<Payload = any> = {
  id: string;
  queue: string;
  payload: Payload;
  /** The attempt that is being claimed. */
  attempt: number;
};

/** For each queue that has one, its query, usually internal. */
export type RelatedQueries<Queues extends QueueTypes> = {
  readonly [Queue in keyof Queues & string]?: FunctionReference<
    "query",
    "internal" | "public",
    RelatedArgs<Queues[Queue]["payload"]>,
    any
  >;
};

/** The queues' types with the return types of their queries. */
export type WithRelated<Queues extends QueueTypes, Related> = {
  [Queue in keyof Queues]: Queue extends keyof Related
    ? Related[Queue] extends FunctionReference<"query", any, any, any>
      ? Queues[Queue] & { related: FunctionReturnType<Related[Queue]> }
      : Queues[Queue]
    : Queues[Queue];
};

interface Caller {
  token: string;
  sessionKey: string;
}

/**
 * Adds the result of its queue's query to each job. A query that throws fails that attempt, as if its handler had
 * thrown, and the job is left out of the reply; a job with too much data for one reply is given back. A call that is
 * repeated runs the queries anew, for the jobs that it is answered with.
 */
export async function joinRelated<Reply extends { jobs: ClaimedJob[] }>(
  ctx: Pick<GenericMutationCtx<any>, "runQuery"> & RunsMutations,
  component: ComponentApi,
  related: RelatedQueries<QueueTypes>,
  { token, sessionKey }: Caller,
  reply: Reply,
): Promise<Reply> {
  const jobs: ClaimedJob[] = [];
  const finished: Finished[] = [];
  let bytes = 0;
  for (const job of reply.jobs) {
    const { id, queue, payload, attempt } = job;
    // Its own: a queue may have the name of a property of every object.
    const query = Object.hasOwn(related, queue) ? related[queue] : undefined;
    if (query === undefined) {
      jobs.push(job);
      continue;
    }
    if (bytes > CLAIM_MAX_BYTES) {
      finished.push({ id, attempt, outcome: { kind: "released" } });
      continue;
    }
    try {
      const args = { id, queue, payload: payload as unknown, attempt };
      const value: unknown = await ctx.runQuery(query, args, LIMITS);
      bytes += getConvexSize(value as Value);
      jobs.push({ ...job, related: value });
    } catch (error) {
      finished.push({ id, attempt, outcome: { kind: "failed", error: explain(queue, error) } });
    }
  }
  if (finished.length > 0) {
    await callComponent(() =>
      ctx.runMutation(component.lib.takeBack, { token, sessionKey, finished }),
    );
  }
  return { ...reply, jobs };
}

const LIMITS = { transactionLimits: RELATED_LIMITS };

function explain(queue: string, error: unknown): string {
  return `The related query of the queue "${queue}" failed, so no handler was run: ${errorText(error)}`;
}
