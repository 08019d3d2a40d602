/** How an app names a handler inside Convex, and its form on the wire. */
import { createFunctionHandle, getFunctionName, type FunctionReference } from "convex/server";
import { v, type VString } from "convex/values";
import {
  checkBatch,
  conveyorError,
  functionNotFound,
  PARALLELISM_DEFAULT,
  vJobFacts,
  type CheckedBatching,
  type Handler,
} from "../shared/index.js";
import { vJobId } from "./appValidators.js";
import type { ValueValidator } from "./types.js";

export type Reference<Kind extends "action" | "mutation" | "query"> =
  FunctionReference<Kind, "internal" | "public", any, any> | `function://${string}`;

/**
 * A function inside Convex that exists: an action; or, said which, an action, a mutation or a query, as a function reference
 * or a handle of another component's function. Its argument is the payload, and its return value is the job's result.
 * `job: true`: it takes `{ payload, job }`, as a function that a queue has made, or one that declares
 * {@link Queue.handlerArgs}.
 *
 * @example
 * emails.handledBy(internal.emails.send);
 * @example
 * await emails.enqueue(ctx, mail, { handler: { mutation: internal.ledger.book } });
 */
export type HandlerOption =
  | Reference<"action">
  | { action: Reference<"action">; job?: boolean }
  | { mutation: Reference<"mutation">; job?: boolean }
  | { query: Reference<"query">; job?: boolean };

const KINDS = ["action", "mutation", "query", "inline"] as const;
export type Kind = (typeof KINDS)[number];

/** A queue's handler, as its definition names it: the reference is resolved when it is needed, and not before. */
export interface NamedHandler {
  kind: Kind;
  name: () => unknown;
}

/** The handler that a definition names. Throws for two, and for a reference in place of a function that returns it. */
export function namedHandler(
  queue: string,
  options: { readonly [Each in Kind]?: unknown },
): NamedHandler | undefined {
  const named = KINDS.filter((kind) => options[kind] !== undefined);
  const [kind] = named;
  if (kind === undefined) return undefined;
  if (named.length > 1) {
    throw conveyorError(
      "invalidArgument",
      `The queue "${queue}" names ${named.map((one) => `\`${one}\``).join(" and ")}, and a queue has one handler. ` +
        "Leave one of them; a single job may have another with enqueue's `handler`.",
      { queue, argument: named[1]! },
    );
  }
  const name = options[kind];
  checkNamed(queue, kind, name);
  return { kind, name: name as () => unknown };
}

/** Refuses a reference in place of a function that returns it. */
export function checkNamed(queue: string, option: string, name: unknown): void {
  if (name === undefined || typeof name === "function") return;
  throw conveyorError(
    "invalidArgument",
    `\`${option}\` of the queue "${queue}" must be a function that returns the reference, so that it is looked up when it is ` +
      `needed. Write \`${option}: () => internal.…\`.`,
    { queue, argument: option },
  );
}

/** The wire form of the `onComplete` that a definition names. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-function-type
export async function callbackOf(queue: string, name: Function): Promise<string> {
  return await deployed(queue, "onComplete", name() as Reference<"mutation">);
}

/** The wire form of the handler that a definition names. */
export async function handlerNamed(queue: string, { kind, name }: NamedHandler): Promise<Handler> {
  return { kind, handle: await deployed(queue, kind, name() as Reference<"action">), takes: "job" };
}

/** The platform names the function that is not there, and neither the queue nor the option that asks for it. */
async function deployed(
  queue: string,
  option: string,
  reference: Reference<"action" | "mutation">,
): Promise<string> {
  try {
    return await handleOf(reference);
  } catch (error) {
    const missing = functionNotFound(error);
    if (missing === null || missing === "") throw error;
    throw conveyorError(
      "handlerMissing",
      `\`${option}\` of the queue "${queue}" names ${missing}, and the deployment has no such function. Export it from its ` +
        "module, or correct the queue's definition, and deploy again.",
      { queue, argument: option, got: missing },
    );
  }
}

/** The wire form of a reference, or of a handle of another component's function. */
export async function handleOf(
  reference: Reference<"action" | "mutation" | "query">,
): Promise<string> {
  if (typeof reference === "string") return reference;
  return await createFunctionHandle(reference as never);
}

interface GivenHandler {
  kind: Exclude<Kind, "inline">;
  reference: Reference<"action" | "mutation" | "query">;
  takes: Handler["takes"];
}

/** The option in its long form. */
export function givenHandler(option: HandlerOption): GivenHandler {
  const kind = typeof option === "string" ? undefined : KINDS.find((one) => one in option);
  if (kind === undefined || kind === "inline" || isReference(option)) {
    return { kind: "action", reference: option as Reference<"action">, takes: "payload" };
  }
  const given = option as unknown as Record<Kind, GivenHandler["reference"]> & { job?: boolean };
  return { kind, reference: given[kind], takes: given.job === true ? "job" : "payload" };
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

/** The handler's form on the wire. */
export async function handlerOf(option: HandlerOption): Promise<Handler> {
  const { kind, reference, takes } = givenHandler(option);
  return { kind, handle: await handleOf(reference), takes };
}

/** How often a job may lose its lane: an action may have had its effects, a query or mutation has not. */
export function resetsFor(kind: Kind): number | undefined {
  return kind === "action" || kind === "inline" ? 0 : undefined;
}

/** The arguments of a handler that takes its job, for payloads of this validator. */
export function vHandlerArgs<VPayload extends ValueValidator, Name extends string>(
  payload: VPayload,
  name: Name,
) {
  const facts = { ...vJobFacts.fields, id: vJobId(name), queue: v.string() as VString<Name> };
  return { payload, job: v.object(facts) };
}

/** The type of {@link vHandlerArgs}'s answer, which TypeScript can only name by the function that returns it. */
export type VHandlerArgs<VPayload extends ValueValidator, Name extends string> = ReturnType<
  typeof vHandlerArgs<VPayload, Name>
>;

/** The queue's option `batch`, checked. */
export function batchingOf(
  name: string,
  {
    batch,
    inline,
    maxParallelism = PARALLELISM_DEFAULT,
  }: { batch?: unknown; inline?: unknown; maxParallelism?: number },
): CheckedBatching | undefined {
  if (batch === undefined) return undefined;
  const batching = checkBatch(`the queue "${name}"`, batch);
  if (inline === undefined) throw batchWithoutInline(name);
  if (batching.size <= maxParallelism) return batching;
  throw conveyorError(
    "invalidArgument",
    `batch.size of the queue "${name}" must be at most its maxParallelism, ${maxParallelism}; got ${batching.size}. ` +
      "No batch would be full. Raise `maxParallelism`, or lower the size.",
    { argument: "batch.size", queue: name, got: batching.size, max: maxParallelism },
  );
}

function batchWithoutInline(name: string): Error {
  return conveyorError(
    "invalidArgument",
    `batch of the queue "${name}" is for an inline handler, and the definition names none. Make the handler with ` +
      `\`${name}.inline(…)\` and name it as \`inline\`; a worker outside has \`batch\` beside its handler; a mutation needs ` +
      "none: its lane runs up to 16 jobs in one transaction.",
    { argument: "batch", queue: name },
  );
}
