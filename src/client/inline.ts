/**
 * Handlers inside Convex that take their job: an inline handler's action, in which the lane itself runs, and what a handler
 * with a function of its own may say of its job. Both speak to the component as a lane does; results and jobs that follow
 * are checked as a worker's are.
 */
import { internalActionGeneric, type GenericActionCtx, type RegisteredAction } from "convex/server";
import { v } from "convex/values";
import { claimedOf, Handling, runByHandle, runProcess, type Says } from "../lane/index.js";
import {
  askedBy,
  vProcessStart,
  type ClaimedJob,
  type ProcessStart,
  errorText,
  logLine,
  stackOf,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { checkFinished, logRefused, type WorkerFinished } from "./finished.js";
import type { HandledJob, InlinePart, JobContext, RunsActions } from "./handledTypes.js";
import { callComponent } from "./mounted.js";
import type { AnyQueue } from "./types.js";

/** The action in which lanes of these queues run, and every job in it. */
export function inlineAction(
  component: ComponentApi,
  parts: readonly InlinePart[],
): RegisteredAction<"internal", { start: ProcessStart }, Promise<null>> {
  const byQueue = new Map(parts.map((part) => [part.queue.name, part]));
  const served = byName(parts.map(({ queue }) => queue));
  const rules = { served, continues: byName(parts.flatMap(({ continues }) => continues)) };
  const { lib } = component;
  return internalActionGeneric({
    args: { start: vProcessStart },
    returns: v.null(),
    handler: async (ctx, { start }) => {
      const handling = new Handling(saysOf(component, ctx));
      await runProcess(
        {
          step: async (args) => {
            const { checked, refused } = await checkOwn(rules, args.finished);
            const reply = await ctx.runMutation(lib.laneStep, { ...args, finished: checked });
            logRefused(refused, reply.answers);
            return reply;
          },
          apart: async ({ finished, ...args }) => {
            if (finished === undefined) return await ctx.runMutation(lib.laneApart, args);
            const { checked, refused } = await checkOwn(rules, [finished]);
            const answer = await ctx.runMutation(lib.laneApart, { ...args, finished: checked[0]! });
            logRefused(refused, [answer]);
            return answer;
          },
          run: async (one) => {
            const part = byQueue.get(one.job.queue);
            if (one.handler?.kind !== "inline" || part === undefined)
              return { outcome: await runByHandle(ctx, one) };
            return await handling.run((job) => runInline(ctx, part, one.job, job), one);
          },
          look: (args) => ctx.runQuery(lib.processLook, args),
          ask: (args) => ctx.runMutation(lib.processAsk, args),
          close: (args) => ctx.runMutation(lib.processClose, args),
          rouse: (from) => ctx.runMutation(lib.processRouse, { from }),
        },
        start,
        { isInline: true },
      );
      return null;
    },
  });
}

async function runInline(
  ctx: GenericActionCtx<any>,
  { handler }: InlinePart,
  claimed: ClaimedJob,
  job: Parameters<InlinePart["handler"]>[1],
): Promise<unknown> {
  try {
    return await handler(ctx, job);
  } catch (error) {
    sayWhere(claimed, error);
    throw error;
  }
}

/** What a handler with a function of its own may say and ask. */
export function jobContext<Name extends string>(
  component: ComponentApi,
  ctx: RunsActions,
  job: HandledJob<Name>,
): JobContext<Name> {
  const handling = new Handling(saysOf(component, ctx));
  const attempt = handling.begin(claimedOf(job))!;
  const actions = handling.actionsOf(attempt);
  // Jobs that follow come with a result, and this handler's goes to the lane by itself.
  Reflect.deleteProperty(actions, "continueWith");
  return Object.assign(actions, job, { flush: async () => await handling.flush(attempt) });
}

function saysOf({ lib }: ComponentApi, ctx: RunsActions): Says {
  return {
    report: async (said) =>
      (await callComponent(() => ctx.runMutation(lib.laneReport, said))).answers,
    standing: async (leases) =>
      await callComponent(() => ctx.runQuery(lib.laneStanding, { leases })),
  };
}

/** A process runs lanes of other queues too. Their handlers are called by reference, and the component checks their results. */
async function checkOwn(
  rules: Parameters<typeof checkFinished>[0],
  finished: readonly WorkerFinished[],
): ReturnType<typeof checkFinished> {
  const isOwn = ({ queue }: WorkerFinished) => queue !== undefined && rules.served.has(queue);
  const own = await checkFinished(rules, finished.filter(isOwn));
  const others = finished
    .filter((one) => !isOwn(one))
    .map(({ id, attempt, outcome }) => ({ id, attempt, outcome }));
  return { ...own, checked: [...own.checked, ...others] };
}

/** Its job keeps what the error says; where it was thrown only the lane's log can tell, since the lane itself goes on. */
function sayWhere({ queue, id, attempt }: ClaimedJob, error: unknown): void {
  if (askedBy(error).snoozeMs !== undefined) return;
  const said = { error: errorText(error), stack: stackOf(error) };
  console.warn(logLine("warn", "handlerThrew", { queue, job: id, attempt, ...said }));
}

function byName(queues: readonly AnyQueue[]): ReadonlyMap<string, AnyQueue> {
  return new Map(queues.map((queue) => [queue.name, queue]));
}
