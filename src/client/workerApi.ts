/**
 * Public functions for workers. They are open to the internet and guarded by a worker token, which the component
 * checks; here, queue names become declarations and results are validated, since only the app's code knows either.
 */
import { mutationGeneric, type GenericDataModel } from "convex/server";
import { v } from "convex/values";
import {
  checkLength,
  conveyorError,
  groupsWithin,
  LEASES_MAX,
  OFFERED_MAX_BYTES,
  vOutputUpdate,
  vLease,
  vLogUpdate,
  vOnCallRequest,
  vProgressUpdate,
  vWorkerFacts,
  type Finished,
  type Lease,
  type QueueDeclaration,
  type QueueTypes,
  type TokenScope,
} from "../shared/index.js";
import type { ComponentApi } from "./componentApi.js";
import { answersWith, checkFinished, logRefused, vWorkerFinished } from "./finished.js";
import { handleOf, type Reference } from "./handlerOptions.js";
import { mustAllow } from "./leave.js";
import { callComponent, callDeclaring } from "./mounted.js";
import { joinRelated, type RelatedQueries, type WithRelated } from "./related.js";
import { RowClaims } from "./rowClaims.js";
import { servedQueues, type Served } from "./served.js";
import type { AnyQueue, AuthorizeCtx, RunsQueries, TypesOf } from "./types.js";
import type { WantedJobs, WorkerApiOptions, WorkerCall, WorkerFunctions } from "./workerTypes.js";
import { lookRequest, watchFunction } from "./workerWatch.js";

const caller = { token: v.string(), sessionKey: v.string() };
const about = { about: v.optional(vWorkerFacts) };
const claimRequest = {
  ...lookRequest,
  max: v.number(),
  woken: v.optional(v.boolean()),
  named: v.optional(v.array(v.string())),
  lookIn: v.optional(v.array(v.string())),
  waited: v.optional(v.boolean()),
  placed: v.optional(v.boolean()),
  onCall: v.optional(vOnCallRequest),
};

/** Builds the functions of {@link Conveyor.workerApi}. */
export function workerFunctions<
  const Queues extends readonly AnyQueue[],
  const Continues extends readonly AnyQueue[],
  const Related extends RelatedQueries<TypesOf<Queues>>,
  DataModel extends GenericDataModel,
