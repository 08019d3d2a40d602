/** Workflows: steps one after the other and in parallel, a sleep, an event from outside, a step that is tried again. */
import { vWorkflowId, WorkflowManager } from "@convex-dev/workflow";
import { vResultValidator } from "@convex-dev/workpool";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import {
  internalAction,
  internalMutation,
  internalQuery,
  mutation,
  query,
} from "./_generated/server.js";
import { write } from "./lines.js";

const workflow = new WorkflowManager(components.workflow, {
  workpoolOptions: {
    defaultRetryBehavior: { maxAttempts: 3, initialBackoffMs: 50, base: 1.1 },
  },
});

export const greet = workflow
  .define({ args: { name: v.string() }, returns: v.string() })
  .handler(async (step, { name }): Promise<string> => {
    const asked = await step.runQuery(internal.flows.ask, { name });
    const [left, right] = await Promise.all([
      step.runAction(internal.flows.answer, { asked, side: "left" }),
      step.runAction(internal.flows.answer, { asked, side: "right" }, { retry: true }),
    ]);
    await step.sleep(200);
    const inline = await step.runMutation(
      internal.flows.note,
      { text: `${left} ${right}` },
      { inline: true },
    );
    const approved = await step.awaitEvent<boolean>({ name: "approved" });
    return `${inline}, approved: ${approved}`;
  });

export const ask = internalQuery({
  args: { name: v.string() },
  handler: async (_ctx, { name }): Promise<string> => `Who is ${name}?`,
});

export const answer = internalAction({
  args: { asked: v.string(), side: v.string() },
  handler: async (ctx, { asked, side }): Promise<string> => {
    const about = `flow ${side}`;
    const attempt: number = await ctx.runMutation(internal.pool.countAttempt, { about });
    if (side === "right" && attempt === 1) throw new Error("the right side needs a second try");
    return `${side}: ${asked}`;
  },
});

export const note = internalMutation({
  args: { text: v.string() },
  handler: async (ctx, { text }): Promise<string> => {
    await write(ctx, "flow", text);
    return `noted ${text}`;
  },
});

export const begin = mutation({
  args: { name: v.string() },
  handler: (ctx, args): Promise<string> =>
    workflow.start(ctx, internal.flows.greet, args, {
      onComplete: internal.flows.ended,
      context: { about: `flow of ${args.name}` },
    }),
});

export const ended = internalMutation({
  args: {
    workflowId: vWorkflowId,
    result: vResultValidator,
    context: v.object({ about: v.string() }),
  },
  handler: async (ctx, { result, context }) => {
    const text = result.kind === "success" ? (result.returnValue as string) : result.kind;
    await write(ctx, context.about, text);
  },
});

export const approve = mutation({
  args: { id: vWorkflowId },
  handler: (ctx, { id }) =>
    workflow.sendEvent(ctx, { workflowId: id, name: "approved", value: true }),
});

export const cancel = mutation({
  args: { id: vWorkflowId },
  handler: (ctx, { id }) => workflow.cancel(ctx, id),
});

export const status = query({
  args: { id: vWorkflowId },
  handler: async (ctx, { id }): Promise<string> => (await workflow.status(ctx, id)).type,
});
