/** Public functions of one queue that pages subscribe to. Each asks the app's `authorize`, and only then reads. */
import { queryGeneric } from "convex/server";
import { v } from "convex/values";
import type { AttemptStatus, JobId } from "../shared/index.js";
import type { ApiCall, AuthorizeCtx, ValueValidator } from "./types.js";
import type { WatchedQueue } from "./watched.js";

export type Authorize<Payload, Name extends string> = (
  ctx: AuthorizeCtx<any>,
  call: ApiCall<Payload, Name>,
) => Promise<void>;

export function watchFunctions<Name extends string, VResult extends ValueValidator>(
  queue: WatchedQueue<Name, VResult>,
  authorize: Authorize<any, Name>,
) {
  return {
    status: queryGeneric({
      args: { id: v.string() },
      handler: async (ctx, args) => {
        const id = args.id as JobId<Name>;
        await authorize(ctx, { kind: "status", id });
        return await queue.status(ctx, id);
      },
    }),

    statusBatch: queryGeneric({
      args: { ids: v.array(v.string()) },
      handler: async (ctx, args) => {
        const ids = args.ids as JobId<Name>[];
        await authorize(ctx, { kind: "statusBatch", ids });
        return await queue.statusBatch(ctx, ids);
      },
    }),

    ...historyFunctions(queue, authorize),

    counts: queryGeneric({
      args: { limit: v.optional(v.number()) },
      handler: async (ctx, args) => {
        await authorize(ctx, { kind: "counts" });
        return await queue.counts(ctx, args);
      },
    }),
  };
}

/** What has happened to one job, page by page. */
function historyFunctions<Name extends string>(
  queue: WatchedQueue<Name, any>,
  authorize: Authorize<any, Name>,
) {
  return {
    attempts: queryGeneric({
      args: { id: v.string(), limit: v.optional(v.number()) },
      handler: async (ctx, { id: given, ...options }) => {
        const id = given as JobId<Name>;
        await authorize(ctx, { kind: "attempts", id });
        const attempts = await queue.attempts(ctx, id, options);
        return attempts?.map(withoutTrace) ?? null;
      },
    }),

    logs: queryGeneric({
      args: { id: v.string(), cursor: v.optional(v.string()), limit: v.optional(v.number()) },
      handler: async (ctx, { id: given, ...options }) => {
        const id = given as JobId<Name>;
        await authorize(ctx, { kind: "logs", id });
        return await queue.logs(ctx, id, options);
      },
    }),

    output: queryGeneric({
      args: {
        id: v.string(),
        cursor: v.optional(v.string()),
        attempt: v.optional(v.number()),
        fromIndex: v.optional(v.number()),
        limit: v.optional(v.number()),
      },
      handler: async (ctx, { id: given, ...options }) => {
        const id = given as JobId<Name>;
        await authorize(ctx, { kind: "output", id });
        return await queue.output(ctx, id, options);
      },
    }),
  };
}

/** A page is told what failed, and not where: as production Convex has it. */
function withoutTrace(attempt: AttemptStatus): AttemptStatus {
  if (!("trace" in attempt)) return attempt;
  const { trace: _, ...told } = attempt;
  return told;
}
