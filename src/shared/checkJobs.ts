/**
 * Checks of new jobs, used where an app enqueues many and again where they arrive. Pure. Each throws with the rule, the
 * value and the way out; nothing is written before all jobs of a call have passed.
 */
import type { Value } from "convex/values";
import { checkRules } from "./checkConfig.js";
import { checkInteger, checkLabel, checkLength, checkWord } from "./checks.js";
import { conveyorError } from "./errors.js";
import {
  COST_MAX,
  DEADLINE_MAX_MS,
  DEADLINE_MIN_MS,
  EXPIRES_MAX_MS,
  EXPIRES_MIN_MS,
  GROUP_MAX_LENGTH,
  INLINE_MAX_BYTES,
  JOB_NAME_MAX_LENGTH,
  KEY_MAX_LENGTH,
  KEY_WINDOW_MAX_MS,
  LABELS_MAX,
  NAME_MAX_LENGTH,
  RUN_AT_FUTURE_MAX_MS,
  RUN_AT_PAST_MAX_MS,
  TAGS_MAX,
} from "./limits.js";
import { PREFER_MAX_BYTES, PREFER_MAX_MS, PREFER_MIN_MS } from "./lookLimits.js";
import { PRIORITY_MAX, PRIORITY_MIN } from "./order.js";
import { vOnConflict, type JobOptions, type NewJob, type Prefer } from "./protocol.js";
import { textBytes } from "./text.js";
import { checkTraceparent } from "./traces.js";
import { checkStorable, kindOf } from "./values.js";

/**
 * A label of workers, as in `gpu`, `region:eu-west` or `cuda-12.4`, or the least of a number, as in `vramGb>=24`: no comma,
 * which separates labels in a route's name.
 */
const WORKER_LABEL = /^[A-Za-z0-9_.:-]+(>=\d{1,15}(\.\d{1,9})?)?$/;

const ON_CONFLICT = vOnConflict.members.map(({ value }) => value);

/** The share of a new job in its transaction. */
export interface JobWeight {
  /** Of its payload, its context, and the texts of its options. */
  bytes: number;
  /** Rows that it writes: the job itself and the rows beside it. */
  rows: number;
  keys: number;
  /** Jobs that it may end, each with an `onComplete` to call. */
  replaces: number;
}

/** One new job, at the time of its enqueue. */
export function checkNewJob({ payload, options = {} }: NewJob, now: number): JobWeight {
  const sizes = [checkStorable("A payload", payload as Value)];
  const { context } = options as { context?: Value };
  if (context !== undefined) sizes.push(checkStorable("A context", context));
  checkJobOptions(options, now);
  const keys = options.key === undefined ? 0 : 1;
  const bounds = [options.expiresAfterMs, options.deadlineMs, options.prefer];
  const expiries = bounds.filter((bound) => bound !== undefined).length;
  return {
    bytes: [...sizes, ...textsOf(options).map(textBytes)].reduce((sum, bytes) => sum + bytes, 0),
    rows: 1 + sizes.filter((bytes) => bytes > INLINE_MAX_BYTES).length + keys + expiries,
    keys,
    replaces: options.key?.onConflict === "replace" ? 1 : 0,
  };
}

function textsOf({ name, key, group, tags = [], labels = [], prefer }: JobOptions): string[] {
  const texts = [name, key?.value, group, ...tags, ...labels, prefer?.worker];
  return [...texts, ...(prefer?.labels ?? [])].filter((text) => text !== undefined);
}

/** The options of a new job, without its context. */
export function checkJobOptions(options: JobOptions, now: number): void {
  const { name, priority, key, group, tags, labels, prefer, cost } = options;
  const { expiresAfterMs, rules, traceparent } = options;
  if (name !== undefined) checkLabel("The name of a job", name, JOB_NAME_MAX_LENGTH);
  if (priority !== undefined) checkInteger("priority", priority, PRIORITY_MIN, PRIORITY_MAX);
  if (key !== undefined) {
    checkLabel("The key of a job", key.value, KEY_MAX_LENGTH);
    if (key.windowMs !== undefined) {
      checkInteger("windowMs of a key", key.windowMs, 1, KEY_WINDOW_MAX_MS);
    }
    if (key.onConflict !== undefined) checkWord("onConflict of a key", key.onConflict, ON_CONFLICT);
  }
  if (group !== undefined) checkLabel("The group of a job", group, GROUP_MAX_LENGTH);
  if (tags !== undefined) {
    checkLength("The tags of a job", tags, 0, TAGS_MAX);
    for (const tag of tags) checkLabel("A tag", tag);
  }
  if (labels !== undefined) checkLabels("The labels of a job", labels);
  if (prefer !== undefined) checkPrefer(prefer);
  if (cost !== undefined) checkInteger("cost", cost, 1, COST_MAX);
  if (expiresAfterMs !== undefined) {
    checkInteger("expiresAfterMs", expiresAfterMs, EXPIRES_MIN_MS, EXPIRES_MAX_MS);
  }
  if (traceparent !== undefined) checkTraceparent(traceparent);
  if (rules !== undefined) checkRules(rules);
  const dueAt = dueTime(options, now);
  const { deadlineMs } = options;
  if (deadlineMs === undefined) return;
  checkInteger("deadlineMs", deadlineMs, DEADLINE_MIN_MS, DEADLINE_MAX_MS);
  checkDeadline(dueAt ?? now, deadlineMs, now);
}

