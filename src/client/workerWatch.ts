/**
 * The workers' one query: for a worker's subscriptions, questions and views. All calls go by one name, distinguished by
 * their kinds; each kind has arguments of its own, so that calls with the same share one cached answer.
 */
import { queryGeneric } from "convex/server";
import { v, type Infer } from "convex/values";
import {
  COMPONENT_VERSION,
  vConditions,
  WORKER_PROTOCOL,
  type TokenScope,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { callComponent } from "./mounted.js";
import type { RowClaims } from "./rowClaims.js";
import type { AuthorizeCtx, RunsQueries } from "./types.js";
import type { WantedJobs, WorkerCall } from "./workerTypes.js";

export const lookRequest = {
  queues: v.array(v.string()),
  cursor: v.optional(v.string()),
  ...vConditions.fields,
};

const looker = { ...lookRequest, worker: v.optional(v.string()) };

const vWatched = v.union(
  v.object({ kind: v.literal("hello"), queues: v.array(v.string()) }),
  v.object({ kind: v.literal("hasWork"), naming: v.optional(v.boolean()), ...looker }),
  v.object({ kind: v.literal("peek"), limit: v.optional(v.number()), ...looker }),
  v.object({ kind: v.literal("cancellations"), sessionKey: v.string() }),
  v.object({ kind: v.literal("isQuiet"), sessionKey: v.string() }),
  v.object({
    ...{ kind: v.literal("standby"), peers: v.string(), since: v.number() },
    worker: v.optional(v.string()),
  }),
);
type Watched = Infer<typeof vWatched>;

/** The dependencies of the functions of one `workerApi`. */
export interface Doorkeeper {
  served: { has: (name: string) => boolean };
  know: (ctx: RunsQueries, token: string) => Promise<TokenScope>;
  ask: (
    ctx: AuthorizeCtx<any> & RunsQueries,
    token: string | TokenScope,
    callOf: (token: TokenScope) => WorkerCall,
  ) => Promise<void>;
  findAll: (ctx: RunsQueries, of: { token: string; queues: readonly string[] }) => Promise<void>;
  scoping: () => Promise<{ groupsOf?: string }>;
  wanted: (token: TokenScope, of: { queues: string[]; groups?: string[] }) => WantedJobs;
  tables: RowClaims;
}

export function watchFunction({ lib }: ComponentApi, door: Doorkeeper) {
  const { served, know, ask, findAll, wanted, scoping, tables } = door;

  /**
   * The one answer that is the same for all workers of a token: the deployment's versions, and which of the token's
   * queues it does not serve.
   */
  async function greet(
    ctx: AuthorizeCtx<any> & RunsQueries,
    { token, queues }: { token: string; queues: string[] },
  ) {
    const known = await know(ctx, token);
    await findAll(ctx, { token, queues });
    await ask(ctx, known, (scope) => ({
      kind: "hello",
      token: scope,
      ...wanted(scope, { queues }),
    }));
    const notServed = (known.queues ?? []).filter((name) => !served.has(name));
    return {
      ...{ protocol: WORKER_PROTOCOL, version: COMPONENT_VERSION },
      ...(notServed.length === 0 ? {} : { notServed }),
    };
  }

  return queryGeneric({
    args: { token: v.string(), call: vWatched },
    handler: async (ctx, { token, call }: { token: string; call: Watched }): Promise<any> => {
      if (call.kind === "hello") return await greet(ctx, { token, queues: call.queues });
      if (call.kind === "cancellations" || call.kind === "isQuiet") {
        const { kind, sessionKey } = call;
        await ask(ctx, token, (scope) => ({ kind, token: scope, sessionKey }));
        return await callComponent(() => ctx.runQuery(lib[kind], { token, sessionKey }));
      }
      if (call.kind === "standby") {
        const { kind, ...place } = call;
        await ask(ctx, token, (scope) => ({ kind, token: scope }));
        return await callComponent(() => ctx.runQuery(lib.standby, { token, ...place }));
      }
      const { kind, ...look } = call;
      await findAll(ctx, { token, queues: look.queues });
      await ask(ctx, token, (scope) => ({ kind, token: scope, ...wanted(scope, look) }));
      const query = kind === "peek" ? lib.peek : lib.hasWork;
      const scope = await scoping();
      const answer = await callComponent(() => ctx.runQuery(query, { token, ...look, ...scope }));
      return kind === "peek"
        ? answer
        : await tables.hasRows(ctx, token, { ...look, ...scope }, answer as boolean);
    },
  });
}
