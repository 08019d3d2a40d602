/** The ways in, the same for each alternative: one job a mutation, after the caller's own work, or many in one. */
import { v } from "convex/values";
import { mutation, vWork, type Kind, type MutationCtx, type Work } from "./builders.js";
import { ownWork } from "./own.js";

interface Alternative {
  /** `isUrgent`: to go first, where there are priorities. */
  one(ctx: MutationCtx, kind: Kind, work: Work, isUrgent: boolean): Promise<unknown>;
  all(ctx: MutationCtx, kind: Kind, works: Work[]): Promise<unknown>;
}

export function entries(into: Alternative) {
  const one = (kind: Kind) =>
    mutation({
      args: { ...vWork.fields, reads: v.number(), isUrgent: v.boolean() },
      handler: async (ctx, { reads, isUrgent, ...work }) => {
        await ownWork(ctx, reads);
        await into.one(ctx, kind, work, isUrgent);
        console.log(`enqueued ${work.n}`);
        return null;
      },
    });
  const all = (kind: Kind) =>
    mutation({
      args: { works: v.array(vWork) },
      handler: async (ctx, { works }) => {
        await into.all(ctx, kind, works);
        console.log(`enqueued ${works[0]?.n}..${works.at(-1)?.n}`);
        return null;
      },
    });
  return { act: one("act"), book: one("book"), actAll: all("act"), bookAll: all("book") };
}
