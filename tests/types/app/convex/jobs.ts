/** The functions for pages, once for all queues; and calls of them, with the types of the queue that an id remembers. */
import { jobCalls, waitForResult, type JobId, type ResultClient } from "convex-conveyor";
import { useEnqueue, useJob, useJobs } from "convex-conveyor/react";
import type { ConvexHttpClient } from "convex/browser";
import { paginationOptsValidator } from "convex/server";
import { v } from "convex/values";
import { api } from "./_generated/api";
import { query } from "./_generated/server";
import { conveyor } from "./conveyor";
import { renders } from "./renders";
import { emails } from "./emails";

export const { enqueue, status, list, stats, logs, output, cancel, retry } = conveyor.api({
  queues: [emails, renders],
  authorize: async (ctx, call) => {
    if (call.kind === "enqueue" && call.queue === "renders") {
      return call.payloads.every(({ scene }) => scene.length < 100);
    }
    return call.kind === "status" || (await ctx.auth.getUserIdentity()) !== null;
  },
  enqueue: { renders: (_ctx, { scene }) => ({ key: scene, priority: 1 }) },
});

/** A list of the app's own: the page's arguments are handed on. */
export const own = query({
  args: { queue: v.string(), paginationOpts: paginationOptsValidator },
  handler: async (ctx, args) => await emails.list(ctx, args),
});

export function useOwn() {
  const { results } = useJobs({ list: api.jobs.own }, { queue: "emails" });
  const first: string | undefined = results[0]?.id;
  return first;
}

export function usePage(id: JobId<"renders">, any: string) {
  const job = useJob(api.jobs, id, { attempts: true });
  const frames: number = job?.status === "succeeded" ? job.result.frames : 0;
  const tried: number = job?.attempts.length ?? 0;
  const queue: "emails" | "renders" | undefined = useJob(api.jobs, any)?.queue;
  const render = useEnqueue(api.jobs, "renders");
  const start = async (): Promise<JobId<"renders">> => await render({ scene: "sea" });
  return { frames, tried, queue, start };
}

export async function outside(client: ConvexHttpClient & ResultClient) {
  const jobs = jobCalls(api.jobs);
  const id: JobId<"renders"> = await client.mutation(...jobs.enqueue("renders", { scene: "sea" }));
  const { frames } = await waitForResult(client, api.jobs.status, id);
  return { frames, why: (await client.query(...jobs.status(id, { why: true })))?.why.reasons };
}

export function useMistakes(other: JobId<"others">) {
  // @ts-expect-error "others"
  useJob(api.jobs, other);
  // @ts-expect-error "emails"
  useEnqueue(api.jobs, "emails");
  // @ts-expect-error 'StatusApi'
  useJob({ list: api.jobs.list }, "id");
}

conveyor.api({
  queues: [emails],
  authorize: "public",
  // @ts-expect-error 'renders' does not exist
  enqueue: { renders: true },
});
// @ts-expect-error 'authorize' is missing
conveyor.api({ queues: [emails] });
