/**
 * Runs one function for its host: from arguments in JSON to a result in JSON, or a `FunctionError`. Where it runs, in
 * this thread or in another, is the isolate's business; the host's system calls are the host's own.
 */
import type { JSONValue } from "convex/values";
import type { Host } from "./host.js";
import type { Target } from "./lookup.js";

/** A host that has a beginning and an end: one call's. */
export interface CallHost extends Host {
  /** Rejects when the function is not to go on, even inside an `await`: nothing inside can catch that. */
  readonly aborted: Promise<never>;
  /** The function runs, in this very thread. */
  begun(): void;
  /**
   * Waits for calls that the function started and did not await, and throws if one of them aborted it. True when
   * nothing of it is left running.
   */
  settle(): Promise<boolean>;
  /** The facts that do not change while the call runs, so that reading them needs no way back to here. */
  facts(): CallFacts;
}

export type CallFacts =
  | { kind: "action" }
  /** `measures`: `performance.now()` goes on, as in mutations. */
  | { kind: "transaction"; now: number; measures: boolean };

export interface Invocation {
  target: Target;
  host: CallHost;
  args: JSONValue;
  requestId: string;
}

/** Where one transaction or action runs, with all calls nested in it. */
export interface Isolate {
  run(invocation: Invocation): Promise<JSONValue>;
  /** Nothing more of it will run here. */
  close(): void;
}

export interface Isolation {
  open(): Isolate;
  /** Code of earlier pushes is not run any more, but by calls that have begun. */
  retire(): void;
  stop(): Promise<void>;
}

/** For a call that has an isolate of its own. */
export async function invoke(
  isolation: Isolation,
  target: Target,
  host: CallHost,
  args: JSONValue,
  requestId: string,
): Promise<JSONValue> {
  const isolate = isolation.open();
  try {
    return await isolate.run({ target, host, args, requestId });
  } finally {
    isolate.close();
  }
}

/** However the function ended, its system calls may still run: they end before the transaction is touched again. */
export async function untilSettled<T>(
  host: Pick<CallHost, "aborted" | "settle">,
  result: Promise<T>,
  settled: (clean: boolean) => void = () => {},
): Promise<T> {
  return Promise.race([result, host.aborted]).finally(async () => {
    settled(await host.settle());
  });
}
