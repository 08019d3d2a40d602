/** Runs a query for whoever is outside of transactions: on the latest snapshot, or from the cache. */
import type { JSONValue } from "convex/values";
import type { Transaction } from "../engine/types.js";
import { FunctionError } from "./errors.js";
import { requireTarget, type Target } from "./lookup.js";
import { completionOf, resultOf } from "./outcomes.js";
import { QueryCache } from "./queryCache.js";
import { seededRandom, SEED_BYTES } from "./random.js";
import type { Request, Services, TransactionScope } from "./scope.js";
import { runInTransaction } from "./transactionFunction.js";
import type { FunctionAddress, LogLine, QueryResult } from "./types.js";
import { checkReturns, holdsCommitTs } from "./values.js";

export interface QueryCall {
  address: FunctionAddress;
  args: JSONValue;
  request: Request;
  publicOnly: boolean;
}

export interface Queries {
  run(call: QueryCall): Promise<QueryResult>;
  /** A push was installed. */
  clear(): void;
  close(): void;
}

type CachedQuery = QueryResult & { lines: LogLine[] };

export function createQueries(services: Services): Queries {
  const cache = new QueryCache<CachedQuery>(services.env, services.database);
  return {
    clear: () => cache.clear(),
    close: () => cache.close(),
    // Not async: the snapshot is the one that is the latest when this is called.
    run(call) {
      const { address, request } = call;
      const complete = completionOf(services, address, "Query", request.requestId, false);
      const target = find(services, call);
      if (target instanceof FunctionError) return Promise.resolve(absent(services, target));
      const { result, cached } = cache.get(keyOf(target, call.args), () =>
        execute(services, target, call),
      );
      return result.then(
        ({ lines, ...told }) => {
          // The lines of a result that is served again were written once.
          complete({
            logs: cached ? [] : lines,
            cached,
            error: told.ok ? undefined : told.message,
          });
          return told;
        },
        (error: Error) => {
          complete({ logs: [], cached, error: error.message });
          throw error;
        },
      );
    },
  };
}

/** Whoever asks, the answer is the same: functions cannot tell callers apart yet. */
function keyOf({ address: { namespace, path } }: Target, args: JSONValue): string {
  return JSON.stringify([namespace, path, args]);
}

function find(services: Services, { address, publicOnly }: QueryCall): Target | FunctionError {
  try {
    return requireTarget(services.deployment(), address, { type: "Query", publicOnly });
  } catch (error) {
    if (error instanceof FunctionError) return error;
    throw error;
  }
}

/** Depends on no row: only a push can change it, and after a push every query is asked for again. */
function absent({ database }: Services, { message }: FunctionError): QueryResult {
  const { beginTs: ts, reads } = database.begin();
  return { ok: false, message, logs: [], ts, reads, readsTime: false };
}

async function execute(services: Services, target: Target, call: QueryCall): Promise<CachedQuery> {
  const tx = services.database.begin();
  // The snapshot is taken: it ages while the query waits for its permit.
  return services.permits.queries.run(() => read(services, target, call, tx));
}

async function read(
  services: Services,
  target: Target,
  { args, request }: QueryCall,
  tx: Transaction,
): Promise<CachedQuery> {
  const { env, events } = services;
  const scope: TransactionScope = {
    request,
    deployment: services.deployment(),
    tx,
    now: Math.floor(env.now()),
    logs: [],
    observed: { time: false },
    scheduled: { functions: 0, argsBytes: 0 },
  };
  const random = seededRandom(env.randomBytes(SEED_BYTES));
  const result = await resultOf(async () => {
    const value = await runInTransaction(services, { scope, target, random, depth: 0 }, args);
    checkReturns(target, value, tx);
    if (holdsCommitTs(value)) throw new FunctionError("A query cannot return db.vars.commitTs.");
    return value;
  }, scope.logs);
  for (const line of scope.logs) events.log(line);
  const { beginTs: ts, reads } = tx;
  return { ...result, ts, reads, readsTime: scope.observed.time, lines: scope.logs };
}
