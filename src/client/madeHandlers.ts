/**
 * Handlers that a queue makes: `queue.action`, `.mutation`, `.query`, `.completed`. Each is an internal function of the app
 * that takes `{ payload, job }`, as its lane calls it, and turns that into the one `job` that the app's code is given.
 */
import {
  internalActionGeneric,
  internalMutationGeneric,
  internalQueryGeneric,
  type GenericActionCtx,
  type GenericMutationCtx,
} from "convex/server";
import {
  askedBy,
  errorText,
  LANE_RESULT,
  NonRetryableError,
  Snoozed,
  traceAttempt,
  type Continuation,
  type TracedAttempt,
  type Tracer,
} from "../shared/index.js";
import { inTransaction } from "../lane/index.js";
import type { ComponentApi } from "./componentApi.js";
import { follow } from "./finished.js";
import { beginHandling, continuesInto, withProgress } from "./jobContext.js";
import type { HandledJob } from "./jobTypes.js";
import { callComponent, isOfMount } from "./mounted.js";
import type { AnyQueue, ValueValidator } from "./types.js";

/** Builders of the app's internal functions: Convex's own, or the app's, which add something to each. */
export interface Builders {
  internalAction?: (definition: any) => any;
  internalMutation?: (definition: any) => any;
  internalQuery?: (definition: any) => any;
}

/** The parts of a queue that its makers need. */
export interface Making {
  name: string;
  component: ComponentApi;
  builders: Builders;
  args: { payload: ValueValidator; job: ValueValidator };
  progress: ValueValidator;
  tracer: Tracer | undefined;
}

/** The arguments with which a lane calls a handler. */
export type Handled<Name extends string = string, Payload = any> = {
  payload: Payload;
  job: HandledJob<Name>;
};

type Handles<Ctx> = (ctx: Ctx, job: any) => unknown;

export function madeAction(queue: Making, handler: Handles<GenericActionCtx<any>>): any {
  const { internalAction = internalActionGeneric } = queue.builders;
  return internalAction({
    args: queue.args,
    handler: async (ctx: GenericActionCtx<any>, { payload, job }: Handled) => {
      mustBeOwn(queue, job);
      const { attempt, context, flush } = beginHandling(queue.component, ctx, job);
      const known = new Map<string, AnyQueue>();
      const parts = withProgress(queue, continuesInto(known, context, queue.component));
      const result = await traced(queue, job, async (told, span) => {
        if (span !== undefined) attempt.traced = span;
        try {
          return (await handler(ctx, Object.assign(parts, told, { payload }))) ?? null;
        } finally {
          await flush();
        }
      });
      const { continued } = attempt;
      if (continued.length === 0) return result;
      const follows = await follow(known, { ...outcomeOf(job), continued });
      if ("error" in follows) throw new Error(follows.error);
      return { [LANE_RESULT]: result, ...follows };
    },
  });
}

export function madeMutation(queue: Making, handler: Handles<GenericMutationCtx<any>>): any {
  const { internalMutation = internalMutationGeneric } = queue.builders;
  return internalMutation({
    args: queue.args,
    handler: async (ctx: GenericMutationCtx<any>, { payload, job }: Handled) => {
      mustBeOwn(queue, job);
      const { actions, continued, write } = inTransaction(job);
      // One for each job that follows: a queue of another mount may have the same name.
      const into: AnyQueue[] = [];
      const said = continuesInto({ set: (_name, next) => into.push(next) }, actions);
      let traceparent: string | undefined;
      const result = await traced(queue, job, async (told) => {
        ({ traceparent } = told);
        return (await handler(ctx, { ...said, ...told, payload })) ?? null;
      });
      const { lib } = queue.component;
      await write(async (report) => {
        return (await callComponent(() => ctx.runMutation(lib.laneReport, report))).answers;
      });
      const [own, known]: [Continuation[], Map<string, AnyQueue>] = [[], new Map()];
      for (const [i, { queue: name, payload, options }] of continued.entries()) {
        const next = into[i]!;
        const traced = { ...(traceparent === undefined ? {} : { traceparent }), ...options };
        if (isOfMount(queue.component, next)) {
          known.set(name, next);
          own.push({ queue: name, payload, options: traced });
        } else await next.enqueue(ctx, payload, traced);
      }
      if (own.length === 0) return result;
      // By its lane, behind the end of this job, whose key one of them may take.
      const follows = await follow(known, { ...outcomeOf(job), continued: own });
      if ("error" in follows) throw new Error(follows.error);
      return { [LANE_RESULT]: result, ...follows };
    },
  });
}

export function madeQuery(queue: Making, handler: Handles<any>): any {
  const { internalQuery = internalQueryGeneric } = queue.builders;
  return internalQuery({
    args: queue.args,
    handler: async (ctx: unknown, { payload, job }: Handled) => {
      mustBeOwn(queue, job);
      const snooze = (ms: number) => {
        throw new Snoozed(ms);
      };
      return await traced(queue, job, async (told) => {
        return (await handler(ctx, { ...told, payload, snooze })) ?? null;
      });
    },
  });
}

export function madeCompleted(
  { builders }: Pick<Making, "builders">,
  args: unknown,
  handler: (ctx: GenericMutationCtx<any>, told: any) => unknown,
): any {
  const { internalMutation = internalMutationGeneric } = builders;
  return internalMutation({
    args,
    handler: async (ctx: GenericMutationCtx<any>, told: unknown) => {
      await handler(ctx, told);
      return null;
    },
  });
}

/** Runs a handler in the span of its attempt, of which it is told the `traceparent`. */
async function traced<T>(
  { tracer }: Pick<Making, "tracer">,
  job: HandledJob,
  run: (job: HandledJob, span?: TracedAttempt) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return await run(job);
  return await traceAttempt(tracer, job, undefined, async (span) => {
    const { traceparent = job.traceparent } = span;
    try {
      const told = traceparent === undefined ? job : { ...job, traceparent };
      const result = await run(told, span);
      span.ended({ kind: "succeeded" });
      return result;
    } catch (error) {
      const kind = askedBy(error).snoozeMs === undefined ? "failed" : "snoozed";
      span.ended({ kind, error: errorText(error) }, error);
      throw error;
    }
  });
}

/** A handler that another queue names would check results and continue jobs by the wrong validators. */
export function mustBeOwn({ name }: Pick<Making, "name">, { queue }: { queue: string }): void {
  if (queue === name) return;
  throw new NonRetryableError(
    `handlerMismatch: a job of the queue "${queue}" was given to a handler that the queue "${name}" made. ` +
      `Name the function that \`${queue}.action(…)\` (or .mutation, .query, .inline) made in the definition of "${queue}".`,
  );
}

function outcomeOf({ id, attempt }: HandledJob) {
  return { id, attempt, outcome: { kind: "succeeded" as const } };
}
