/**
 * A worker's calls as calls of the app's five functions, over any carrier: a connection, or a suite's `convex-test`.
 */
import type { FunctionReference } from "convex/server";
import type { Hello, PeekedJob, Waiting, WorkerFacts } from "../shared/index.js";
import { Description } from "./description.js";
import { OperatorQuiet } from "./operatorQuiet.js";
import { Tending } from "./tending.js";
import type { Transport } from "./transport.js";
import type { WorkerApi } from "./types.js";

export interface Connection {
  token: string;
  sessionKey: string;
  name: string;
  api: WorkerApi;
  queues: string[];
  /** Further conditions on the jobs that it may get. */
  labels?: string[];
  groups?: string[];
  maxCost?: number;
  /** What it says of itself, as of now. */
  facts?: () => WorkerFacts;
  /** An operator has it claim nothing, or claim again. */
  quieted?: (isQuiet: boolean) => void;
}

/** The fields of an answer that are about the session. */
interface Noted {
  session?: string;
  isLate?: boolean;
  isQuiet?: boolean;
}

/** The arguments of `watch`. */
interface Watched {
  token: string;
  call: { kind: string; [argument: string]: unknown };
}

/** The transport of the calls. */
export interface Wire {
  query: (query: FunctionReference<"query">, args: Watched) => Promise<any>;
  mutation: (mutation: FunctionReference<"mutation">, args: object) => Promise<any>;
  /** A beat, which is worth little when it is late. */
  beat: (mutation: FunctionReference<"mutation">, args: object) => Promise<any>;
  /** Follows a query until the returned function is called. */
  follow: (
    query: FunctionReference<"query">,
    args: Watched,
    onValue: (value: any) => void,
    onError: (error: unknown) => void,
  ) => () => void;
  close: () => Promise<void>;
}

export function transportOver(connection: Connection, wire: Wire): Transport {
  const { token, sessionKey, name, api } = connection;
  const caller = { token, sessionKey };
  const offer = offerOf(connection);
  /** The session's row, as claims are answered: reports name it, so that they need not search for it. */
  let session: { session?: string } = {};
  const tending = new Tending(() =>
    wire.beat(api.heartbeat, { ...caller, leases: [], tend: offer.queues }),
  );
  const description = new Description(connection.facts);
  const quiet = new OperatorQuiet(
    (onValue) =>
      wire.follow(api.watch, { token, call: { kind: "isQuiet", sessionKey } }, onValue, () => {}),
    (isQuiet) => connection.quieted?.(isQuiet),
  );
  const noting = <Reply extends Noted>(reply: Reply): Reply => {
    quiet.learns(reply.isQuiet === true);
    if (reply.session !== undefined) {
      if (session.session !== undefined && session.session !== reply.session)
        description.forgotten();
      session = { session: reply.session };
    }
    if (reply.isLate === true) void tending.run();
    return reply;
  };
  return {
    hello: async () => {
      const call = { kind: "hello", queues: offer.queues };
      return (await wire.query(api.watch, { token, call })) as Hello;
    },
    claim: async (callSeq, claim) =>
      await description.with(async (about) =>
        noting(
          await wire.mutation(api.claim, {
            ...caller,
            name,
            callSeq,
            ...offer,
            ...claim,
            ...about,
          }),
        ),
      ),
    complete: async (callSeq, finished, { claim, ...options } = {}) =>
      await description.with(async (about) =>
        noting(
          await wire.mutation(api.complete, {
            ...{ ...caller, callSeq, finished, ...options, ...about },
            ...(claim === undefined ? {} : { claim: { ...offer, ...claim } }),
          }),
        ),
      ),
    completeLater: async (finished) => {
      const finishedLater = { ...caller, finished: [finished], later: true };
      await wire.mutation(api.complete, finishedLater);
    },
    heartbeat: async (leases, { leaving, ...options } = {}) => {
      if (leaving !== undefined)
        return await wire.beat(api.heartbeat, { ...caller, leases, leaving });
      return await description.with(async (about) =>
        noting(await wire.beat(api.heartbeat, { ...caller, leases, ...options, ...about })),
      );
    },
    report: async (reported) =>
      (await wire.mutation(api.report, { ...caller, ...session, ...reported })).answers,
    peek: async (options) => {
      const { maxCost } = connection;
      const budget = maxCost === undefined ? {} : { maxCost };
      const { queues = offer.queues, ...limit } = options;
      const call = { kind: "peek", ...offer, ...budget, ...limit, queues: [...queues] };
      return (await wire.query(api.watch, { token, call })) as PeekedJob[];
    },
    watchHasWork: watchHasWork(connection, wire),
    watchCancellations: (onValue, onError) =>
      wire.follow(
        api.watch,
        { token, call: { kind: "cancellations", sessionKey } },
        onValue,
        onError,
      ),
    watchStandby: (place, onValue, onError) =>
      wire.follow(
        api.watch,
        { token, call: { kind: "standby", ...place, worker: name } },
        onValue,
        onError,
      ),
    close: async () => {
      quiet.end();
      await wire.close();
    },
  };
}

/**
 * One subscription for each queue: a job that comes or goes reruns that of its own queue alone, however many a worker serves. And
 * arguments that are the same for the whole fleet: then its subscriptions share one cached answer.
 */
function watchHasWork(connection: Connection, wire: Wire): Transport["watchHasWork"] {
  const { token, api, maxCost } = connection;
  const offer = offerOf(connection);
  const budget = maxCost === undefined ? {} : { maxCost };
  const hasWork = (queue: string, from: { cursor?: string }) => ({
    ...{ kind: "hasWork", ...offer, ...budget, queues: [queue], naming: true, ...from },
  });
  return (onValue, onError) => {
    const ends = new Map<string, () => void>();
    const follow = (queue: string, from: { cursor?: string }): void => {
      const before = ends.get(queue);
      const end = wire.follow(
        api.watch,
        { token, call: hasWork(queue, from) },
        (waiting: boolean | Waiting) => onValue(queue, waiting),
        (error) => {
          if (from.cursor !== undefined) follow(queue, {});
          onError(queue, error);
        },
      );
      ends.set(queue, end);
      before?.();
    };
    for (const queue of offer.queues) follow(queue, {});
    return {
      goOn: (queue, cursor) => follow(queue, { cursor }),
      end: () => ends.forEach((end) => end()),
    };
  };
}

/** Which jobs it may get, the same in every claim. */
function offerOf({ queues, labels = [], groups = [] }: Connection) {
  return {
    queues,
    ...(labels.length === 0 ? {} : { labels }),
    ...(groups.length === 0 ? {} : { groups }),
  };
}
