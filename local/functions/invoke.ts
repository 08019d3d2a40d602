/**
 * Runs one function in a sandbox of its own: from arguments in JSON to a result in JSON, or a `FunctionError`. It knows
 * sandboxes and hosts; what the host's system calls do is not its business.
 */
import type { JSONValue } from "convex/values";
import { FunctionError } from "./errors.js";
import type { Host } from "./host.js";
import type { Target } from "./lookup.js";
import { watched } from "./rejections.js";
import type { CallSandbox } from "./sandbox.js";
import type { SandboxPool } from "./sandboxPool.js";
import { toFunctionError } from "./uncaught.js";

/** A host that has a beginning and an end: one call's. */
export interface CallHost extends Host {
  /** Rejects when the function is not to go on, whatever it awaits: nothing inside can catch that. */
  readonly aborted: Promise<never>;
  /**
   * Waits for what the function started and did not await, and throws if that aborted it. True when nothing of it is
   * left running.
   */
  settle(): Promise<boolean>;
}

interface RegisteredFunction {
  invokeQuery?(args: string): Promise<string>;
  invokeMutation?(args: string): Promise<string>;
  invokeAction?(requestId: string, args: string): Promise<string>;
}

export async function invoke(
  sandboxes: SandboxPool,
  target: Target,
  host: CallHost,
  args: JSONValue,
  requestId: string,
): Promise<JSONValue> {
  const { instance, module } = target;
  const sandbox = sandboxes.take(instance);
  let clean = false;
  try {
    // Before the host enters: a module is evaluated once a sandbox, so it must not draw on one call's seed.
    const exported = await exportOf(sandbox, target);
    sandbox.enter(host);
    // However it ended, its system calls may still run: they end before anybody touches its transaction.
    const result = await Promise.race([
      watched(
        (reason) => host.rejected(reason),
        () => start(exported, requestId, JSON.stringify([args])),
      ),
      host.aborted,
    ]).finally(async () => {
      clean = await host.settle();
    });
    return JSON.parse(result) as JSONValue;
  } catch (thrown) {
    throw toFunctionError(thrown, instance.definition.modules);
  } finally {
    sandbox.leave();
    if (clean) sandboxes.give(instance, sandbox);
  }

  async function exportOf(from: CallSandbox, { address }: Target): Promise<RegisteredFunction> {
    const exports = await from.import(module);
    const found = exports[address.path.slice(address.path.lastIndexOf(":") + 1)];
    if (typeof found === "function") return found as RegisteredFunction;
    throw new FunctionError(`Module ${module} has no function for '${address.path}' any more.`);
  }
}

async function start(
  registered: RegisteredFunction,
  requestId: string,
  args: string,
): Promise<string> {
  if (registered.invokeQuery) return registered.invokeQuery(args);
  if (registered.invokeMutation) return registered.invokeMutation(args);
  if (registered.invokeAction) return registered.invokeAction(requestId, args);
  throw new FunctionError("What was called is neither a query nor a mutation nor an action.");
}
