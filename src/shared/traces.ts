/**
 * Traces: the parent that a job carries with it, and the spans of its enqueue, its waits and its attempts. The tracer is the
 * app's, in the shape of `@opentelemetry/api`, of which nothing is imported: an app without traces has nothing to bundle.
 *
 * No fault of a tracer harms a job: each of its calls is guarded, and the first that throws is told to the console.
 */
import { conveyorError, errorText } from "./errors.js";

/** The ids of a span. */
export interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  isRemote?: boolean;
}

/** A span, as far as it is used here. */
export interface TracerSpan {
  spanContext(): SpanContext;
  setAttribute(key: string, value: string | number | boolean): unknown;
  recordException(exception: { name?: string; message: string; stack?: string }): void;
  setStatus(status: { code: number; message?: string }): unknown;
  end(endTime?: number): void;
}

interface SpanOptions {
  kind: number;
  attributes: Record<string, string | number>;
  startTime?: number;
  root?: boolean;
}

/**
 * A maker of spans: `trace.getTracer("worker")` of `@opentelemetry/api`, or any object with `startSpan` of that shape. With
 * `startActiveSpan` handlers run inside the span of their attempt.
 */
export interface Tracer {
  startSpan(name: string, options?: any, context?: any): TracerSpan;
  startActiveSpan?(name: string, options: any, context: any, run: (span: any) => unknown): unknown;
}

/** The kinds and the status of spans, as their exporters read them. */
const INTERNAL = 0;
const PRODUCER = 3;
const CONSUMER = 4;
const ERROR = 2;

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NOTHING = /^0+$/;

/** Refuses a `traceparent` that no tracer could be given as a parent. */
export function checkTraceparent(given: string): void {
  if (parentOf(given) !== undefined) return;
  const got = String(given).slice(0, 100);
  throw conveyorError(
    "invalidArgument",
    'A traceparent must be of the form "00-<32 hex digits>-<16 hex digits>-<2 hex digits>", in lower case, with ids that are ' +
      `not all zeros; got ${JSON.stringify(got)}. Pass it as the header of that name has it, or leave it out.`,
    { argument: "traceparent", got },
  );
}

function parentOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = "0", spanId = "0", flags = ""] = TRACEPARENT.exec(traceparent ?? "") ?? [];
  if (NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
}

/** Of a span; undefined for one without ids, as a tracer without an exporter makes them. */
function traceparentOf(span: TracerSpan): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = (traceFlags & 0xff).toString(16).padStart(2, "0");
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  return parentOf(traceparent) === undefined ? undefined : traceparent;
}

/** The key under which a context of `@opentelemetry/api` has its span. */
const SPAN_KEY = Symbol.for("OpenTelemetry Context Key SPAN");

/** A context with nothing but a span that another process has begun. */
class RemoteContext {
  constructor(private readonly values: ReadonlyMap<symbol, unknown>) {}

  getValue(key: symbol): unknown {
    return this.values.get(key);
  }

  setValue(key: symbol, value: unknown): RemoteContext {
    return new RemoteContext(new Map(this.values).set(key, value));
  }

  deleteValue(key: symbol): RemoteContext {
    return new RemoteContext(new Map([...this.values].filter(([one]) => one !== key)));
  }
}

function contextOf(parent: SpanContext | undefined): RemoteContext | undefined {
  if (parent === undefined) return undefined;
  return new RemoteContext(new Map([[SPAN_KEY, { spanContext: () => parent }]]));
}

let hasWarned = false;

/** The value of a tracer's call, or undefined where it throws. */
function guarded<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (!hasWarned) console.warn(`[conveyor] a tracer threw, and jobs go on: ${errorText(error)}`);
    hasWarned = true;
    return undefined;
  }
}

/** A span that is begun, or none where there is no tracer or it has thrown. Ended once. */
class Traced {
  /** Of this span, where it has one. */
  readonly traceparent: string | undefined;
  protected isOver = false;

  constructor(private readonly span: TracerSpan | undefined) {
    this.traceparent = span === undefined ? undefined : guarded(() => traceparentOf(span));
  }

  set(key: string, value: string | number): void {
    guarded(() => this.span?.setAttribute(key, value));
  }

  /** With a message it has failed. */
  end(error?: { message: string; thrown?: unknown }): void {
    const { span } = this;
    if (span === undefined || this.isOver) return;
    this.isOver = true;
    if (error !== undefined) {
      guarded(() => span.recordException(exceptionOf(error)));
      guarded(() => span.setStatus({ code: ERROR, message: error.message }));
    }
    guarded(() => span.end());
  }
}

function exceptionOf({ message, thrown }: { message: string; thrown?: unknown }) {
  return thrown instanceof Error ? thrown : { name: "Error", message };
}

