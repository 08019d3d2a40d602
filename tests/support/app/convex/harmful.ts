/** Handlers that end the process in which they run, or never end: on a backend with functions in threads. */
import type { Queue } from "convex-conveyor";
import { v, type Infer } from "convex/values";
import { internal } from "./_generated/api.js";
import { internalAction, mutation, query } from "./_generated/server.js";
import { conveyor } from "./queues.js";

export const vHarm = v.object({
  does: v.union(v.literal("waits"), v.literal("loops"), v.literal("takes all memory")),
  ms: v.optional(v.number()),
});

const options = { payload: vHarm, result: v.string(), maxParallelism: 24, leaseMs: 1_000 } as const;

/** By reference: each in an action of its own. */
export const harmful = conveyor.queue("harmful", options);
harmful.handledBy(internal.harmful.harm);

/** In the lane's own process. */
export const harmfulInline = conveyor.queue("harmfulInline", {
  ...options,
  inline: () => internal.harmful.inlineWork,
});

/** The same in Node: `harmfulNode.ts`. */
export const harmfulInNode = conveyor.queue("harmfulInNode", {
  ...options,
  inline: () => internal.harmfulNode.inlineWork,
});

const QUEUES: Record<string, Queue<any, any, any>> = { harmful, harmfulInline, harmfulInNode };

export async function doHarm({ does, ms = 0 }: Infer<typeof vHarm>): Promise<string> {
  if (does === "loops") for (;;);
  const kept: unknown[] = [];
  while (does === "takes all memory") kept.push(new Array(1_000).fill(0));
  await new Promise((resolve) => setTimeout(resolve, ms));
  return "waited";
}

export const harm = internalAction({
  args: vHarm,
  returns: v.string(),
  handler: async (_ctx, args) => await doHarm(args),
});

export const inlineWork = harmfulInline.inline(async (_ctx, { payload }) => await doHarm(payload));

export const enqueue = mutation({
  args: {
    queue: v.string(),
    jobs: v.array(
      v.object({
        ...vHarm.fields,
        inNode: v.optional(v.boolean()),
        timeoutMs: v.optional(v.number()),
        maxResets: v.optional(v.number()),
      }),
    ),
  },
  returns: v.array(v.string()),
  handler: async (ctx, { queue, jobs }): Promise<string[]> =>
    await QUEUES[queue]!.enqueueBatch(
      ctx,
      jobs.map(({ does, ms }) => (ms === undefined ? { does } : { does, ms })),
      (_payload, i) => {
        const { inNode = false, timeoutMs, maxResets } = jobs[i]!;
        const handler = inNode ? internal.harmfulNode.harm : undefined;
        return { timeoutMs, maxResets, handler };
      },
    ),
});

export const look = query({
  args: { queue: v.string(), ids: v.array(v.string()) },
  returns: v.any(),
  handler: async (ctx, { queue, ids }): Promise<any> =>
    await QUEUES[queue]!.statusBatch(ctx, ids as never),
});

export const attempts = query({
  args: { queue: v.string(), id: v.string() },
  returns: v.any(),
  handler: async (ctx, { queue, id }): Promise<any> => await QUEUES[queue]!.attempts(ctx, id),
});
