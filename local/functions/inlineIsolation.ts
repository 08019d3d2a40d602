/**
 * Functions in the backend's own thread, each in a sandbox of its own. For virtual time, where nothing may depend on
 * another thread's pace: nobody stops a function here that never ends.
 */
import type { JSONValue } from "convex/values";
import type { Environment } from "../environment.js";
import { callIn } from "./calling.js";
import type { Invocation, Isolation } from "./invoke.js";
import { calledOf } from "./lookup.js";
import { createSandboxPool, type SandboxPool } from "./sandboxPool.js";
import { stateError } from "./stateWatch.js";
import type { Contexts } from "./types.js";
import { toFunctionError } from "./uncaught.js";

export function inlineIsolation(env: Environment, options: InlineOptions = {}): Isolation {
  const { contexts, carried = [] } = options;
  const sandboxes = createSandboxPool(env, contexts, carried, (change) => {
    // Not the call's error, which somebody may catch: it is told to whoever drives the clock.
    env.timer(0, () => {
      throw stateError(change);
    });
  });
  const isolate = {
    run: (invocation: Invocation) => run(sandboxes, invocation),
    close: () => {},
  };
  return { open: () => isolate, retire: () => {}, stop: () => Promise.resolve() };
}

export interface InlineOptions {
  contexts?: Contexts | undefined;
  carried?: readonly string[] | undefined;
}

async function run(
  sandboxes: SandboxPool,
  { target, host, args, requestId }: Invocation,
): Promise<JSONValue> {
  const { instance } = target;
  const sandbox = sandboxes.take(instance);
  let clean = false;
  try {
    const call = { requestId, args: JSON.stringify([args]) };
    const result = await callIn(sandbox, calledOf(target), host, call, (left) => (clean = left));
    return JSON.parse(result) as JSONValue;
  } catch (thrown) {
    throw toFunctionError(thrown, instance.definition.modules);
  } finally {
    if (clean) sandboxes.give(instance, sandbox, target.address.path);
  }
}