// --- The enqueue --------------------------------------------------------------------------------

/** Jobs that are enqueued together. */
interface Enqueuing {
  queue: string;
  jobs: number;
  /** The parent that the app names; without one, the span that is active. */
  traceparent: string | undefined;
}

/** Runs an enqueue in a span. `run` is given the `traceparent` for the jobs, and returns their ids. */
export async function traceEnqueue<T extends readonly { id: string }[]>(
  tracer: Tracer,
  { queue, jobs, traceparent }: Enqueuing,
  run: (traceparent: string | undefined) => Promise<T>,
): Promise<T> {
  if (traceparent !== undefined) checkTraceparent(traceparent);
  const attributes = { ...about("enqueue", queue), ...(jobs === 1 ? {} : countOf(jobs)) };
  const context = contextOf(parentOf(traceparent));
  const options: SpanOptions = { kind: PRODUCER, attributes };
  const traced = new Traced(guarded(() => tracer.startSpan(`enqueue ${queue}`, options, context)));
  try {
    const result = await run(traced.traceparent ?? traceparent);
    if (jobs === 1) traced.set(JOB_ID, result[0]!.id);
    traced.end();
    return result;
  } catch (error) {
    traced.end({ message: errorText(error), thrown: error });
    throw error;
  }
}

const JOB_ID = "messaging.message.id";

function about(operation: string, queue: string): SpanOptions["attributes"] {
  return {
    "messaging.system": "conveyor",
    "messaging.operation.name": operation,
    "messaging.destination.name": queue,
  };
}

function countOf(jobs: number): SpanOptions["attributes"] {
  return { "messaging.batch.message_count": jobs };
}

// --- The attempt --------------------------------------------------------------------------------

/** The facts of an attempt that its spans show. */
export interface TracedJob {
  id: string;
  queue: string;
  attempt: number;
  enqueuedAt: number;
  claimableAt?: number | undefined;
  traceparent?: string | undefined;
}

/** The span of one attempt, which is ended once. */
export class TracedAttempt extends Traced {
  /** @param outcome How it ended: `succeeded`, `failed`, `snoozed`, `released`, `canceled`, or `lost`. */
  ended(outcome: { kind: string; error?: string | undefined }, thrown?: unknown): void {
    if (this.isOver) return;
    this.set("conveyor.outcome", outcome.kind);
    const { kind, error: message = "" } = outcome;
    this.end(kind === "failed" ? { message, thrown } : undefined);
  }
}

/**
 * Begins the span of an attempt, a child of the job's `traceparent`, and runs the handler inside it where the tracer can.
 * `run` is called exactly once, whatever the tracer does, and must not throw before it returns.
 *
 * @param worker The name of the process; none in a lane.
 */
export function traceAttempt<T>(
  tracer: Tracer,
  job: TracedJob,
  worker: string | undefined,
  run: (traced: TracedAttempt) => T,
): T {
  const parent = parentOf(job.traceparent);
  const facts = {
    ...{ [JOB_ID]: job.id, "conveyor.attempt": job.attempt },
    ...(worker === undefined ? {} : { "messaging.client.id": worker }),
  };
  const options: SpanOptions = {
    ...{ kind: CONSUMER, attributes: { ...about("attempt", job.queue), ...facts } },
    // The span that was active when the worker began is no parent of its jobs.
    ...(parent === undefined ? { root: true } : {}),
  };
  if (parent !== undefined) traceWait(tracer, job, { parent, facts });
  const name = `attempt ${job.queue}`;
  const context = contextOf(parent);
  let begun: { value: T } | undefined;
  const once = (span?: TracerSpan): T => {
    begun ??= { value: run(new TracedAttempt(span)) };
    return begun.value;
  };
  guarded(() =>
    tracer.startActiveSpan === undefined
      ? once(tracer.startSpan(name, options, context))
      : tracer.startActiveSpan(name, options, context, once),
  );
  return once();
}

/** The span of a wait: from when the job became claimable. It is over when it is told. */
function traceWait(
  tracer: Tracer,
  { queue, attempt, enqueuedAt, claimableAt }: TracedJob,
  { parent, facts }: { parent: SpanContext; facts: SpanOptions["attributes"] },
): void {
  const since = claimableAt ?? (attempt === 1 ? enqueuedAt : undefined);
  if (since === undefined) return;
  const attributes = { ...about("wait", queue), ...facts };
  const options: SpanOptions = { kind: INTERNAL, attributes, startTime: since };
  // The two clocks may differ: no span ends before it begins.
  const until = Math.max(since, Date.now());
  guarded(() => tracer.startSpan(`wait ${queue}`, options, contextOf(parent)).end(until));
}
