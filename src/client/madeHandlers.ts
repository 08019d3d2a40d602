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
import { LANE_RESULT, NonRetryableError, Snoozed } from "../shared/index.js";
import { inTransaction } from "../lane/index.js";
import type { ComponentApi } from "./componentApi.js";
import { follow } from "./finished.js";
import { beginHandling, continuesInto, withProgress } from "./jobContext.js";
import type { HandledJob } from "./jobTypes.js";
import { callComponent } from "./mounted.js";
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
}

interface Told {
  payload: any;
  job: HandledJob;
}

type Handles<Ctx> = (ctx: Ctx, job: any) => unknown;

export function madeAction(queue: Making, handler: Handles<GenericActionCtx<any>>): any {
  const { internalAction = internalActionGeneric } = queue.builders;
  return internalAction({
    args: queue.args,
    handler: async (ctx: GenericActionCtx<any>, { payload, job }: Told) => {
      mustBeOwn(queue, job);
      const { attempt, context, flush } = beginHandling(queue.component, ctx, job);
      const known = new Map<string, AnyQueue>();
      const said = withProgress(queue, continuesInto(known, context));
      let result: unknown;
      try {
        result = (await handler(ctx, Object.assign(said, job, { payload }))) ?? null;
      } finally {
        await flush();
      }
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
    handler: async (ctx: GenericMutationCtx<any>, { payload, job }: Told) => {
      mustBeOwn(queue, job);
      const { actions, continued, write } = inTransaction(job);
      const known = new Map<string, AnyQueue>();
      const said = continuesInto(known, actions);
      const result = (await handler(ctx, { ...said, ...job, payload })) ?? null;
      const { lib } = queue.component;
      await write(async (report) => {
        return (await callComponent(() => ctx.runMutation(lib.laneReport, report))).answers;
      });
      for (const { queue: name, payload, options } of continued) {
        await known.get(name)!.enqueue(ctx, payload, options);
      }
      return result;
    },
  });
}

export function madeQuery(queue: Making, handler: Handles<any>): any {
  const { internalQuery = internalQueryGeneric } = queue.builders;
  return internalQuery({
    args: queue.args,
    handler: async (ctx: unknown, { payload, job }: Told) => {
      mustBeOwn(queue, job);
      const snooze = (ms: number) => {
        throw new Snoozed(ms);
      };
      return (await handler(ctx, { ...job, payload, snooze })) ?? null;
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
