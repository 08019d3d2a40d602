/**
 * Public functions for pages: functions that change jobs, and functions that read them. Each finds the queue, asks the
 * app's `authorize`, and only then acts. The queue of a job stands in its row: an id from the internet may name a job
 * of any queue, and one that these functions do not serve is none.
 *
 * Arguments are declared as `v.any()` where a payload goes: the queue's own check answers with a code and a path,
 * where the platform's would answer with a sentence.
 */
import { mutationGeneric } from "convex/server";
import { v } from "convex/values";
import { conveyorError, type JobId } from "../shared/index.js";
import { findQueue, type Api } from "./apiQueues.js";
import { readFunctions } from "./apiReads.js";
import type { EnqueueRule } from "./apiTypes.js";
import type { ComponentApi } from "./componentApi.js";
import { mustAllow } from "./leave.js";
import { callComponent } from "./mounted.js";
import type { EnqueueOptions } from "./enqueueTypes.js";
import { servedQueues } from "./served.js";
import type { AnyQueue, RunsQueries } from "./types.js";
import { checkPayload } from "./validate.js";

interface Given {
  queues: readonly AnyQueue[];
  /** Options that untyped code may have left out, or misspelt. */
  authorize: unknown;
  enqueue?: { readonly [queue: string]: EnqueueRule<any, any, any> | undefined } | undefined;
}

/** Builds the functions of {@link Conveyor.api}. */
export function apiFunctions(component: ComponentApi, given: Given) {
  const { authorize, enqueue = {} } = given;
  const served = servedQueues(component, "The `queues` of `conveyor.api`", given.queues);
  for (const name of Object.keys(enqueue)) findQueue(served, name);
  const ask: Api["ask"] = async (ctx, call) => {
    if (authorize !== "public")
      await mustAllow(authorize, [ctx, call], `the queue "${call.queue}"`);
  };
  const api: Api = { component, served, ask };
  return { enqueue: enqueueFunction(api, enqueue), ...readFunctions(api), ...changeFunctions(api) };
}

/** The same of one queue. */
export function queueFunctions(
  component: ComponentApi,
  queue: AnyQueue,
  { authorize, enqueue }: { authorize: unknown; enqueue?: EnqueueRule<any, any, any> },
) {
  const rules = enqueue === undefined ? {} : { enqueue: { [queue.name]: enqueue } };
  return apiFunctions(component, { queues: [queue], authorize, ...rules });
}

/** The app's code decides into which queues pages may enqueue, and with which options. */
function enqueueFunction({ served, ask }: Api, rules: NonNullable<Given["enqueue"]>) {
  return mutationGeneric({
    args: {
      queue: v.string(),
      payload: v.optional(v.any()),
      payloads: v.optional(v.array(v.any())),
    },
    handler: async (ctx, args) => {
      const { payload = {}, payloads } = args;
      const queue = findQueue(served, args.queue);
      const rule = Object.hasOwn(rules, queue.name) ? rules[queue.name] : undefined;
      if (rule !== true && typeof rule !== "function") throw mayNotEnqueue(queue.name);
      if (payloads !== undefined && "payload" in args) throw twoForms();
      const given: unknown[] = payloads ?? [payload];
      for (const [index, one] of given.entries()) {
        const root = payloads === undefined ? "payload" : `payloads[${index}]`;
        checkPayload(queue.name, queue.payload, one, root, ctx.db);
      }
      await ask(ctx, { kind: "enqueue", queue: queue.name, payloads: given });
      const chosen: EnqueueOptions[] = [];
      for (const one of given) chosen.push(rule === true ? {} : ((await rule(ctx, one)) ?? {}));
      if (payloads === undefined) return await queue.enqueue(ctx, payload, chosen[0]);
      return await queue.enqueueBatch(ctx, payloads, (_payload, index) => chosen[index]);
    },
  });
}

function mayNotEnqueue(queue: string): Error {
  return conveyorError(
    "forbidden",
    `Pages may not enqueue into the queue "${queue}". Allow it where the functions are built, as in ` +
      `\`enqueue: { ${queue}: true }\` of \`conveyor.api\`, or enqueue in a mutation of the app.`,
    { ask: "enqueue", kind: "enqueue", queue },
  );
}

function twoForms(): Error {
  return conveyorError(
    "invalidArgument",
    "`enqueue` takes one `payload` or many `payloads`; got both. Send one of them.",
    { argument: "payloads" },
  );
}

/** Functions that change an existing job. */
function changeFunctions(api: Api) {
  return {
    cancel: mutationGeneric({
      args: { id: v.string() },
      handler: async (ctx, { id }) => {
        const queue = await queueOf(api, ctx, id);
        await api.ask(ctx, { kind: "cancel", queue: queue.name, id: id as JobId });
        return await queue.cancel(ctx, id);
      },
    }),

    retry: mutationGeneric({
      args: { id: v.string() },
      handler: async (ctx, { id }) => {
        const queue = await queueOf(api, ctx, id);
        await api.ask(ctx, { kind: "retry", queue: queue.name, id: id as JobId });
        return await queue.retry(ctx, id);
      },
    }),
  };
}

/** The queue in the job's row, before anything is done to the job. */
async function queueOf({ component, served }: Api, ctx: RunsQueries, id: string) {
  const name = await callComponent(() => ctx.runQuery(component.lib.queueOf, { id }));
  const queue = name === null ? undefined : served.get(name);
  if (queue !== undefined) return queue;
  const cut = id.slice(0, 100);
  throw conveyorError(
    "unknownJob",
    `No job of these queues has the id ${JSON.stringify(cut)}. Pass the id that enqueue returned, on the same deployment.`,
    { id: cut },
  );
}
