/** How an app says what works on a job inside Convex, and what that comes to on the wire. */
import { createFunctionHandle, getFunctionName, type FunctionReference } from "convex/server";
import { v, type VString } from "convex/values";
import type { Handler } from "../shared/index.js";
import { vJobId } from "./appValidators.js";
import type { ValueValidator } from "./types.js";

type Reference<Kind extends "action" | "mutation" | "query"> =
  FunctionReference<Kind, "internal" | "public", any, any> | `function://${string}`;

/**
 * What works on a job inside Convex: an action; or, said which, an action, a mutation or a query, as a function reference or
 * a handle of another component's function. It is called with the payload as its arguments; with `job: true` with
 * `{ payload, job }` (see {@link Queue.handlerArgs}). What it returns is the job's result.
 *
 * - An *action* may do anything, and is run at most once an attempt.
 * - A *mutation* runs in the transaction that records its end: exactly once.
 * - A *query* returns a result, and may be run again.
 * - An *inline* handler is an action made by {@link Queue.worker}, for the whole queue: its jobs share one process. A job of
 *   such a queue that brings a handler of its own runs in that.
 *
 * An attempt that runs longer than its `timeoutMs` (10 minutes if nothing is said, 25 at most, 9 inline) counts as failed at
 * once; what an action goes on doing then is for nobody. One that throws fails with its message: `NonRetryableError` and
 * `RetryAfterError` say more. A function that is not there (yet) was never begun: its job waits for it.
 *
 * When a deploy gives the queue another handler, each job that is begun from then on has that. Only an inline handler goes
 * on in the lanes that run in it already: these begin jobs for up to 30 s more, and a function that runs keeps its code until
 * it ends.
 *
 * @example
 * handler: internal.emails.send
 * @example
 * handler: { mutation: internal.ledger.book, job: true }
 */
export type HandlerOption =
  | Reference<"action">
  | { action: Reference<"action">; job?: boolean }
  | { mutation: Reference<"mutation">; job?: boolean }
  | { query: Reference<"query">; job?: boolean }
  /** An action made by {@link Queue.worker}: jobs run in the lane's own process. */
  | { inline: Reference<"action"> };

/** What may work on a single job: its queue's lanes run in their own inline handler, and in no other. */
export type JobHandlerOption = Exclude<HandlerOption, { inline: unknown }>;

const KINDS = ["action", "mutation", "query", "inline"] as const;
type Kind = (typeof KINDS)[number];

interface Said {
  kind: Kind;
  reference: Reference<"action" | "mutation" | "query">;
  takes: Handler["takes"];
}

/** What was said, in its long form. */
export function saidHandler(option: HandlerOption): Said {
  const kind = typeof option === "string" ? undefined : KINDS.find((one) => one in option);
  if (kind === undefined || isReference(option)) {
    return { kind: "action", reference: option as Reference<"action">, takes: "payload" };
  }
  const { job = false, [kind]: reference } = option as unknown as Record<
    Kind,
    Said["reference"]
  > & {
    job?: boolean;
  };
  return { kind, reference, takes: job || kind === "inline" ? "job" : "payload" };
}

/** `internal.emails.send` answers to every property; only a reference has a name. */
function isReference(option: unknown): boolean {
  try {
    getFunctionName(option as FunctionReference<any>);
    return true;
  } catch {
    return false;
  }
}

/** What crosses to the component. */
export async function handlerOf(option: HandlerOption): Promise<Handler> {
  const { kind, reference, takes } = saidHandler(option);
  const handle =
    typeof reference === "string" ? reference : await createFunctionHandle(reference as never);
  return { kind, handle, takes };
}

/** How often a job may lose its lane: an action may have done what it was to do, the others have not. */
export function resetsFor(kind: Kind): number | undefined {
  return kind === "action" || kind === "inline" ? 0 : undefined;
}

/** The arguments of a handler that takes its job, for payloads of this validator. */
export function vHandlerArgs<VPayload extends ValueValidator, Name extends string>(
  payload: VPayload,
  name: Name,
) {
  return {
    payload,
    job: v.object({
      id: vJobId(name),
      queue: v.string() as VString<Name>,
      attempt: v.number(),
      failures: v.number(),
    }),
  };
}

/** The type of {@link vHandlerArgs}'s answer, which TypeScript can only name by what makes it. */
export type VHandlerArgs<VPayload extends ValueValidator, Name extends string> = ReturnType<
  typeof vHandlerArgs<VPayload, Name>
>;
