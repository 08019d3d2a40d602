/** Runs a mutation from its call to its commit: attempts, each with a seed, a time and a log of its own. */
import type { JSONValue } from "convex/values";
import type { Transaction, Ts } from "../engine/types.js";
import { Account } from "./account.js";
import { displayName, requireTarget } from "./lookup.js";
import { completionOf, resultOf } from "./outcomes.js";
import { seededRandom, SEED_BYTES } from "./random.js";
import { CALLED_MUTATION, transactFor, type RetryPolicy } from "./retrying.js";
import type { Request, Services, TransactionScope } from "./scope.js";
import { recordedOutcome, recordOutcome, sweepSessionRequests } from "./sessionRequests.js";
import { runInTransaction } from "./transactionFunction.js";
import type { FunctionAddress, FunctionResult, LogLine, SessionRequest } from "./types.js";
import { checkReturns, resolveCommitTs } from "./values.js";

export interface MutationCall {
  address: FunctionAddress;
  args: JSONValue;
  request: Request;
  publicOnly: boolean;
  /** The name that conflict errors show to the losing transaction. Defaults to its name. */
  source?: string;
  /** Present when the scheduler calls: the run and its row change together. */
  job?: ScheduledRun;
  /** A client's, over its socket: recorded in the mutation's own transaction, and answered from there the second time. */
  session?: SessionRequest;
}

/** The scheduler's part of a mutation's transaction. */
export interface ScheduledRun {
  policy: RetryPolicy;
  /** False when there is nothing to run any more. */
  begin(tx: Transaction): Promise<boolean>;
  succeed(tx: Transaction): Promise<void>;
}

export type MutationResult = FunctionResult & { ts: Ts };

/** `null` when the scheduler's row said that there was nothing to run. */
export async function runMutation(
  services: Services,
  call: MutationCall,
): Promise<MutationResult | null> {
  const { address, request, job } = call;
  const complete = completionOf(
    services,
    address,
    "Mutation",
    request.requestId,
    job !== undefined,
  );
  const account = new Account();
  let logs: LogLine[] = [];
  const earlier: { outcome: Awaited<ReturnType<typeof recordedOutcome>> } = { outcome: null };
  try {
    const author = displayName(address);
    const { value, ts } = await transactFor(
      services,
      { source: call.source ?? author, author, account },
      job?.policy ?? CALLED_MUTATION,
      async (tx) => {
        logs = [];
        earlier.outcome = call.session ? await recordedOutcome(tx, call.session) : null;
        if (earlier.outcome !== null) return { commit: false, value: null };
        if (job !== undefined && !(await job.begin(tx))) return { commit: false, value: null };
        services.writeRate.check();
        // The transaction has begun, so it ages while it waits: a burst conflicts more.
        const result = await services.permits.mutations.run(() =>
          attempt(services, call, tx, logs),
        );
        if (result.ok) await job?.succeed(tx);
        if (result.ok && call.session) await recordOutcome(tx, call.session, result);
        return { commit: result.ok, value: result };
      },
    );
    if (earlier.outcome !== null) {
      const { ts: doneAt, value: given } = earlier.outcome;
      return { ...earlier.outcome, value: resolveCommitTs(given, doneAt) };
    }
    if (value === null) return null;
    if (call.session) sweepSessionRequests(services);
    complete({ logs, spent: account, error: value.ok ? undefined : value.message });
    return value.ok ? { ...value, value: resolveCommitTs(value.value, ts), ts } : { ...value, ts };
  } catch (error) {
    complete({ logs, spent: account, error: (error as Error).message, thrown: error });
    throw error;
  } finally {
    for (const line of logs) services.events.log(line);
  }
}

function attempt(
  services: Services,
  { address, args, request, publicOnly }: MutationCall,
  tx: Transaction,
  logs: LogLine[],
): Promise<FunctionResult> {
  const { env } = services;
  const scope: TransactionScope = {
    request,
    deployment: services.deployment(),
    tx,
    now: Math.floor(env.now()),
    logs,
    observed: { time: false, identity: false },
    journal: { before: null, now: null },
    scheduled: { functions: 0, argsBytes: 0 },
  };
  return resultOf(async () => {
    const target = requireTarget(scope.deployment, address, { type: "Mutation", publicOnly });
    const random = seededRandom(env.randomBytes(SEED_BYTES));
    const value = await runInTransaction(services, { scope, target, random, depth: 0 }, args);
    checkReturns(target, value, tx);
    return value;
  }, logs);
}
