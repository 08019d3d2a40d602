/**
 * Runs an action: once, outside of any transaction, with a permit, and for no longer than the platform lets it. Its log
 * lines are published as they are written, since it may take long.
 */
import type { JSONValue } from "convex/values";
import { ActionHost } from "./actionHost.js";
import { actionSyscalls, type Calls } from "./actionSyscalls.js";
import { FunctionError } from "./errors.js";
import { invoke } from "./invoke.js";
import { withinLogLimit } from "./logLimit.js";
import { requireTarget, runsInNode, type Target } from "./lookup.js";
import { commonMetadata } from "./metadataSyscalls.js";
import { completionOf, resultOf } from "./outcomes.js";
import type { Request, Services } from "./scope.js";
import type { FunctionAddress, FunctionResult, LogLine } from "./types.js";
import { checkArguments, checkReturns, requireResult } from "./values.js";

export interface ActionCall {
  address: FunctionAddress;
  args: JSONValue;
  request: Request;
  publicOnly: boolean;
  scheduled: boolean;
}

export async function runAction(
  services: Services,
  calls: Calls,
  { address, args, request, publicOnly, scheduled }: ActionCall,
): Promise<FunctionResult> {
  const { database, events, permits } = services;
  const complete = completionOf(services, address, "Action", request.requestId, scheduled);
  const logs: LogLine[] = [];
  const write = (line: LogLine) => {
    const kept = withinLogLimit(line, logs.length, database.limits.logLines);
    if (kept === null) return;
    logs.push(kept);
    events.log(kept);
  };
  try {
    const result = await resultOf(async () => {
      const deployment = services.deployment();
      const target = requireTarget(deployment, address, { type: "Action", publicOnly });
      // Only to tell which table an id is of; it reads nothing.
      checkArguments(target, args, database.begin(), { nested: false });
      const operations = {
        ...actionSyscalls(services, calls, target, request),
        ...commonMetadata(services, request, target, deployment),
      };
      const host = new ActionHost(services, target, operations, write);
      const running = { address, requestId: request.requestId, lose: () => host.lose() };
      services.runningActions.add(running);
      const pool = runsInNode(target) ? permits.nodeActions : permits.v8Actions;
      // An action that the scheduler has begun has its place already, and a missing permit must not lose it.
      const value = await pool
        .run(() => runInTime(services, target, host, args, request), { patient: scheduled })
        .finally(() => services.runningActions.delete(running));
      requireResult(target, value, database.begin());
      checkReturns(target, value, database.begin());
      return value;
    }, logs);
    complete({ logs, error: result.ok ? undefined : result.message });
    return result;
  } catch (error) {
    complete({ logs, error: (error as Error).message, thrown: error });
    throw error;
  }
}

/** Calls that the action has under way when its time is up may still take effect: their results go nowhere. */
export async function runInTime(
  { env, sandboxes, options: { actionTimeoutMs } }: Services,
  target: Target,
  host: ActionHost,
  args: JSONValue,
  { requestId }: Request,
): Promise<JSONValue> {
  const node = runsInNode(target);
  const limitMs = node ? actionTimeoutMs.node : actionTimeoutMs.v8;
  const deadline = env.timer(limitMs, () => host.rejected(timedOut(target, node, limitMs)));
  try {
    await env.spend({ kind: "context", nested: false });
    return await invoke(sandboxes, target, host, args, requestId);
  } finally {
    deadline.cancel();
  }
}

/** The platform's words, which differ by where the action runs. */
function timedOut({ address }: Target, node: boolean, limitMs: number): FunctionError {
  const seconds = `${limitMs / 1000}s`;
  return new FunctionError(
    node
      ? `Action \`${address.path}\` execution timed out (maximum duration ${seconds})`
      : `Function execution timed out (maximum duration: ${seconds})`,
  );
}
