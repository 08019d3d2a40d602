/** The way in, the same for each alternative: one mutation brings jobs into one queue, or one into each of several. */
import { v } from "convex/values";
import { mutation, vWork, type Kind, type MutationCtx, type Work } from "./builders.js";

type Enqueue = (ctx: MutationCtx, queue: number, kind: Kind, works: Work[]) => Promise<unknown>;

export function entry(into: Enqueue) {
  return mutation({
    args: {
      queues: v.array(v.number()),
      kind: v.union(v.literal("act"), v.literal("book")),
      works: v.array(vWork),
    },
    handler: async (ctx, { queues, kind, works }) => {
      const each = works.length / queues.length;
      for (const [i, queue] of queues.entries())
        await into(ctx, queue, kind, works.slice(i * each, (i + 1) * each));
      console.log(`enqueued ${works[0]?.n}..${works.at(-1)?.n}`);
      return null;
    },
  });
}
