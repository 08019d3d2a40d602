/**
 * One scheduled function, from when it is due to when its row says how it ended.
 *
 * Mutations run exactly once: the row changes in the commit of the mutation itself. Actions run at most once: the row
 * says "inProgress" in a commit of its own before the action begins, and a row found so by anybody who did not begin it
 * is a run that was lost, which fails and is not run again.
 */
import type { Transaction } from "../engine/types.js";
import { convexToJson, type JSONValue } from "convex/values";
import { FunctionError } from "./errors.js";
import { requireTarget } from "./lookup.js";
import { runMutation, type ScheduledRun } from "./mutations.js";
import { backoffMs, SCHEDULER_WRITE, transact, type RetryPolicy } from "./retrying.js";
import {
  isUnfinished,
  markCompleted,
  markDueAgain,
  markInProgress,
  readScheduled,
  type ScheduledRow,
  type ScheduledState,
} from "./scheduledTable.js";
import type { Request, ScheduledId, Services } from "./scope.js";
import type { FunctionAddress, FunctionResult } from "./types.js";

/** After the platform failed, not the function: the platform's own delays. */
const AFTER_SYSTEM_ERROR: RetryPolicy = {
  maxRetries: Infinity,
  initialBackoffMs: 500,
  maxBackoffMs: 2 * 60 * 60 * 1000,
};
/** The writer's name in other functions' conflict messages, as on the platform. */
const MUTATION_SOURCE = "scheduled_job_mutation_success";
const PROGRESS_SOURCE = "scheduled_job_progress";

export type RunAction = (
  address: FunctionAddress,
  args: JSONValue,
  request: Request,
) => Promise<FunctionResult>;

/** Resolves when the run is over, one way or the other; what the platform fails at is tried again later. */
export async function runScheduled(
  services: Services,
  runAction: RunAction,
  namespace: string,
  row: ScheduledRow,
): Promise<void> {
  const id: ScheduledId = { namespace, id: row._id };
  try {
    const { analyzed } = requireTarget(services.deployment(), row.target, {
      type: null,
      publicOnly: false,
    });
    if (analyzed.udfType === "Mutation") await runScheduledMutation(services, id, row);
    else if (analyzed.udfType === "Action") await runScheduledAction(services, runAction, id, row);
    else
      throw new FunctionError(
        `'${row.target.path}' has become a query, which cannot be scheduled.`,
      );
  } catch (error) {
    if (error instanceof FunctionError) await complete(services, id, failed(error.message));
    else await postpone(services, id, row);
  }
}

async function runScheduledMutation(
  services: Services,
  id: ScheduledId,
  row: ScheduledRow,
): Promise<void> {
  const job: ScheduledRun = {
    row: id,
    begin: (tx) => begin(tx, id),
    succeed: (tx) => markCompleted(tx, id, { kind: "success" }, services.env.now()),
  };
  const result = await runMutation(services, {
    address: row.target,
    args: argsOf(row),
    request: requestOf(id),
    publicOnly: false,
    source: MUTATION_SOURCE,
    job,
  });
  if (result !== null && !result.ok) await complete(services, id, failed(result.message));
}

async function runScheduledAction(
  services: Services,
  runAction: RunAction,
  id: ScheduledId,
  row: ScheduledRow,
): Promise<void> {
  if (row.state.kind === "inProgress") {
    return complete(services, id, failed("Transient error while executing action"));
  }
  const { value: begun } = await transact(
    services,
    PROGRESS_SOURCE,
    SCHEDULER_WRITE,
    async (tx) => {
      const due = await begin(tx, id);
      return { commit: due, value: due };
    },
  );
  if (!begun) return;
  await complete(services, id, await endOfAction(runAction, id, row));
}

/** Whatever happened to it, it has begun and must not begin again. */
async function endOfAction(
  runAction: RunAction,
  id: ScheduledId,
  row: ScheduledRow,
): Promise<Completed> {
  try {
    const result = await runAction(row.target, argsOf(row), requestOf(id));
    return result.ok ? { kind: "success" } : failed(result.message);
  } catch (error) {
    return failed((error as Error).message);
  }
}

type Completed = Extract<ScheduledState, { kind: "success" | "failed" }>;

/** Only what is still pending begins: it may have been canceled since it was found due. */
async function begin(tx: Transaction, id: ScheduledId): Promise<boolean> {
  const current = await readScheduled(tx, id);
  if (current?.state.kind !== "pending") return false;
  await markInProgress(tx, id);
  return true;
}

/** A run that was canceled meanwhile stays canceled: its result is ignored. */
async function complete(services: Services, id: ScheduledId, state: Completed): Promise<void> {
  await transact(services, PROGRESS_SOURCE, SCHEDULER_WRITE, async (tx) => {
    const current = await readScheduled(tx, id);
    if (current === null || !isUnfinished(current)) return { commit: false, value: null };
    await markCompleted(tx, id, state, services.env.now());
    return { commit: true, value: null };
  });
}

async function postpone(services: Services, id: ScheduledId, row: ScheduledRow): Promise<void> {
  const { env } = services;
  const errors = Number(row.systemErrors);
  const due = env.now() + backoffMs(env, AFTER_SYSTEM_ERROR, errors);
  await transact(services, PROGRESS_SOURCE, SCHEDULER_WRITE, async (tx) => {
    const current = await readScheduled(tx, id);
    if (current?.state.kind !== "pending") return { commit: false, value: null };
    await markDueAgain(tx, id, due, errors + 1);
    return { commit: true, value: null };
  });
}

function failed(error: string): Completed {
  return { kind: "failed", error };
}

function argsOf({ args }: ScheduledRow): JSONValue {
  return convexToJson(args[0] ?? {});
}

/** Scheduled functions run as nobody, whoever scheduled them. */
function requestOf(id: ScheduledId): Request {
  return { requestId: id.id, identity: { kind: "none" }, scheduledBy: id };
}