>(
  component: ComponentApi,
  options: WorkerApiOptions<Queues, Continues, Related, DataModel>,
): WorkerFunctions<WithRelated<TypesOf<Queues>, Related>, TypesOf<Continues>> {
  const { authorize } = options;
  const served = servedQueues(component, "The queues of workerApi", options.queues);
  const continues = servedQueues(
    component,
    "The continueWith of workerApi",
    options.continueWith ?? [],
  );
  const queries = (options.related ?? {}) as RelatedQueries<QueueTypes>;
  for (const name of Object.keys(queries)) find(served, name);
  const scoping = groupsOfOption(options.groupsOf);
  const know = async (ctx: RunsQueries, token: string): Promise<TokenScope> =>
    await callComponent(() => ctx.runQuery(component.lib.checkToken, { token }));
  const tables = new RowClaims(component, options.queues, know);
  /** The token is known before the app is asked, and the app receives its scope. */
  const ask = async (
    ctx: AuthorizeCtx<any> & RunsQueries,
    token: string | TokenScope,
    callOf: (token: TokenScope) => WorkerCall,
  ): Promise<void> => {
    if (authorize === undefined) return;
    const call = callOf(typeof token === "string" ? await know(ctx, token) : token);
    await mustAllow(authorize, [ctx, call], "the workers' functions");
  };
  /** Only workers learn which queues are served. */
  const findAll = async (
    ctx: RunsQueries,
    { token, queues }: { token: string; queues: readonly string[] },
  ): Promise<void> => {
    if (queues.some((name) => !served.has(name))) await know(ctx, token);
    for (const name of queues) find(served, name);
  };

  return {
    watch: watchFunction(component, { served, know, ask, findAll, wanted, scoping, tables }),

    claim: mutationGeneric({
      args: { ...caller, name: v.string(), callSeq: v.number(), ...claimRequest, ...about },
      handler: async (ctx, args) => {
        await findAll(ctx, args);
        const declarations = await declare(served, args.queues);
        const { sessionKey, name } = args;
        const call = { kind: "claim" as const, sessionKey, name };
        await ask(ctx, args.token, (token) => ({ ...call, token, ...wanted(token, args) }));
        const scope = await scoping();
        const rows = await tables.offer(ctx, args.token, args);
        const claimed = await callDeclaring(ctx, component, declarations, () =>
          ctx.runMutation(component.lib.claim, {
            ...args,
            queues: declarations,
            ...scope,
            ...rows,
          }),
        );
        const handed = await tables.handOut(ctx, args, claimed);
        const reply = await joinRelated(ctx, component, queries, args, handed);
        // Payloads were checked when they were enqueued, by the validators that the types come from.
        return reply as never;
      },
    }),

    complete: mutationGeneric({
      args: {
        ...caller,
        callSeq: v.optional(v.number()),
        finished: v.array(vWorkerFinished),
        claim: v.optional(v.object(claimRequest)),
        deferCallbacks: v.optional(v.boolean()),
        held: v.optional(v.array(vLease)),
        later: v.optional(v.boolean()),
        ...about,
      },
      handler: async (ctx, { claim, finished, later, callSeq, ...args }) => {
        const known = finished.length > 0 ? await know(ctx, args.token) : args.token;
        checkLength("The outcomes of a call", finished, 0, LEASES_MAX);
        await findAll(ctx, { token: args.token, queues: claim?.queues ?? [] });
        const { checked, refused, notServed } = await checkFinished(
          { served, continues, db: ctx.db },
          finished,
        );
        const declarations = claim === undefined ? [] : await declare(served, claim.queues);
        const call = { kind: "complete" as const, sessionKey: args.sessionKey, finished };
        await ask(ctx, known, (token) => ({
          ...{ ...call, token },
          ...(claim === undefined ? {} : { claim: wanted(token, claim) }),
        }));
        if (later === true) {
          const one = {
            token: args.token,
            sessionKey: args.sessionKey,
            finished: onlyOne(checked, claim),
          };
          await callComponent(() => ctx.runMutation(component.lib.completeLater, one));
          return { answers: [], jobs: [] } as never;
        }
        await tables.cancelGone(ctx, args.token, args.held, OFFERED_MAX_BYTES);
        const rows = await tables.offer(ctx, args.token, claim);
        const next =
          claim === undefined
            ? {}
            : { claim: { ...claim, queues: declarations, ...(await scoping()), ...rows } };
        const completed = await callDeclaring(ctx, component, declarations, () =>
          ctx.runMutation(component.lib.complete, {
            ...{ ...args, callSeq: numberOf(callSeq) },
            ...{ finished: checked, ...next },
          }),
        );
        logRefused([...refused, ...notServed], completed.answers);
        const handed = await tables.handOut(ctx, args, completed);
        const reply = await joinRelated(ctx, component, queries, args, handed);
        return {
          ...{ ...reply, answers: answersWith(notServed, reply.answers) },
          ...(refused.length === 0 ? {} : { refused }),
        } as never;
      },
    }),

    heartbeat: mutationGeneric({
      args: {
        ...{ ...caller, ...about, leases: v.array(vLease), leaving: v.optional(v.number()) },
        tend: v.optional(v.array(v.string())),
        onCall: v.optional(vOnCallRequest),
      },
      handler: async (ctx, { tend, leaving, ...args }) => {
        const { sessionKey, leases } = args;
        const scope = tend === undefined ? args.token : await know(ctx, args.token);
        await ask(ctx, scope, (token) => ({ kind: "heartbeat", token, sessionKey, leases }));
        if (tend === undefined) {
          await tables.cancelGone(ctx, args.token, leases);
          if (leaving === undefined)
            return await callComponent(() => ctx.runMutation(component.lib.heartbeat, args));
          const last = { token: args.token, sessionKey, leases, callSeq: leaving };
          return await callComponent(() => ctx.runMutation(component.lib.leave, last));
        }
        await findAll(ctx, { token: args.token, queues: tend });
        // No beat: it writes no session's row, and a copy that comes late revives none.
        const tended = await callComponent(() =>
          ctx.runMutation(component.lib.tend, { queues: tend }),
        );
        return { answers: [], ...tended };
      },
    }),

    report: mutationGeneric({
      args: {
        ...caller,
        session: v.optional(v.string()),
        updates: v.optional(v.array(vProgressUpdate)),
        logs: v.optional(v.array(vLogUpdate)),
        output: v.optional(v.array(vOutputUpdate)),
      },
      handler: async (ctx, args) => {
        const { sessionKey } = args;
        const { updates = [], logs = [], output = [] } = args;
        const leases = leasesOf([...updates, ...logs, ...output]);
        await ask(ctx, args.token, (token) => ({ kind: "report", token, sessionKey, leases }));
        return await callComponent(() => ctx.runMutation(component.lib.report, args));
      },
    }),
  };
}

/** How calls that search name the app's query for the groups of a token: looked up when it is needed. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type
function groupsOfOption(name: Function | undefined): () => Promise<{ groupsOf?: string }> {
  if (name === undefined) return () => Promise.resolve({});
  if (typeof name === "function")
    return async () => ({ groupsOf: await handleOf(name() as Reference<"query">) });
  throw conveyorError(
    "invalidArgument",
    "`groupsOf` of workerApi must be a function that returns the reference, so that it is looked up when it is needed. " +
      "Write `groupsOf: () => internal.…`.",
    { argument: "groupsOf" },
  );
}

/** An outcome that is handed over goes alone: it was refused in a batch, or by itself. */
function onlyOne(finished: readonly Finished[], claim: object | undefined): Finished {
  const [one] = finished;
  if (one !== undefined && finished.length === 1 && claim === undefined) return one;
  throw conveyorError(
    "invalidArgument",
    `With \`later\`, a call hands over one outcome, and claims nothing; got ${finished.length} outcomes` +
      `${claim === undefined ? "" : " and a claim"}. Give one in \`finished\`, and the rest to other calls.`,
    { argument: "later", got: finished.length },
  );
}

function numberOf(callSeq: number | undefined): number {
  if (callSeq !== undefined) return callSeq;
  throw conveyorError(
    "invalidArgument",
    "A `complete` must have `callSeq`, the number of the session's call: one more than the last. Only one with `later` has none.",
    { argument: "callSeq" },
  );
}

/** Each lease of which something is said, once. */
function leasesOf(reports: readonly Lease[]): Lease[] {
  const leases = reports.map(({ id, attempt }) => ({ id, attempt }));
  return [...new Map(leases.map((lease) => [`${lease.attempt}:${lease.id}`, lease])).values()];
}

/** Of which queues and groups a call would have jobs. Refuses a group that is not the token's. */
function wanted(
  token: TokenScope,
  { queues, groups }: { queues: string[]; groups?: string[] },
): WantedJobs {
  return { queues, groups: groupsWithin(token, groups) };
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
