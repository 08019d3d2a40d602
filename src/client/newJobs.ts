/**
 * Turns the options of an enqueue into the component's arguments: short forms written out, function references made
 * handles, payload and context checked against the queue's validators. It keeps nothing from call to call.
 */
import { createFunctionHandle, getFunctionName, type FunctionReference } from "convex/server";
import {
  checkJobOptions,
  conveyorError,
  MAX_RESETS_DEFAULT,
  retryRule,
  type JobOptions,
  type JobRules,
  type NewJob,
  type UniqueKey,
} from "../shared/index.js";
import { handlerOf, resetsFor, saidHandler } from "./handlerOptions.js";
import type { EnqueueOptions, KeyOption } from "./enqueueTypes.js";
import type { ValueValidator } from "./types.js";
import { checkContext, checkPayload, checkValue, databaseOf } from "./validate.js";

/** The validators for the jobs of a queue. */
export interface Shape {
  queue: string;
  payload: ValueValidator;
  context: ValueValidator;
}

/** Makes jobs for one call: a callback that many of them name is resolved once. */
export class NewJobs {
  private readonly handles = new Map<unknown, Promise<string>>();

  constructor(
    private readonly shape: Shape,
    /** Of the call. In a mutation ids are checked to be of their table; an action has no `db` to ask. */
    private readonly ctx: object = {},
  ) {}

  /** `root` names the payload in errors: `payload`, or `payloads[3]`. */
  async make(payload: unknown, options: EnqueueOptions = {}, root = "payload"): Promise<NewJob> {
    const { queue, ...shape } = this.shape;
    checkPayload(queue, shape.payload, payload, root, databaseOf(this.ctx));
    checkValue(queue, "payload", payload, root);
    checkKnown(options);
    const { context } = options;
    if (context !== undefined) {
      checkContext(queue, shape.context, context);
      checkValue(queue, "context", context, "context");
    }
    const written = await this.optionsOf(options);
    checkJobOptions(written, Date.now());
    return { payload, options: written };
  }

  private async optionsOf(options: EnqueueOptions): Promise<JobOptions> {
    const { key, tags, labels } = options;
    const rules = await this.rulesOf(options);
    return withoutUndefined({
      name: options.name,
      priority: options.priority,
      runAt: options.runAt,
      runAfter: options.runAfter,
      key: key === undefined ? undefined : keyOf(key),
      group: options.group,
      tags: tags && [...tags],
      labels: labels && [...labels],
      cost: options.cost,
      expiresAfterMs: options.expiresAfterMs,
      deadlineMs: options.deadlineMs,
      context: options.context,
      rules: Object.keys(rules).length === 0 ? undefined : rules,
    });
  }

  private async rulesOf(options: EnqueueOptions): Promise<JobRules> {
    const { retry, onComplete, onCompleteExclude, handler } = options;
    if (handler !== undefined && typeof handler === "object" && isInline(handler))
      throw inlineOfJob();
    return withoutUndefined({
      retry: retry === undefined ? undefined : retryRule(retry),
      maxResets:
        options.maxResets ??
        (handler && (resetsFor(saidHandler(handler).kind) ?? MAX_RESETS_DEFAULT)),
      leaseMs: options.leaseMs,
      timeoutMs: options.timeoutMs,
      onComplete: onComplete === undefined ? undefined : await this.handleOf(onComplete),
      onCompleteExclude: onCompleteExclude && [...onCompleteExclude],
      handler: handler && (await handlerOf(handler)),
    });
  }

  private async handleOf(callback: NonNullable<EnqueueOptions["onComplete"]>): Promise<string> {
    if (typeof callback === "string") return callback;
    const name = nameOf(callback);
    const handle = this.handles.get(name) ?? createFunctionHandle(callback);
    this.handles.set(name, handle);
    return await handle;
  }
}

/** `internal.emails.send` answers to every property; only a plain object has it as its own. */
function isInline(handler: object): boolean {
  return Object.hasOwn(handler, "inline");
}

function inlineOfJob(): Error {
  return conveyorError(
    "invalidArgument",
    "A job of its own cannot have an inline handler: the queue's lanes run in it. Give the job an action, a mutation or a " +
      "query, or enqueue it into a queue that has this inline handler.",
    { argument: "handler" },
  );
}

function keyOf(key: string | KeyOption): UniqueKey {
  if (typeof key === "string") return { value: key };
  const { value, windowMs, onConflict } = key;
  return { value, ...withoutUndefined({ windowMs, onConflict }) };
}

/** `internal.a.b` is another object each time it is written; a reference into a component has no name. */
function nameOf(callback: FunctionReference<"mutation", "internal" | "public">): unknown {
  try {
    return getFunctionName(callback);
  } catch {
    return callback;
  }
}

const KNOWN: { readonly [Option in keyof Required<EnqueueOptions>]: true } = {
  name: true,
  priority: true,
  runAt: true,
  runAfter: true,
  key: true,
  group: true,
  tags: true,
  labels: true,
  cost: true,
  expiresAfterMs: true,
  deadlineMs: true,
  timeoutMs: true,
  leaseMs: true,
  maxResets: true,
  retry: true,
  onComplete: true,
  onCompleteExclude: true,
  handler: true,
  context: true,
};

/** A misspelt option that did nothing would be found out in production. */
function checkKnown(options: EnqueueOptions): void {
  const unknown = Object.keys(options).find((option) => !(option in KNOWN));
  if (unknown === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `A job has no option "${unknown}". It has ${Object.keys(KNOWN).join(", ")}.`,
    { argument: unknown },
  );
}

/** The fields that are there: an undefined field crosses no wire, and would count as set. */
function withoutUndefined<T extends object>(
  fields: T,
): { [F in keyof T]?: Exclude<T[F], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}
