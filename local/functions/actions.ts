/** Runs an action: once, outside of any transaction. Its log lines are told as they are written, since it may take long. */
import type { JSONValue } from "convex/values";
import { ActionHost } from "./actionHost.js";
import { actionSyscalls, type Calls } from "./actionSyscalls.js";
import { invoke } from "./invoke.js";
import { requireTarget } from "./lookup.js";
import { commonMetadata } from "./metadataSyscalls.js";
import { completionOf, resultOf } from "./outcomes.js";
import type { Request, Services } from "./scope.js";
import type { FunctionAddress, FunctionResult, LogLine } from "./types.js";
import { checkArguments, checkReturns } from "./values.js";

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
  const { database, events, sandboxes } = services;
  const complete = completionOf(services, address, "Action", request.requestId, scheduled);
  const logs: LogLine[] = [];
  const write = (line: LogLine) => {
    logs.push(line);
    events.log(line);
  };
  try {
    const result = await resultOf(async () => {
      const deployment = services.deployment();
      const target = requireTarget(deployment, address, { type: "Action", publicOnly });
      // Only to tell which table an id is of; it reads nothing.
      checkArguments(target, args, database.begin());
      const operations = {
        ...actionSyscalls(services, calls, target, request),
        ...commonMetadata(services, request, target, deployment),
      };
      const host = new ActionHost(services, target, operations, write);
      const value = await invoke(sandboxes, target, host, args, request.requestId);
      checkReturns(target, value, database.begin());
      return value;
    }, logs);
    complete({ logs, error: result.ok ? undefined : result.message });
    return result;
  } catch (error) {
    complete({ logs, error: (error as Error).message });
    throw error;
  }
}
