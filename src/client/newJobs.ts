/**
 * Turns the options of an enqueue into the component's arguments: short forms written out, function references made
 * handles, payload and context checked against the queue's validators. It keeps nothing from call to call.
 */
import { createFunctionHandle, getFunctionName, type FunctionReference } from "convex/server";
import {
  checkJobOptions,
  conveyorError,
  kindOf,
  listIfGiven,
  MAX_RESETS_DEFAULT,
  retryRule,
  traceEnqueue,
  wrongKind,
  type JobOptions,
  type JobRules,
  type NewJob,
  type Prefer,
  type Tracer,
  type UniqueKey,
  withoutUndefined,
} from "../shared/index.js";
import { handlerOf, resetsFor, givenHandler } from "./handlerOptions.js";
import type { BatchOptions, EnqueueOptions, KeyOption, PreferOption } from "./enqueueTypes.js";
import type { ValueValidator } from "./types.js";
import { checkContext, checkPayload, checkValue, databaseOf } from "./validate.js";

/** The validators for the jobs of a queue, whether Convex runs them, and its `maxResets` if its definition has one. */
export interface Shape {
  queue: string;
  payload: ValueValidator;
  context: ValueValidator;
  push?: boolean | undefined;
  maxResets?: number | undefined;
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
    checkOptions("job", options, KNOWN);
    const { context } = options;
    if (context !== undefined) {
      checkContext(queue, shape.context, context, databaseOf(this.ctx));
      checkValue(queue, "context", context, "context");
    }
    const written = await this.optionsOf(options);
    checkJobOptions(written, Date.now());
    return { payload, options: written };
  }

  /** The jobs of a batch, of the trace `traceparent` where they name no other. */
  async makeAll(
    payloads: readonly unknown[],
    options: BatchOptions,
    traceparent: string | undefined,
  ): Promise<NewJob[]> {
    const jobs: NewJob[] = [];
    for (const [index, payload] of payloads.entries()) {
      const one = typeof options === "function" ? options(payload, index) : options;
      const own = typeof options === "function" ? one?.traceparent : undefined;
      const its = own ?? traceparent;
      const traced = its === undefined ? one : { ...one, traceparent: its };
      jobs.push(await this.make(payload, traced, `payloads[${index}]`));
    }
    return jobs;
  }

  private async optionsOf(options: EnqueueOptions): Promise<JobOptions> {
    const { key, tags, labels, prefer } = options;
    const rules = await this.rulesOf(options);
    return withoutUndefined({
      name: options.name,
      priority: options.priority,
      runAt: options.runAt,
      runAfter: options.runAfter,
      key: key === undefined ? undefined : keyOf(key),
      group: options.group,
      tags: listIfGiven("tags", tags),
      labels: listIfGiven("labels", labels),
      prefer: prefer === undefined ? undefined : preferOf(prefer),
      cost: options.cost,
      expiresAfterMs: options.expiresAfterMs,
      deadlineMs: options.deadlineMs,
      context: options.context,
      traceparent: options.traceparent,
      rules: Object.keys(rules).length === 0 ? undefined : rules,
    });
  }

  private async rulesOf(options: EnqueueOptions): Promise<JobRules> {
    const { retry, onComplete, onCompleteExclude, handler } = options;
    // The queue's own rule holds for all its jobs; a handler's kind has the default alone.
    const ofKind = handler !== undefined && this.shape.maxResets === undefined;
    if (handler !== undefined && typeof handler === "object" && isInline(handler))
      throw inlineOfJob();
    if (handler !== undefined && this.shape.push !== true) throw unheeded(this.shape.queue);
    return withoutUndefined({
      retry: retry === undefined ? undefined : retryRule(retry),
      maxResets:
        options.maxResets ??
        (ofKind ? (resetsFor(givenHandler(handler).kind) ?? MAX_RESETS_DEFAULT) : undefined),
      leaseMs: options.leaseMs,
      timeoutMs: options.timeoutMs,
      onComplete: onComplete === undefined ? undefined : await this.handleOf(onComplete),
      onCompleteExclude: listIfGiven("onCompleteExclude", onCompleteExclude),
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

/** Runs an enqueue in a span, where there is a tracer: its jobs are given the `traceparent` of that. */
export async function inSpan<T extends readonly { id: string }[]>(
  { name: queue, tracer }: { name: string; tracer: Tracer | undefined },
  options: EnqueueOptions,
  jobs: number,
  run: (options: EnqueueOptions) => Promise<T>,
): Promise<T> {
  if (tracer === undefined) return await run(options);
  const about = { queue, jobs, traceparent: options.traceparent };
  return await traceEnqueue(tracer, about, (traceparent) => run({ ...options, traceparent }));
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

/** The job would wait for workers outside, which run handlers of their own. */
function unheeded(queue: string): Error {
  return conveyorError(
    "invalidArgument",
    `A job of the queue "${queue}" cannot have a handler: the queue has none, so its jobs wait for workers outside. Add ` +
      "`perJob: true` to its definition, or name a handler there or with `handledBy`.",
    { argument: "handler", queue },
  );
}

function preferOf(prefer: PreferOption | null): Prefer {
  if (prefer !== null) checkOptions("preference", prefer, KNOWN_OF_PREFERENCE);
  const { labels, worker, forMs = 0 } = prefer ?? {};
  return { ...withoutUndefined({ labels: listIfGiven("prefer.labels", labels), worker }), forMs };
}

function keyOf(key: string | KeyOption): UniqueKey {
  if (typeof key === "string") return { value: key };
  if (typeof key !== "object" || key === null) {
    const instead = "Write the key as a text, or leave it out.";
    throw wrongKind("key", "a text, or an object with one as `value`", key, instead);
  }
  checkOptions("key", key, KNOWN_OF_KEY);
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

/** Each option that a type has: one that it is given later must be named here too. */
export type Known<Options> = { readonly [Option in keyof Required<Options>]: true };

const KNOWN_OF_KEY: Known<KeyOption> = { value: true, windowMs: true, onConflict: true };
const KNOWN_OF_PREFERENCE: Known<PreferOption> = { labels: true, worker: true, forMs: true };
const KNOWN: Known<EnqueueOptions> = {
  name: true,
  priority: true,
  runAt: true,
  runAfter: true,
  key: true,
  group: true,
  tags: true,
  labels: true,
  prefer: true,
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
  traceparent: true,
};

/** A misspelt option that did nothing would be found out in production. */
export function checkOptions(
  of: "job" | "queue" | "key" | "preference" | "retention",
  options: object,
  known: { readonly [option: string]: unknown },
): void {
  const got = kindOf(options);
  if (typeof options !== "object" || options === null || !isOptions(options)) {
    throw conveyorError(
      "invalidArgument",
      `The options of a ${of} must be an object; got ${got}. Leave them out, or write them as in \`{ retry: true }\`.`,
      { argument: "options", got },
    );
  }
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(known, option));
  if (unknown === undefined) return;
  throw conveyorError(
    "invalidArgument",
    `A ${of} has no option "${unknown}". It has ${Object.keys(known).join(", ")}.`,
    { argument: unknown },
  );
}

/** A promise of options has none of its own: all of them would be passed over. */
function isOptions(given: object): boolean {
  return !Array.isArray(given) && !("then" in given);
}
