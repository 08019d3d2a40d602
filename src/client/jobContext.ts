/** Log, progress, output and questions of a handler inside Convex, by the same code as a worker's. */
import { claimedOf, Handling, type Attempt, type Says } from "../lane/index.js";
import { conveyorError, type ContinueOptions } from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import type { HandledJob, RunsActions, ToldJob } from "./jobTypes.js";
import { callComponent, checkMount } from "./mounted.js";
import type { AnyQueue, ValueValidator } from "./types.js";
import { checkProgress } from "./validate.js";

export function saysOf({ lib }: ComponentApi, ctx: RunsActions): Says {
  return {
    report: async (report) =>
      (await callComponent(() => ctx.runMutation(lib.laneReport, report))).answers,
    standing: async (leases) =>
      await callComponent(() => ctx.runQuery(lib.laneStanding, { leases })),
  };
}

/** For a job with an action of its own as handler. */
export function beginHandling(component: ComponentApi, ctx: RunsActions, job: HandledJob) {
  const handling = new Handling(saysOf(component, ctx));
  const attempt: Attempt = handling.begin(claimedOf(job))!;
  const context = handling.actionsOf(attempt);
  return { attempt, context, flush: async () => await handling.flush(attempt) };
}

/** The job of a function that is declared by hand: see `Queue.job`. */
export function toldJob<Name extends string>(
  component: ComponentApi,
  ctx: RunsActions,
  job: HandledJob<Name>,
): ToldJob<Name> {
  const { context, flush } = beginHandling(component, ctx, job);
  // Jobs that follow come with a result, and this function's goes to the lane by itself.
  Reflect.deleteProperty(context, "continueWith");
  return Object.assign(context, job, { flush });
}

interface ContinuesByName {
  continueWith: (queue: string, payload: any, options?: ContinueOptions) => void;
}

/**
 * Takes the queue itself in place of its name, and remembers it: its validators check the job at the end. `lanes`: where the
 * lane records both jobs, the mount that it is of.
 */
export function continuesInto<Context extends ContinuesByName>(
  known: { set: (name: string, queue: AnyQueue) => unknown },
  context: Context,
  lanes?: ComponentApi,
): Omit<Context, "continueWith"> {
  const { continueWith } = context;
  return Object.assign(context, {
    continueWith: (queue: AnyQueue, payload: unknown, options?: ContinueOptions) => {
      mustBeQueue(queue);
      if (lanes !== undefined) checkMount(lanes, queue, "Call its `enqueue` instead.");
      continueWith(queue.name, payload, options);
      known.set(queue.name, queue);
    },
  });
}

/** A name is enough for a worker outside, which has no queue to give. */
function mustBeQueue(queue: unknown): asserts queue is AnyQueue {
  if (typeof (queue as Partial<AnyQueue> | null)?.newJob === "function") return;
  const got = typeof queue === "string" ? JSON.stringify(queue.slice(0, NAME_SHOWN)) : typeof queue;
  throw conveyorError(
    "invalidArgument",
    `Inside Convex \`continueWith\` takes a queue, as in job.continueWith(thumbnails, payload); got ${got}. ` +
      "Import the queue from the module that defines it.",
    { argument: "queue", got },
  );
}
const NAME_SHOWN = 100;

interface Shows {
  progress: (value: unknown) => void;
}

/** Checks progress values by the queue's own validator. */
export function withProgress<Context extends object>(
  { name, progress }: { name: string; progress: ValueValidator },
  context: Context,
): Context {
  const { progress: show } = context as unknown as Shows;
  return Object.assign(context, {
    progress: (value: unknown) => {
      checkProgress(name, progress, value);
      show(value);
    },
  });
}
