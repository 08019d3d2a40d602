/** The system calls of actions: functions, each in a transaction of its own, and the scheduler. */
import type { JSONValue } from "convex/values";
import { actionStorage } from "../files/storageSyscalls.js";
import { identityAcross } from "./identity.js";
import { displayName, type Target } from "./lookup.js";
import { valueOf } from "./outcomes.js";
import { resolveReference, type Reference } from "./references.js";
import { ACTION_WRITE, transact } from "./retrying.js";
import { cancelScheduled } from "./scheduledTable.js";
import { schedule, type ScheduleArgs } from "./schedulingSyscalls.js";
import type { Request, Services } from "./scope.js";
import type { AsyncSyscalls } from "./syscalls.js";
import type { FunctionAddress, FunctionResult, UdfType } from "./types.js";

interface CallArgs extends Reference {
  args: JSONValue;
}

/**
 * How an action reaches the other functions: as any caller from inside does, on the deployment that is current by then.
 */
export interface Calls {
  query(address: FunctionAddress, args: JSONValue, request: Request): Promise<FunctionResult>;
  mutation(address: FunctionAddress, args: JSONValue, request: Request): Promise<FunctionResult>;
  action(address: FunctionAddress, args: JSONValue, request: Request): Promise<FunctionResult>;
}

export function actionSyscalls(
  services: Services,
  calls: Calls,
  target: Target,
  request: Request,
): AsyncSyscalls {
  const { address } = target;
  const { namespace } = address;
  const source = displayName(address);
  const call = async (type: UdfType, { args, ...reference }: CallArgs): Promise<JSONValue> => {
    const to = resolveReference(services.deployment(), namespace, reference, type).address;
    const identity = identityAcross(request.identity, namespace, to.namespace);
    const kind = ({ Query: "query", Mutation: "mutation", Action: "action" } as const)[type];
    return valueOf(await calls[kind](to, args, { ...request, identity }));
  };
  return {
    ...actionStorage(services, target),
    "1.0/actions/query": (args: CallArgs) => call("Query", args),
    "1.0/actions/mutation": (args: CallArgs) => call("Mutation", args),
    "1.0/actions/action": (args: CallArgs) => call("Action", args),
    "1.0/actions/schedule": async (args: ScheduleArgs) => {
      const { value } = await transact(services, source, ACTION_WRITE, async (tx) => {
        const scheduled = { functions: 0, argsBytes: 0 };
        const scope = { request, deployment: services.deployment(), tx, scheduled };
        return { commit: true, value: await schedule(services, scope, namespace, args) };
      });
      return value;
    },
    "1.0/actions/cancel_job": async ({ id }: { id: string }) => {
      // The platform looks the id up among the app's, for every caller; a component's action cancels nothing by it.
      // Here too: components must cancel from a mutation, and code that does not is better found out before it is
      // deployed.
      await transact(services, source, ACTION_WRITE, async (tx) => {
        await cancelScheduled(tx, { namespace: "", id }, services.env.now());
        return { commit: true, value: null };
      });
      return null;
    },
  };
}
