/**
 * Checks of a queue's configuration, its overrides at run time, and the rules of a single job. Pure. Used where a queue is
 * defined and again where a call arrives.
 */
import { checkInteger, checkName, checkNumber, checkWord } from "./checks.js";
import { conveyorError } from "./errors.js";
import {
  BACKOFF_BASE_MAX,
  BACKOFF_MAX_MS,
  DEADLINE_MAX_MS,
  DEADLINE_MIN_MS,
  EXPIRES_MAX_MS,
  EXPIRES_MIN_MS,
  GRACE_MAX_MS,
  LEASE_MAX_MS,
  LEASE_MIN_MS,
  MAX_ATTEMPTS_MAX,
  MAX_RESETS_MAX,
  REST_MAX_MS,
  RETENTION_MAX_MS,
  SHARDS_MAX,
  TIMEOUT_MAX_MS,
  TIMEOUT_MIN_MS,
} from "./limits.js";
import {
  FALLBACK_MAX_MS,
  HANDLER_MISSING_MAX_MS,
  PARALLELISM_MAX,
  RESULT_RULE_MAX_CHARS,
  SCHEDULER_SHARE_MAX,
  SCHEDULER_SHARE_MIN,
} from "./pushLimits.js";
import { LOG_LEVELS } from "./logLevels.js";
import {
  vListBy,
  type Jitter,
  type JobRules,
  type QueueConfig,
  type QueueOverrides,
  type Retry,
} from "./protocol.js";
import { FINISHED_STATUSES } from "./status.js";

/** A queue as code declares it. */
export function checkQueueConfig(name: string, config: QueueConfig): void {
  checkName("The name of a queue", name);
  checkQueueOverrides(name, config);
  checkInteger(
    `The length of the result validator of the queue "${name}"`,
    config.result?.length ?? 0,
    0,
    RESULT_RULE_MAX_CHARS,
  );
  for (const field of config.listBy ?? [])
    checkWord(`listBy of the queue "${name}"`, field, LIST_BY);
  checkExcluded(`onCompleteExclude of the queue "${name}"`, config);
  if (new Set(config.listBy).size < (config.listBy ?? []).length) {
    throw conveyorError(
      "invalidArgument",
      `listBy of the queue "${name}" names one of "tag" and "group" twice. Name each once, or leave listBy out.`,
      { argument: "listBy", queue: name },
    );
  }
  checkShare(name, config.schedulerShare);
  if (config.deadlineMs !== undefined && config.circular === true) throw noDeadlineInRing(name);
  if (config.restMs !== undefined && config.circular !== true) {
    throw conveyorError(
      "invalidArgument",
      `restMs of the queue "${name}" is for circular queues, and this one is not. Add \`circular: true\`, or leave restMs out.`,
      { argument: "restMs", queue: name },
    );
  }
}

const LIST_BY = vListBy.members.map(({ value }) => value);

function checkExcluded(what: string, { onCompleteExclude = [] }: JobRules): void {
  for (const status of onCompleteExclude) checkWord(what, status, FINISHED_STATUSES);
}

/** An item of a ring never ends by itself, so a deadline would be the end of every item. */
export function noDeadlineInRing(name: string): Error {
  return conveyorError(
    "invalidArgument",
    `deadlineMs is for jobs that end, and those of the circular queue "${name}" go round. Use timeoutMs, which bounds each round.`,
    { argument: "deadlineMs", queue: name },
  );
}

function checkShare(name: string, share: number | undefined): void {
  if (share === undefined) return;
  const what = `schedulerShare of the queue "${name}"`;
  checkNumber(what, share, SCHEDULER_SHARE_MIN, SCHEDULER_SHARE_MAX);
}

/** The overrides made at run time: any field, within the same bounds. */
export function checkQueueOverrides(name: string, config: QueueOverrides): void {
  const of = `of the queue "${name}"`;
  checkBounds(`leaseMs ${of}`, config.leaseMs, LEASE_MIN_MS, LEASE_MAX_MS);
  checkBounds(`graceMs ${of}`, config.graceMs, 0, GRACE_MAX_MS);
  checkBounds(`maxResets ${of}`, config.maxResets, 0, MAX_RESETS_MAX);
  checkBounds(`shards ${of}`, config.shards, 1, SHARDS_MAX);
  checkBounds(`timeoutMs ${of}`, config.timeoutMs, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
  checkBounds(`expiresAfterMs ${of}`, config.expiresAfterMs, EXPIRES_MIN_MS, EXPIRES_MAX_MS);
  checkBounds(`deadlineMs ${of}`, config.deadlineMs, DEADLINE_MIN_MS, DEADLINE_MAX_MS);
  checkBounds(`restMs ${of}`, config.restMs, 0, REST_MAX_MS);
  checkBounds(`maxParallelism ${of}`, config.maxParallelism, 0, PARALLELISM_MAX);
  checkBounds(`fallbackAfterMs ${of}`, config.fallbackAfterMs, 0, FALLBACK_MAX_MS);
  const { handlerMissingAfterMs: missing } = config;
  checkBounds(`handlerMissingAfterMs ${of}`, missing, 0, HANDLER_MISSING_MAX_MS);
  for (const [outcome, ms] of Object.entries(config.retention ?? {})) {
    checkInteger(`retention.${outcome} ${of}`, ms, 0, RETENTION_MAX_MS);
  }
  if (config.retry !== undefined) checkRetry(`retry ${of}`, config.retry);
  if (config.logLevel !== undefined) checkWord(`logLevel ${of}`, config.logLevel, LOG_LEVELS);
}

/** The rules of a single job. */
export function checkRules(rules: JobRules): void {
  if (rules.retry !== undefined) checkRetry("retry", rules.retry);
  checkBounds("maxResets", rules.maxResets, 0, MAX_RESETS_MAX);
  checkBounds("leaseMs", rules.leaseMs, LEASE_MIN_MS, LEASE_MAX_MS);
  checkBounds("timeoutMs", rules.timeoutMs, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
  checkExcluded("onCompleteExclude", rules);
}

function checkRetry(what: string, retry: Retry): void {
  checkInteger(`maxAttempts of ${what}`, retry.maxAttempts, 1, MAX_ATTEMPTS_MAX);
  checkInteger(`initialBackoffMs of ${what}`, retry.initialBackoffMs, 0, BACKOFF_MAX_MS);
  checkNumber(`base of ${what}`, retry.base, 1, BACKOFF_BASE_MAX);
  checkInteger(`maxBackoffMs of ${what}`, retry.maxBackoffMs, 0, BACKOFF_MAX_MS);
  if (retry.jitter !== undefined) checkWord(`jitter of ${what}`, retry.jitter, JITTERS);
}

const JITTERS: readonly Jitter[] = ["full", "equal", "none"];

function checkBounds(what: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined) checkInteger(what, value, min, max);
}
