/** Calls a function that a sandbox's module exports, as `convex/server` registers it: text in, text out. */
import { FunctionError } from "./errors.js";
import { untilSettled, type CallHost } from "./invoke.js";
import { runRequest, type RequestHead, type Router } from "./jsSyscalls.js";
import { watched } from "./rejections.js";
import type { CallSandbox } from "./sandbox.js";

/** The function to call: `export` of `module`, with `path` as its name in messages. */
export interface Called {
  module: string;
  export: string;
  path: string;
}

/** A function, or the router of `http.ts`. */
interface RegisteredFunction extends Partial<Router> {
  isRouter?: boolean;
  invokeQuery?(args: string): Promise<string>;
  invokeMutation?(args: string): Promise<string>;
  invokeAction?(requestId: string, args: string): Promise<string>;
}

/**
 * `args` is the JSON of the list of arguments. Throws the function's error. `settled` tells whether it left nothing
 * running.
 */
export async function callIn(
  sandbox: CallSandbox,
  called: Called,
  host: CallHost,
  { requestId, args }: { requestId: string; args: string },
  settled: (clean: boolean) => void,
): Promise<string> {
  // Before the host enters: a module is evaluated once a sandbox, so it must not draw on one call's seed.
  const exported = await exportOf(sandbox, called);
  sandbox.enter(host);
  try {
    const result = watched(host, () => start(exported, requestId, args));
    host.begun();
    return await untilSettled(host, result, settled);
  } finally {
    sandbox.leave();
  }
}

async function exportOf(sandbox: CallSandbox, called: Called): Promise<RegisteredFunction> {
  const exports = await sandbox.import(called.module);
  const found = exports[called.export] as RegisteredFunction | undefined;
  if (typeof found === "function" || found?.isRouter === true) return found;
  throw new FunctionError(`Module ${called.module} has no function for '${called.path}' any more.`);
}

async function start(
  registered: RegisteredFunction,
  requestId: string,
  args: string,
): Promise<string> {
  if (registered.invokeQuery) return registered.invokeQuery(args);
  if (registered.invokeMutation) return registered.invokeMutation(args);
  if (registered.invokeAction) return registered.invokeAction(requestId, args);
  if (registered.runRequest) {
    const [{ head, path }] = JSON.parse(args) as [{ head: RequestHead; path: string }];
    return runRequest(registered as Router, head, path);
  }
  throw new FunctionError("The called export is neither a query nor a mutation nor an action.");
}
