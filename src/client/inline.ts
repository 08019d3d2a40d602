/**
 * Inline handlers: the action in which lanes run, and every job in them. It speaks to the component as a lane does; results
 * and jobs that follow are checked as a worker's are.
 */
import { internalActionGeneric, type GenericActionCtx, type RegisteredAction } from "convex/server";
import { v } from "convex/values";
import {
  finishedOf,
  HandledBatches,
  Handling,
  runByHandle,
  runProcess,
  type Report,
} from "../lane/index.js";
import {
  askedBy,
  INLINE_OPEN_MS,
  vProcessStart,
  type ClaimedJob,
  type ProcessStart,
  errorText,
  type Outcome,
  logLine,
  stackOf,
} from "../shared/index.js";
import type { BatchJob, Job } from "../worker/types.js";
import { checkFinished, logRefused } from "./finished.js";
import { continuesInto, saysOf, withProgress } from "./jobContext.js";
import type { Making } from "./madeHandlers.js";
import type { AnyQueue } from "./types.js";

/** An action in which lanes run. It remembers its queues' handlers, so that several of them can be made one. */
export type InlineAction = RegisteredAction<"internal", { start: ProcessStart }, Promise<null>> & {
  /** @internal */
  readonly parts?: readonly InlinePart[];
};

/** The action in which lanes of these queues run, and every job in it. */
export function inlineAction(
  { component, builders, tracer }: Pick<Making, "component" | "builders" | "tracer">,
  parts: readonly InlinePart[],
): InlineAction {
  const { internalAction = internalActionGeneric } = builders;
  const byQueue = new Map(parts.map((part) => [part.queue.name, part]));
  const served = byName(parts.map(({ queue }) => queue));
  /** Queues into which handlers of this process have put jobs that follow. */
  const continues = new Map<string, AnyQueue>();
  const rules = { served, continues };
  const { lib } = component;
  const action = internalAction({
    args: { start: vProcessStart },
    returns: v.null(),
    handler: async (ctx: GenericActionCtx<any>, { start }: { start: ProcessStart }) => {
      const handling = new Handling(saysOf(component, ctx), undefined, tracer);
      const batches = new HandledBatches(handling, {
        batching: (queue) => byQueue.get(queue)!.queue.batching!,
        run: (queue, jobs) => runBatch({ ctx, part: byQueue.get(queue)!, continues }, jobs),
      });
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
            if (one.handler?.kind !== "inline") return await runByHandle(ctx, one);
            const part = byQueue.get(one.job.queue);
            if (part === undefined) return { outcome: notMade(parts, one.job) };
            if (part.queue.batching !== undefined) return await batches.run(one);
            return await handling.run(
              (job) => runInline({ ctx, part, continues }, one.job, job),
              one,
            );
          },
          look: (args) => ctx.runQuery(lib.processLook, args),
          ask: (args) => ctx.runMutation(lib.processAsk, args),
          close: (args) => ctx.runMutation(lib.processClose, args),
          tend: () => ctx.runMutation(lib.tend, { queues: [] }),
          rouse: (from) => ctx.runMutation(lib.processRouse, { from }),
        },
        start,
        { isInline: true },
      );
      return null;
    },
  });
  return Object.assign(action, { parts }) as InlineAction;
}

/** One queue's inline handler. */
export interface InlinePart {
  readonly queue: AnyQueue;
  /** Of a queue with `batch`: of several jobs. */
  readonly handler: (ctx: GenericActionCtx<any>, job: any) => unknown;
}

interface Running {
  ctx: GenericActionCtx<any>;
  part: InlinePart;
  continues: Map<string, AnyQueue>;
}

async function runInline(
  { ctx, part, continues }: Running,
  claimed: ClaimedJob,
  job: Job,
): Promise<unknown> {
  // On the job itself: a copy of it would take its signal.
  const given = withProgress(part.queue, continuesInto(continues, job, part.queue.component));
  try {
    return await part.handler(ctx, given);
  } catch (error) {
    sayWhere(claimed, error);
    throw error;
  }
}

async function runBatch(
  { ctx, part, continues }: Running,
  jobs: readonly BatchJob[],
): Promise<unknown> {
  const given = jobs.map((job) =>
    withProgress(part.queue, continuesInto(continues, job, part.queue.component)),
  );
  try {
    return await part.handler(ctx, given);
  } catch (error) {
    // One line for all: each job keeps the error.
    sayWhere(jobs[0]!, error);
    throw error;
  }
}

/**
 * The queue names an inline action in which it has no handler: a slip, or a deploy has just taken its part away. It is seen as
 * a handler that is missing, and a worker outside may do the job meanwhile.
 */
function notMade(parts: readonly InlinePart[], { queue }: ClaimedJob): Outcome {
  const others = parts.map((part) => `"${part.queue.name}"`).join(", ");
  const error =
    `handlerMismatch: a job of the queue "${queue}" was given to an inline action of ${others}. ` +
    `Name the action that \`${queue}.inline(…)\` made in the definition of "${queue}".`;
  return { kind: "snoozed", runAfter: INLINE_OPEN_MS, blocked: "handlerMissing", error };
}

/** A process runs lanes of other queues too. Their handlers are called by reference, and the component checks their results. */
async function checkOwn(
  rules: Parameters<typeof checkFinished>[0],
  finished: readonly Report[],
): ReturnType<typeof checkFinished> {
  const isOwn = ({ queue }: Report) => queue !== undefined && rules.served.has(queue);
  const reported = finished.filter(isOwn);
  const own = await checkFinished(rules, reported);
  // A deploy may have made the handler an action, while this process runs: that has made the jobs that follow.
  const checked = own.checked.map((one, i) =>
    one.outcome.kind === "succeeded" ? { ...finishedOf(reported[i]!), ...one } : one,
  );
  const others = finished.filter((one) => !isOwn(one)).map(finishedOf);
  return { ...own, checked: [...checked, ...others] };
}

/** Its job keeps the error's message; only the lane's log has its place, since the lane itself goes on. */
function sayWhere(
  { queue, id, name, attempt }: Pick<ClaimedJob, "queue" | "id" | "name" | "attempt">,
  error: unknown,
): void {
  if (askedBy(error).snoozeMs !== undefined) return;
  const failure = { error: errorText(error), stack: stackOf(error) };
  console.warn(logLine("warn", "handlerThrew", { queue, job: id, name, attempt, ...failure }));
}

function byName(queues: readonly AnyQueue[]): ReadonlyMap<string, AnyQueue> {
  return new Map(queues.map((queue) => [queue.name, queue]));
}
