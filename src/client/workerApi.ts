/**
 * Public functions for workers. They are open to the internet and guarded by a worker token, which the component
 * checks; here, queue names become declarations and results are validated, since only the app's code knows either.
 */
import { mutationGeneric, queryGeneric } from "convex/server";
import { v } from "convex/values";
import {
  conveyorError,
  vChunkUpdate,
  vFinished,
  vLease,
  vLogUpdate,
  vProgressUpdate,
  type Finished,
  type QueueDeclaration,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { AnyQueue, TypesOf, WorkerFinished, WorkerFunctions } from "./types.js";
import { explainBadResult } from "./validate.js";

const session = { token: v.string(), session: v.string() };
const claimRequest = {
  queues: v.array(v.string()),
  max: v.number(),
  cursor: v.optional(v.string()),
};

/** Builds what {@link Conveyor.workerApi} returns. */
export function workerFunctions<const Queues extends readonly AnyQueue[]>(
  component: ComponentApi,
  queues: Queues,
): WorkerFunctions<TypesOf<Queues>> {
  const served = byName(queues);

  return {
    hasWork: queryGeneric({
      args: { token: v.string(), queues: v.array(v.string()) },
      handler: async (ctx, args) => {
        for (const name of args.queues) find(served, name);
        return await callComponent(() => ctx.runQuery(component.lib.hasWork, args));
      },
    }),

    cancellations: queryGeneric({
      args: session,
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runQuery(component.lib.cancellations, args)),
    }),

    claim: mutationGeneric({
      args: { ...session, name: v.string(), n: v.number(), ...claimRequest },
      handler: async (ctx, args) => {
        const declarations = await declare(served, args.queues);
        const reply = await callComponent(() =>
          ctx.runMutation(component.lib.claim, { ...args, queues: declarations }),
        );
        // Payloads were checked when they were enqueued, by the validators that the types come from.
        return reply as never;
      },
    }),

    complete: mutationGeneric({
      args: {
        ...session,
        n: v.number(),
        finished: v.array(v.object({ ...vFinished.fields, queue: v.optional(v.string()) })),
        claim: v.optional(v.object(claimRequest)),
        deferCallbacks: v.optional(v.boolean()),
      },
      handler: async (ctx, { claim, finished, ...args }) => {
        const checked = finished.map((one) => checkResult(served, one));
        const declarations = claim === undefined ? [] : await declare(served, claim.queues);
        const reply = await callComponent(() =>
          ctx.runMutation(component.lib.complete, {
            ...args,
            finished: checked,
            ...(claim === undefined ? {} : { claim: { ...claim, queues: declarations } }),
          }),
        );
        return reply as never;
      },
    }),

    heartbeat: mutationGeneric({
      args: { ...session, leases: v.array(vLease) },
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.lib.heartbeat, args)),
    }),

    report: mutationGeneric({
      args: {
        ...session,
        holder: v.optional(v.string()),
        updates: v.optional(v.array(vProgressUpdate)),
        logs: v.optional(v.array(vLogUpdate)),
        chunks: v.optional(v.array(vChunkUpdate)),
      },
      handler: async (ctx, args) =>
        await callComponent(() => ctx.runMutation(component.lib.report, args)),
    }),
  };
}

type Served = ReadonlyMap<string, AnyQueue>;

function byName(queues: readonly AnyQueue[]): Served {
  const served = new Map<string, AnyQueue>();
  for (const queue of queues) {
    if (served.has(queue.name)) {
      throw conveyorError("invalidArgument", `workerApi lists the queue "${queue.name}" twice.`, {
        queue: queue.name,
      });
    }
    served.set(queue.name, queue);
  }
  return served;
}

function find(served: Served, name: string): AnyQueue {
  const queue = served.get(name);
  if (queue !== undefined) return queue;
  throw conveyorError(
    "unknownQueue",
    `No queue "${name}" is served here; these are: ${[...served.keys()].join(", ") || "none"}. ` +
      "Add it to `conveyor.workerApi({ queues: […] })`, or take it from the worker's handlers.",
    { queue: name, served: [...served.keys()] },
  );
}

async function declare(served: Served, names: readonly string[]): Promise<QueueDeclaration[]> {
  return await Promise.all(names.map(async (name) => await find(served, name).declaration()));
}

/**
 * A result that does not fit its validator fails its job and no other. A queue that is not served any more (a deploy
 * has dropped it while the job ran) has no validator left: the outcome of work that is done is taken as it is.
 *
 * The worker is answered "ok", since its lease was good; so the reason also goes to the deployment's log.
 */
function checkResult(served: Served, { queue: name, ...finished }: WorkerFinished): Finished {
  if (finished.outcome.kind !== "succeeded") return finished;
  const result = finished.outcome.result ?? null;
  const errors = [...served.values()]
    .filter((queue) => name === undefined || queue.name === name)
    .map((queue) => explainBadResult(queue.name, queue.result, result));
  const [error] = errors;
  if (error === undefined || error === null || errors.includes(null)) return finished;
  console.warn(`[conveyor] job ${finished.id}: ${error}`);
  return { ...finished, outcome: { kind: "failed", error } };
}
