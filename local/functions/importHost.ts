/**
 * The host of code that runs outside any call: while modules are imported, definitions evaluated, functions analyzed;
 * and of code that a call left behind. It has time and randomness, and refuses the rest.
 */
import type { Environment } from "../environment.js";
import type { Host } from "./host.js";

export function importHost(
  env: Pick<Environment, "now" | "random" | "randomBytes" | "outside">,
): Host {
  return {
    now: () => Math.floor(env.now()),
    performanceNow: () => 0,
    random: () => env.random(),
    randomBytes: (length) => env.randomBytes(length),
    log: () => {},
    syscall: (operation) => {
      throw refusal(operation);
    },
    asyncSyscall: (operation) => Promise.reject(refusal(operation)),
    effects: (what) => {
      throw new Error(
        `Can't use ${what} at import time: a module may only define things. Please move the call into a function.`,
      );
    },
    importsDynamically: () => true,
    rejected: () => {},
    outside: (work) => env.outside(work),
    track: (work) => work,
  };
}

function refusal(operation: string): Error {
  return new Error(
    `"${operation}" was called outside of a running function: while a module was imported, or after its call had ` +
      `ended. Await every promise before the handler returns.`,
  );
}
