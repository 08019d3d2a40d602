/** A pool beside a workflow, and inside a component that the app mounts. */
import { vWorkflowId, WorkflowManager, type WorkflowId } from "@convex-dev/workflow";
import { vOnCompleteArgs, Workpool } from "convex-conveyor/workpool";
import { createFunctionHandle } from "convex/server";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import { internalAction, internalMutation, mutation, query } from "./_generated/server.js";
import { write } from "./lines.js";

const pool = new Workpool(components.ours, { maxParallelism: 4 });
const workflow = new WorkflowManager(components.workflow);

// --- Beside a workflow --------------------------------------------------------------------------

/** Has the pool do something, and goes on when it is done. */
export const order = workflow
  .define({ args: { what: v.string() }, returns: v.string() })
  .handler(async (step, { what }): Promise<string> => {
    await step.runMutation(internal.together.place, { id: step.workflowId, what });
    return await step.awaitEvent<string>({ name: "made" });
  });

export const place = internalMutation({
  args: { id: vWorkflowId, what: v.string() },
  handler: async (ctx, { id, what }): Promise<void> => {
    await pool.enqueueAction(
      ctx,
      internal.together.make,
      { what },
      { onComplete: internal.together.made, context: id },
    );
  },
});

export const make = internalAction({
  args: { what: v.string() },
  handler: async (ctx, { what }): Promise<string> => {
    await ctx.runMutation(internal.lines.add, { about: "made", text: what });
    return `a ${what}`;
  },
});

export const made = internalMutation({
  args: vOnCompleteArgs(v.string()),
  handler: async (ctx, { context, result }) => {
    const value = result.kind === "success" ? (result.returnValue as string) : result.kind;
    await workflow.sendEvent(ctx, { workflowId: context as WorkflowId, name: "made", value });
  },
});

export const begin = mutation({
  args: { what: v.string() },
  handler: (ctx, args): Promise<string> =>
    workflow.start(ctx, internal.together.order, args, {
      onComplete: internal.flows.ended,
      context: { about: `order of ${args.what}` },
    }),
});

// --- Inside a component -------------------------------------------------------------------------

export const send = mutation({
  args: { to: v.string(), parcel: v.boolean(), fail: v.optional(v.boolean()) },
  handler: async (ctx, { fail = false, ...args }): Promise<string> => {
    const id = await ctx.runMutation(components.mailer.lib.send, args);
    if (fail) throw new Error("The app changed its mind.");
    return id;
  },
});

/** Its component runs a function of the app. */
export const sendOwn = mutation({
  args: { what: v.string() },
  handler: async (ctx, { what }): Promise<string> => {
    const handle = await createFunctionHandle(internal.together.make);
    await write(ctx, "made", `asked for ${what}`);
    return await ctx.runMutation(components.mailer.lib.runFor, { handle, args: { what } });
  },
});

export const mailed = query({
  args: { id: v.string() },
  handler: async (ctx, { id }): Promise<{ log: string[]; state: string[] }> => ({
    log: await ctx.runQuery(components.mailer.lib.log, {}),
    state: await ctx.runQuery(components.mailer.lib.state, { id }),
  }),
});
