/** Runs a query for callers outside of transactions: on the latest snapshot, or from the cache. */
import type { JSONValue } from "convex/values";
import { OutOfRetentionError } from "../engine/conflict.js";
import type { Transaction, Ts } from "../engine/types.js";
import { Account, type Spent } from "./account.js";
import { FunctionError, PlatformError } from "./errors.js";
import { requireTarget, type Target } from "./lookup.js";
import { completionOf, resultOf } from "./outcomes.js";
import { userOf } from "./identity.js";
import { QueryCache, type CacheKeys } from "./queryCache.js";
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
  /** Of an earlier run of the same query: its page ends where it ended then. */
  journal: string | null;
  /** The snapshot to read. Defaults to the latest. */
  at?: Ts;
}

export interface Queries {
  run(call: QueryCall): Promise<QueryResult>;
  /** A push was installed. */
  clear(): void;
  close(): void;
}

type CachedQuery = QueryResult & { lines: LogLine[]; spent: Spent };

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
      if (target instanceof FunctionError) {
        complete({ logs: [], error: target.message });
        return Promise.resolve(absent(services, target));
      }
      const run = () => execute(services, target, call);
      return cache.get(keysOf(target, call), run, call.at).then(
        ({ result: { lines, spent, ...told }, cached }) => {
          // The lines of a result that is served again were written once, and its rows read once.
          complete({
            ...(cached ? { logs: [] } : { logs: lines, spent }),
            cached,
            error: told.ok ? undefined : told.message,
          });
          return told;
        },
        (error: Error) => {
          complete({ logs: [], error: error.message, thrown: error });
          throw error;
        },
      );
    },
  };
}

/** The answer is the same for every caller, unless the function read the caller's identity. */
function keysOf(
  { address: { namespace, path } }: Target,
  { args, request, journal }: QueryCall,
): CacheKeys {
  const anyone = JSON.stringify([namespace, path, args, journal]);
  return { anyone, caller: JSON.stringify([anyone, userOf(request.identity)]) };
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
  return {
    ok: false,
    message,
    logs: [],
    ts,
    reads,
    readsTime: false,
    readsIdentity: false,
    journal: null,
  };
}

async function execute(services: Services, target: Target, call: QueryCall): Promise<CachedQuery> {
  const tx = beginAt(services, call.at);
  // The snapshot is taken: it ages while the query waits for its permit.
  return services.permits.queries.run(() => read(services, target, call, tx));
}

function beginAt({ database }: Services, at: Ts | undefined): Transaction {
  try {
    return database.begin(at);
  } catch (error) {
    if (!(error instanceof OutOfRetentionError)) throw error;
    throw new PlatformError(503, "OutOfRetention", error.message);
  }
}

async function read(
  services: Services,
  target: Target,
  { args, request, journal }: QueryCall,
  tx: Transaction,
): Promise<CachedQuery> {
  const { env, events } = services;
  const scope: TransactionScope = {
    request,
    deployment: services.deployment(),
    tx,
    now: Math.floor(env.now()),
    logs: [],
    observed: { time: false, identity: false },
    journal: { before: journal, now: null },
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
  const { time: readsTime, identity: readsIdentity } = scope.observed;
  const told = { ...result, ts, reads, readsTime, readsIdentity, journal: scope.journal.now };
  const spent = new Account();
  spent.stands(tx, "dropped");
  return { ...told, lines: scope.logs, spent };
}
