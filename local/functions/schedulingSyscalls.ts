/** `ctx.scheduler` in mutations: part of the transaction, undone with it. */
import type { JSONValue } from "convex/values";
import type { Transaction } from "../engine/types.js";
import { countScheduled } from "./budget.js";
import { FunctionError } from "./errors.js";
import { resolveReference, type Reference } from "./references.js";
import { cancelScheduled, insertScheduled, readScheduled } from "./scheduledTable.js";
import type { Execution, Request, Services, TransactionScope } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";
import type { Deployment } from "./types.js";
import { travelBytes } from "./travel.js";
import { holdsCommitTs } from "./values.js";

export interface ScheduleArgs extends Reference {
  /** Seconds since the epoch. */
  ts: number;
  args: JSONValue;
}

export function scheduling(services: Services, { scope, target }: Execution): AsyncSyscalls {
  const { namespace } = target.address;
  return {
    "1.0/schedule": (args: ScheduleArgs) => schedule(services, scope, namespace, args),
    "1.0/cancel_job": async ({ id }: { id: string }) => {
      // The run ends by writing this row itself. As on the platform, ids alone are compared, and functions that a
      // scheduled action calls count as the run too.
      if (scope.request.scheduledBy?.id === id) {
        scope.logs.push({
          level: "WARN",
          text: "[WARN] 'A scheduled function cannot cancel itself: the call has no effect, and fails from convex 1.50 on.'",
          at: services.env.now(),
          ...target.address,
        });
        return null;
      }
      await cancelScheduled(scope.tx, { namespace, id }, services.env.now());
      return null;
    },
  };
}

export interface SchedulingScope {
  request: Request;
  deployment: Deployment;
  tx: Transaction;
  /** The schedules of this transaction so far. */
  scheduled: TransactionScope["scheduled"];
}

/**
 * Neither the target's type nor its arguments are checked: the platform does that when it runs. udf/src/validation.rs:181,
 * application/src/scheduled_jobs/mod.rs:642.
 */
export async function schedule(
  { env }: Pick<Services, "env">,
  { request, deployment, tx, scheduled }: SchedulingScope,
  namespace: string,
  { ts, args, ...reference }: ScheduleArgs,
): Promise<string> {
  const target = resolveReference(deployment, namespace, reference, null);
  if (holdsCommitTs(args)) {
    throw new FunctionError(
      "The commit timestamp (db.vars.commitTs) cannot be an argument of a scheduled function: " +
        "it is known only once this transaction has committed. Write it to a document and pass the id.",
    );
  }
  const now = env.now();
  const scheduledTime = Math.round(ts * 1e6) / 1e3;
  requireWithinHorizon(scheduledTime, now, tx.global.scheduleDistanceMs);
  const argsBytes = travelBytes([args], `Arguments for ${target.address.path}`, tx.global);
  countScheduled({ tx, scheduled }, argsBytes);
  const canceled = await isCanceled(tx, request);
  return insertScheduled(
    tx,
    namespace,
    { target: target.address, args, scheduledTime, now },
    canceled,
  );
}

/** A canceled function's schedules, however indirect, are born canceled. */
async function isCanceled(tx: Transaction, { scheduledBy }: Request): Promise<boolean> {
  if (scheduledBy === null) return false;
  return (await readScheduled(tx, scheduledBy))?.state.kind === "canceled";
}

function requireWithinHorizon(at: number, now: number, distanceMs: number): void {
  if (Math.abs(at - now) <= distanceMs) return;
  throw new FunctionError(
    `InvalidScheduledFunctionDelay: ${Math.round(at)} ms since the epoch is more than five years ` +
      `${at > now ? "ahead" : "ago"}. Schedule something nearer that schedules the rest.`,
  );
}
