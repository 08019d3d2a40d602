/** The caller, as functions get it. */
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { action, internalQuery, mutation, query, type QueryCtx } from "./_generated/server.js";

const vWho = v.union(v.string(), v.null());

async function subject({ auth }: Pick<QueryCtx, "auth">): Promise<string | null> {
  return (await auth.getUserIdentity())?.subject ?? null;
}

export const identity = query({
  args: {},
  returns: v.any(),
  handler: (ctx) => ctx.auth.getUserIdentity(),
});

export const who = internalQuery({ args: {}, returns: vWho, handler: subject });

/** In the cache: with dice, which tell one execution from another. */
export const cachedWho = query({
  args: { salt: v.string() },
  returns: v.object({ who: vWho, dice: v.number() }),
  handler: async (ctx) => ({ who: await subject(ctx), dice: Math.random() }),
});

export const cachedForAll = query({
  args: { salt: v.string() },
  returns: v.number(),
  handler: async () => Math.random(),
});

/** The caller itself, a query of the app, one of the child. */
export const everywhere = action({
  args: {},
  returns: v.array(vWho),
  handler: async (ctx): Promise<(string | null)[]> => [
    await subject(ctx),
    await ctx.runQuery(internal.users.who, {}),
    await ctx.runQuery(components.child.lib.who, {}),
  ],
});

/** The same inside one transaction. */
export const throughout = mutation({
  args: {},
  returns: v.array(vWho),
  handler: async (ctx): Promise<(string | null)[]> => [
    await subject(ctx),
    await ctx.runQuery(internal.users.who, {}),
  ],
});
