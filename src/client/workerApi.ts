/**
 * Public functions for workers. They are open to the internet and guarded by a worker token, which the component
 * checks; here, queue names become declarations and results are validated, since only the app's code knows either.
 */
import { mutationGeneric, queryGeneric } from "convex/server";
import { v } from "convex/values";
import {
  conveyorError,
  vChunkUpdate,
  vLease,
  vLogUpdate,
  vProgressUpdate,
  type QueueDeclaration,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { checkFinished, vWorkerFinished, type Served } from "./finished.js";
import { callComponent } from "./mounted.js";
import type { AnyQueue, TypesOf, WorkerApiOptions, WorkerFunctions } from "./types.js";

const session = { token: v.string(), session: v.string() };
const claimRequest = {
  queues: v.array(v.string()),
  max: v.number(),
  cursor: v.optional(v.string()),
};

/** Builds what {@link Conveyor.workerApi} returns. */
export function workerFunctions<
  const Queues extends readonly AnyQueue[],
  const Continues extends readonly AnyQueue[] = [],
>(
  component: ComponentApi,
  options: WorkerApiOptions<Queues, Continues>,
): WorkerFunctions<TypesOf<Queues>, TypesOf<Continues>> {
  const served = byName("queues", options.queues);
  const continues = byName("continueWith", options.continueWith ?? []);

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
        finished: v.array(vWorkerFinished),
        claim: v.optional(v.object(claimRequest)),
        deferCallbacks: v.optional(v.boolean()),
      },
      handler: async (ctx, { claim, finished, ...args }) => {
        const { checked, refused } = await checkFinished({ served, continues }, finished);
        const declarations = claim === undefined ? [] : await declare(served, claim.queues);
        const reply = await callComponent(() =>
          ctx.runMutation(component.lib.complete, {
            ...args,
            finished: checked,
            ...(claim === undefined ? {} : { claim: { ...claim, queues: declarations } }),
          }),
        );
        return { ...reply, ...(refused.length === 0 ? {} : { refused }) } as never;
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

function byName(list: string, queues: readonly AnyQueue[]): Served {
  const served = new Map<string, AnyQueue>();
  for (const queue of queues) {
    if (served.has(queue.name)) {
      throw conveyorError(
        "invalidArgument",
        `The ${list} of workerApi name "${queue.name}" twice.`,
        {
          queue: queue.name,
        },
      );
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
