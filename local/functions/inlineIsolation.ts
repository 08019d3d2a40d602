/**
 * Functions in the backend's own thread, each in a sandbox of its own. For virtual time, where nothing may depend on
 * another thread's pace: a function here that never ends is not stopped.
 */
import type { JSONValue } from "convex/values";
import { wallEnvironment, type Environment } from "../environment.js";
import { callIn } from "./calling.js";
import type { Invocation, Isolation } from "./invoke.js";
import { resultOf } from "./json.js";
import { calledOf } from "./lookup.js";
import { followContexts } from "./rejections.js";
import { createSandboxPool, type SandboxPool } from "./sandboxPool.js";
import { stateError } from "./stateWatch.js";
import type { Contexts, StateChange } from "./types.js";
import { toFunctionError } from "./uncaught.js";

export function inlineIsolation(env: Environment, options: InlineOptions = {}): Isolation {
  const sandboxes = options.sandboxes ?? createSandboxPool(env, options);
  // Not the call's error, since app code may catch that: the driver of the clock gets it.
  const tell = (change: StateChange): void => {
    env.timer(0, () => {
      throw stateError(change);
    });
  };
  const isolate = {
    run: (invocation: Invocation) => run(sandboxes, invocation, tell),
    close: () => {},
  };
  const stopFollowing = env === wallEnvironment ? followContexts() : () => {};
  return { open: () => isolate, retire: () => {}, stop: async () => stopFollowing() };
}

export interface InlineOptions {
  contexts?: Contexts | undefined;
  carried?: readonly string[] | undefined;
  sandboxes?: SandboxPool | undefined;
}

async function run(
  sandboxes: SandboxPool,
  { target, host, args, requestId }: Invocation,
  tell: (change: StateChange) => void,
): Promise<JSONValue> {
  const { instance } = target;
  const sandbox = sandboxes.take(instance);
  let clean = false;
  try {
    const call = { requestId, args: JSON.stringify([args]) };
    const result = await callIn(sandbox, calledOf(target), host, call, (left) => (clean = left));
    return resultOf(result, target.address.path);
  } catch (thrown) {
    throw toFunctionError(thrown, instance.definition.modules);
  } finally {
    const change = clean ? sandboxes.give(instance, sandbox, target.address.path) : null;
    if (change !== null) tell(change);
  }
}
