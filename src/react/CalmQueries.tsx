/** Queries of a part of a page that are watched calmly. */
import {
  ConvexProvider,
  useConvex,
  type ConvexReactClient,
  type Watch,
  type WatchQueryOptions,
} from "convex/react";
import { getFunctionName, type FunctionReference } from "convex/server";
import { convexToJson, type Value } from "convex/values";
import { useMemo, type ReactNode } from "react";
import { CALM_EVERY_MS, CalmWatch, type Source, type Timers } from "./calmWatch.js";

const timers: Timers = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Within it, each watched query (`useQuery`, `usePaginatedQuery`, the hooks of this package) is live while its answer
 * changes seldom. A query with an answer that changes at full speed, such as the list of running jobs of a busy queue,
 * runs about once per second at most instead of at every change: each run is a function call. Nothing is asked for
 * while nothing changes. A mutation that is called within it first resumes resting queries, so that optimistic updates
 * find their subscriptions.
 *
 * It must stand within a `ConvexProvider`, whose client and login it uses.
 *
 * @param props.everyMs How long a query rests after its answer changed twice within this time, in milliseconds; it runs
 * twice in it.
 * @default everyMs 3_000
 * @example
 * <CalmQueries><FailedJobs /></CalmQueries>;
 */
export function CalmQueries({
  children,
  everyMs = CALM_EVERY_MS,
}: {
  children: ReactNode;
  everyMs?: number;
}) {
  const client = useConvex() as ConvexReactClient | undefined;
  if (client === undefined)
    throw new Error("`CalmQueries` must stand within a `ConvexProvider`, whose client it uses.");
  const calm = useMemo(() => calmClient(client, everyMs), [client, everyMs]);
  return <ConvexProvider client={calm}>{children}</ConvexProvider>;
}

type Asked = [
  mutation: FunctionReference<"mutation">,
  args: Record<string, Value>,
  options: object,
];

/** The client itself, except that it rests queries and wakes them for mutations. */
function calmClient(client: ConvexReactClient, everyMs: number): ConvexReactClient {
  const watches = new Map<string, CalmWatch<unknown>>();

  const watchQuery = (
    query: FunctionReference<"query">,
    args: Record<string, Value> = {},
    options: WatchQueryOptions = {},
  ): Watch<unknown> => {
    const inner = client.watchQuery(query, args, options);
    const key = `${getFunctionName(query)} ${JSON.stringify(convexToJson(args))}`;
    const own = new CalmWatch<unknown>(sourceOf(inner), everyMs, timers);
    // All watches of one query share a subscription, and its rests. One that listens again may meet a later one's.
    const shared = () => watches.get(key) ?? own;
    return {
      ...inner,
      onUpdate: (listener) => {
        const watch = shared();
        watches.set(key, watch);
        const unlisten = watch.listen(listener);
        return () => {
          unlisten();
          if (!watch.isWatched && watches.get(key) === watch) watches.delete(key);
        };
      },
      localQueryResult: () => shared().read(),
    };
  };

  /** The last mutation that waits for its queries: later ones go out behind it, as they do without rests. */
  let turn: Promise<unknown> | undefined;

  // No query rests while a mutation is on its way: optimistic updates apply to subscribed queries only.
  const mutation = (...asked: Asked): Promise<unknown> => {
    const held = [...watches.values()];
    const areAwake = turn === undefined && !held.some(({ isResting }) => isResting);
    const awake = held.map((watch) => watch.wake());
    const call = () => client.mutation(...asked) as Promise<unknown>;
    const callInTurn = () => {
      const own = Promise.all([turn, ...awake]);
      turn = own;
      return own.then(() => {
        if (turn === own) turn = undefined;
        return call();
      });
    };
    return (areAwake ? call() : callInTurn()).finally(() => {
      for (const watch of held) watch.release();
    });
  };

  return new Proxy(client, {
    get: (target, name) => {
      if (name === "watchQuery") return watchQuery;
      if (name === "mutation") return mutation;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function sourceOf(watch: Watch<unknown>): Source<unknown> {
  return {
    subscribe: (onAnswer) => watch.onUpdate(onAnswer),
    read: () => watch.localQueryResult(),
  };
}
