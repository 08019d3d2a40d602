/**
 * One scheduled function, from when it is due to when its row says how it ended.
 *
 * Mutations run exactly once: the row changes in the commit of the mutation itself. Actions run at most once: the row
 * says "inProgress" in a commit of its own before the action begins. A process that finds such a row without having
 * begun it fails the run as lost; it is not retried.
 */
import type { Transaction } from "../engine/types.js";
import type { JSONValue } from "convex/values";
import { FunctionError } from "./errors.js";
import { requireTarget } from "./lookup.js";
import { runMutation, type ScheduledRun } from "./mutations.js";
import {
  backoffMs,
  ONCE,
  SCHEDULED_MUTATION,
  transact,
  TransactionLostError,
  untilDone,
  type RetryPolicy,
} from "./retrying.js";
import {
  argsOf,
  markCompleted,
  markDueAgain,
  markInProgress,
  readScheduled,
  type ScheduledRow,
  type ScheduledState,
} from "./scheduledTable.js";
import type { Request, ScheduledId, Services } from "./scope.js";
import type { FunctionAddress, FunctionResult } from "./types.js";

/** After the platform failed, not the function. knobs.rs: SCHEDULED_JOB_INITIAL_BACKOFF, SCHEDULED_JOB_MAX_BACKOFF. */
const AFTER_SYSTEM_ERROR: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 500,
  maxBackoffMs: 2 * 60 * 60 * 1000,
  waitsForWriter: false,
};
/** The writers' names in other functions' conflict messages, as on the platform. */
const SOURCES = {
  mutation: "scheduled_job_mutation_success",
  mutationFailed: "scheduled_job_mutation_error",
  actionBegins: "scheduled_job_progress",
  actionEnded: "scheduled_job_complete_action",
  actionLost: "scheduled_job_action_error",
  cannotRun: "scheduled_job_bad_udf",
  systemError: "scheduled_job_system_error",
} as const;
/** For a run that began and has no known end. */
export const ACTION_LOST = "Transient error while executing action";

export type RunAction = (
  address: FunctionAddress,
  args: JSONValue,
  request: Request,
) => Promise<FunctionResult>;

type RunWithArgs = (address: FunctionAddress, request: Request) => Promise<FunctionResult>;

/** Resolves when the run is over, one way or the other; a failure of the platform is retried later. */
export async function runScheduled(
  services: Services,
  runAction: RunAction,
  namespace: string,
  row: ScheduledRow,
): Promise<void> {
  const id: ScheduledId = { namespace, id: row._id };
  try {
    const args = await argsOf(services.database.begin(), namespace, row);
    switch (typeOf(services, row)) {
      case "Mutation":
        return await runScheduledMutation(services, id, row, args);
      case "Action":
        return await runScheduledAction(services, id, row, (address, request) =>
          runAction(address, args, request),
        );
    }
  } catch (error) {
    if (!(error instanceof CannotRun)) return postpone(services, id, row);
    await complete(services, id, row, failed(error.message), SOURCES.cannotRun).catch(() =>
      postpone(services, id, row),
    );
  }
}

/** It existed when it was scheduled, but other code is deployed by now. */
class CannotRun extends Error {}

function typeOf(services: Services, { target }: ScheduledRow): "Mutation" | "Action" {
  try {
    const wanted = { type: null, publicOnly: false };
    const { udfType } = requireTarget(services.deployment(), target, wanted).analyzed;
    if (udfType !== "Query") return udfType;
  } catch (error) {
    if (error instanceof FunctionError) throw new CannotRun(error.message);
    throw error;
  }
  throw new CannotRun(
    `Unsupported function type. '${target.path}' is defined as a Query. Only Mutation and Action can be scheduled.`,
  );
}

async function runScheduledMutation(
  services: Services,
  id: ScheduledId,
  row: ScheduledRow,
  args: JSONValue,
): Promise<void> {
  const job: ScheduledRun = {
    policy: SCHEDULED_MUTATION,
    begin: (tx) => begin(tx, id, row),
    succeed: (tx) => markCompleted(tx, id, { kind: "success" }, services.env.now()),
  };
  const result = await runMutation(services, {
    address: row.target,
    args,
    request: requestOf(id),
    publicOnly: false,
    source: SOURCES.mutation,
    job,
  });
  if (result === null || result.ok) return;
  await complete(services, id, row, failed(result.message), SOURCES.mutationFailed);
}

async function runScheduledAction(
  services: Services,
  id: ScheduledId,
  row: ScheduledRow,
  run: RunWithArgs,
): Promise<void> {
  if (row.state.kind === "inProgress") {
    return complete(services, id, row, failed(ACTION_LOST), SOURCES.actionLost);
  }
  const { value: begun } = await transact(services, SOURCES.actionBegins, ONCE, async (tx) => {
    const due = await begin(tx, id, row);
    return { commit: due, value: due };
  });
  if (!begun) return;
  const state = await endOfAction(run, id, row);
  const running: ScheduledRow = { ...row, state: { kind: "inProgress" } };
  await untilDone(services.env, AFTER_SYSTEM_ERROR, () =>
    complete(services, id, running, state, SOURCES.actionEnded),
  );
}

/** However it ended, it has begun and must not begin again. */
async function endOfAction(
  run: RunWithArgs,
  id: ScheduledId,
  row: ScheduledRow,
): Promise<Completed> {
  try {
    const result = await run(row.target, requestOf(id));
    return result.ok ? { kind: "success" } : failed(result.message);
  } catch {
    return failed(ACTION_LOST);
  }
}

type Completed = Extract<ScheduledState, { kind: "success" | "failed" }>;

/** Only a row that is unchanged since it was found due begins: it may have been canceled since. */
async function begin(tx: Transaction, id: ScheduledId, expected: ScheduledRow): Promise<boolean> {
  if (!isAs(expected, await readScheduled(tx, id))) return false;
  await markInProgress(tx, id);
  return true;
}

/** A run that was canceled meanwhile stays canceled: its result is ignored. */
async function complete(
  services: Services,
  id: ScheduledId,
  expected: ScheduledRow,
  state: Completed,
  source: string,
): Promise<void> {
  await transact(services, source, ONCE, async (tx) => {
    if (!isAs(expected, await readScheduled(tx, id))) return { commit: false, value: null };
    await markCompleted(tx, id, state, services.env.now());
    return { commit: true, value: null };
  });
}

/** When this fails too, the row is as it was, and found due again. */
async function postpone(services: Services, id: ScheduledId, row: ScheduledRow): Promise<void> {
  const { env } = services;
  const errors = Number(row.systemErrors);
  const due = env.now() + backoffMs(env, AFTER_SYSTEM_ERROR, errors);
  const postponed = transact(services, SOURCES.systemError, ONCE, async (tx) => {
    if (!isAs(row, await readScheduled(tx, id))) return { commit: false, value: null };
    await markDueAgain(tx, id, due, errors + 1);
    return { commit: true, value: null };
  });
  await postponed.catch((error: unknown) => {
    if (!(error instanceof TransactionLostError)) throw error;
  });
}

function isAs(expected: ScheduledRow, current: ScheduledRow | null): boolean {
  return (
    current?.state.kind === expected.state.kind &&
    current.due === expected.due &&
    current.systemErrors === expected.systemErrors
  );
}

function failed(error: string): Completed {
  return { kind: "failed", error };
}

/** Scheduled functions run without an identity, for every caller. */
function requestOf(id: ScheduledId): Request {
  return { requestId: id.id, identity: { kind: "none" }, scheduledBy: id };
}
