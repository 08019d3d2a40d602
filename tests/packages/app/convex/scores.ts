/** Aggregates over a table: one over everything, one with a namespace for each game. */
import { TableAggregate } from "@convex-dev/aggregate";
import { v } from "convex/values";
import { components } from "./_generated/api.js";
import type { DataModel } from "./_generated/dataModel.js";
import { mutation, query } from "./_generated/server.js";

const all = new TableAggregate<{ Key: number; DataModel: DataModel; TableName: "scores" }>(
  components.aggregate,
  { sortKey: (doc) => doc.points, sumValue: (doc) => doc.points },
);
const byGame = new TableAggregate<{
  Namespace: string;
  Key: number;
  DataModel: DataModel;
  TableName: "scores";
}>(components.aggregateByGame, { namespace: (doc) => doc.game, sortKey: (doc) => doc.points });

export const add = mutation({
  args: {
    scores: v.array(v.object({ game: v.string(), player: v.string(), points: v.number() })),
  },
  handler: async (ctx, { scores }) => {
    const ids = [];
    for (const score of scores) {
      const id = await ctx.db.insert("scores", score);
      const doc = (await ctx.db.get("scores", id))!;
      await all.insert(ctx, doc);
      await byGame.insert(ctx, doc);
      ids.push(id);
    }
    return ids;
  },
});

export const change = mutation({
  args: { id: v.id("scores"), points: v.number() },
  handler: async (ctx, { id, points }) => {
    const before = (await ctx.db.get("scores", id))!;
    await ctx.db.patch("scores", id, { points });
    const after = (await ctx.db.get("scores", id))!;
    await all.replace(ctx, before, after);
    await byGame.replace(ctx, before, after);
  },
});

export const remove = mutation({
  args: { id: v.id("scores") },
  handler: async (ctx, { id }) => {
    const doc = (await ctx.db.get("scores", id))!;
    await ctx.db.delete("scores", id);
    await all.delete(ctx, doc);
    await byGame.delete(ctx, doc);
  },
});

export const summary = query({
  args: { atLeast: v.number(), game: v.string() },
  handler: async (ctx, { atLeast, game }) => ({
    count: await all.count(ctx),
    sum: await all.sum(ctx),
    high: await all.count(ctx, { bounds: { lower: { key: atLeast, inclusive: true } } }),
    third: (await all.at(ctx, 2)).key,
    best: (await byGame.max(ctx, { namespace: game }))?.key ?? null,
    inGame: await byGame.count(ctx, { namespace: game }),
  }),
});
