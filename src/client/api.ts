/**
 * Public functions of one queue for browsers. Each validates, asks the app's `authorize`, and only then acts. An id from
 * the internet may name a job of another queue, about which this queue's `authorize` has no say: the queue's own
 * methods treat it as one that names nothing.
 *
 * Arguments are declared as `v.any()` where a payload goes: the queue's own check answers with a code and a path,
 * where the platform's would answer with a sentence.
 */
import { mutationGeneric, type GenericDataModel } from "convex/server";
import { v } from "convex/values";
import type { JobId } from "../shared/index.js";
import { mustAllow } from "./leave.js";
import type { EnqueueOptions } from "./enqueueTypes.js";
import { observeFunctions } from "./observeApi.js";
import type { Queue } from "./queue.js";
import type { ApiOptions, QueueFunctions, ValueValidator } from "./types.js";
import { checkPayload } from "./validate.js";
import { watchFunctions, type Authorize } from "./watchApi.js";

/** Builds what {@link Queue.api} returns. */
export function queueFunctions<
  Name extends string,
  VPayload extends ValueValidator,
  VResult extends ValueValidator,
  DataModel extends GenericDataModel,
  Options extends EnqueueOptions,
>(
  queue: Queue<Name, VPayload, VResult, DataModel, any, any>,
  options: ApiOptions<DataModel, VPayload["type"], Name, Options>,
): QueueFunctions<Name, VPayload["type"], VResult["type"]> {
  const { authorize: given } = options;
  const authorize: Authorize<VPayload["type"], Name> = async (ctx, call) => {
    if (given !== "public") await mustAllow(given, [ctx, call], `the queue "${queue.name}"`);
  };
  return {
    ...enqueueFunctions(queue, authorize, options.options ?? (() => undefined)),
    ...watchFunctions(queue, authorize),
    ...observeFunctions(queue, authorize),
    ...changeFunctions(queue, authorize),
  };
}

/** What brings jobs in. */
function enqueueFunctions<Name extends string, VPayload extends ValueValidator>(
  queue: Queue<Name, VPayload, any, any, any, any>,
  authorize: Authorize<VPayload["type"], Name>,
  optionsOf: NonNullable<ApiOptions<any, VPayload["type"], Name>["options"]>,
) {
  return {
    enqueue: mutationGeneric({
      args: { payload: v.any() },
      handler: async (ctx, { payload }) => {
        checkPayload(queue.name, queue.payload, payload, "payload", ctx.db);
        await authorize(ctx, { kind: "enqueue", payload });
        return await queue.enqueue(ctx, payload, (await optionsOf(ctx, payload)) ?? {});
      },
    }),

    enqueueBatch: mutationGeneric({
      args: { payloads: v.array(v.any()) },
      handler: async (ctx, { payloads }) => {
        for (const [index, payload] of payloads.entries()) {
          checkPayload(queue.name, queue.payload, payload, `payloads[${index}]`, ctx.db);
        }
        await authorize(ctx, { kind: "enqueueBatch", payloads });
        const chosen: (EnqueueOptions | undefined)[] = [];
        for (const payload of payloads) chosen.push(await optionsOf(ctx, payload));
        return await queue.enqueueBatch(ctx, payloads, (_payload, index) => chosen[index]);
      },
    }),
  };
}

/** What changes a job that is there. */
function changeFunctions<Name extends string>(
  queue: Queue<Name, any, any, any, any, any>,
  authorize: Authorize<any, Name>,
) {
  return {
    cancel: mutationGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) => {
        const id = args.id as JobId<Name>;
        await authorize(ctx, { kind: "cancel", id });
        return await queue.cancel(ctx, id);
      },
    }),

    retry: mutationGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) => {
        const id = args.id as JobId<Name>;
        await authorize(ctx, { kind: "retry", id });
        return await queue.retry(ctx, id);
      },
    }),
  };
}