/** A job that falls due behind its deadline could never begin. */
export function checkDeadline(dueAt: number, deadlineMs: number, now: number): void {
  const inMs = Math.ceil(dueAt - now);
  if (inMs < deadlineMs) return;
  throw conveyorError(
    "invalidArgument",
    `A job must fall due before its deadline; this one is due in ${inMs} ms, and deadlineMs is ${deadlineMs}, counted from ` +
      "the enqueue on. Give it a longer deadlineMs, or let it fall due earlier.",
    { argument: "deadlineMs", got: deadlineMs, dueInMs: inMs },
  );
}

/** Labels of a job or of a worker. */
export function checkLabels(what: string, labels: readonly string[]): void {
  checkLength(what, labels, 0, LABELS_MAX);
  for (const label of labels) {
    const isText = typeof label === "string" && label.length <= NAME_MAX_LENGTH;
    if (isText && WORKER_LABEL.test(label)) continue;
    const cut = String(label).slice(0, 100);
    throw conveyorError(
      "invalidArgument",
      `A label must be 1 to ${NAME_MAX_LENGTH} letters, digits, "_", "-", "." or ":", or these and the least of a number, as in "vramGb>=24"; got ${JSON.stringify(cut)}.`,
      { argument: "labels", got: cut },
    );
  }
}

/** A preference names labels that it prefers, a worker, or both. */
function checkPrefer({ labels, worker, forMs }: Prefer): void {
  if (labels === undefined && worker === undefined) {
    throw conveyorError(
      "invalidArgument",
      "A preference names labels of the workers that it is for, or a worker; this one names neither. " +
        "Give it `labels` or `worker`, or leave `prefer` out.",
      { argument: "prefer" },
    );
  }
  if (labels !== undefined) {
    checkLength("The preferred labels of a job", labels, 1, LABELS_MAX);
    checkLabels("The preferred labels of a job", labels);
  }
  if (worker !== undefined) checkLabel("The preferred worker of a job", worker);
  checkInteger("forMs of a preference", forMs, PREFER_MIN_MS, PREFER_MAX_MS);
  const words = [...(labels ?? []), worker ?? ""].join("");
  const { length: bytes } = new TextEncoder().encode(words);
  if (bytes <= PREFER_MAX_BYTES) return;
  throw conveyorError(
    "invalidArgument",
    `The labels and the worker of a preference may have ${PREFER_MAX_BYTES} bytes together; these have ${bytes}. ` +
      "Name fewer labels, or one label that stands for them.",
    { argument: "prefer", got: bytes, max: PREFER_MAX_BYTES },
  );
}

/** Code without types passes dates and texts, which compare as numbers do. */
function checkTime(what: "runAt" | "runAfter", given: unknown): void {
  if (given === undefined || typeof given === "number") return;
  const wayOut =
    what === "runAt"
      ? "milliseconds since 1970, as `date.getTime()` is"
      : "milliseconds from now on, as 60_000 is for a minute";
  throw conveyorError(
    "invalidArgument",
    `${what} must be a number; got ${kindOf(given)}. Pass ${wayOut}.`,
    { argument: what, got: kindOf(given) },
  );
}

/** When the job falls due; `null` for at once, which a time in the past is too. */
export function dueTime(
  { runAt, runAfter }: { runAt?: number | undefined; runAfter?: number | undefined },
  now: number,
): number | null {
  if (runAt !== undefined && runAfter !== undefined) {
    throw conveyorError(
      "invalidArgument",
      `A job takes runAt or runAfter, not both; got ${runAt} and ${runAfter}. Leave one of them out.`,
      { argument: "runAt" },
    );
  }
  checkTime("runAt", runAt);
  checkTime("runAfter", runAfter);
  if (runAfter !== undefined && runAfter < 0) {
    throw conveyorError(
      "invalidArgument",
      `runAfter must be 0 milliseconds or more; got ${runAfter}. Leave it out for a job that is to run at once.`,
      { argument: "runAfter", got: runAfter },
    );
  }
  const given = runAt ?? (runAfter === undefined ? undefined : now + runAfter);
  if (given === undefined) return null;
  if (!(given >= now - RUN_AT_PAST_MAX_MS && given <= now + RUN_AT_FUTURE_MAX_MS)) {
    const what = runAt === undefined ? "runAfter" : "runAt";
    throw conveyorError(
      "invalidArgument",
      `${what} must lie between one year ago and four years ahead, in milliseconds; got ${runAt ?? runAfter}. ` +
        "Seconds are to be multiplied by 1,000.",
      { argument: what, got: (runAt ?? runAfter)! },
    );
  }
  return given <= now ? null : Math.ceil(given);
}
