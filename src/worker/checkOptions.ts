/** The rules for a worker's options: each refusal names the rule and the value. Pure. */
import {
  checkInteger,
  checkLabel,
  checkLength,
  CLAIM_GROUPS_MAX,
  COST_MAX,
  LEASES_MAX,
  OFFERED_LABELS_MAX,
  QUEUES_MAX,
} from "../shared/index.js";
import { handlerMissing, noFunction, noHandlers, notGiven, noUrl, siteUrl } from "./errors.js";
import {
  FLUSH_CHARS_MAX,
  FLUSH_MS_MAX,
  OUTPUT_DEFAULT,
  PRESENCE_MIN_MS,
  STATUS_MIN_MS,
} from "./limits.js";
import type { OutputOptions, StopAfter, WorkerOptions } from "./options.js";
import type { Handler } from "./types.js";

const DAY_MS = 24 * 60 * 60_000;

type Given = WorkerOptions<any>;

export function checkOptions(options: Given): void {
  // `process.env.X!` is a string to TypeScript, and undefined where the variable is not set.
  if (!options.url) throw notGiven("url", "The deployment's URL, as in `CONVEX_URL`");
  checkUrl(options.url);
  if (!options.token) throw notGiven("token", "A worker token, as `tokens:create` printed it");
  if (options.concurrency !== undefined) checkConcurrency(options.concurrency);
  checkPeriod("presenceMs", options.presenceMs, PRESENCE_MIN_MS);
  checkPeriod("statusMs", options.statusMs, STATUS_MIN_MS);
  if (options.graceMs !== undefined) checkGrace(options.graceMs);
  checkOffer(options);
  checkStopAfter(options.stopAfter ?? {});
}

export function checkConcurrency(concurrency: number): void {
  checkInteger("concurrency", concurrency, 1, LEASES_MAX);
}

export function checkGrace(graceMs: number): void {
  checkInteger("graceMs", graceMs, 0, DAY_MS);
}

/** The handlers that are given. */
export function handlersOf({ handlers }: Given): Map<string, Handler> {
  const given = new Map<string, Handler>();
  for (const [queue, handler] of Object.entries(handlers as Record<string, unknown>)) {
    if (handler === undefined) continue;
    if (typeof handler !== "function") throw noFunction(queue, handler);
    given.set(queue, handler as Handler);
  }
  return given;
}

/** In one order for the whole fleet, in any order of the options: then their subscriptions share an answer. */
export function checkServed(
  served: readonly string[],
  handlers: ReadonlyMap<string, Handler>,
): string[] {
  if (served.length === 0) throw noHandlers();
  checkLength("The queues of a worker", served, 1, QUEUES_MAX);
  for (const queue of served) {
    if (!handlers.has(queue)) throw handlerMissing(queue, [...handlers.keys()]);
  }
  return [...new Set(served)].sort();
}

export function checkOutput(given: OutputOptions): Required<OutputOptions> {
  const output = { ...OUTPUT_DEFAULT, ...given };
  checkInteger("output.flushChars", output.flushChars, 0, FLUSH_CHARS_MAX);
  checkInteger("output.flushMs", output.flushMs, 0, FLUSH_MS_MAX);
  return output;
}

function checkUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noUrl(url);
  if (new URL(url).hostname.endsWith(".convex.site")) throw siteUrl(url);
}

/** 0 for never. */
function checkPeriod(name: string, ms: number | undefined, min: number): void {
  if (ms !== undefined && ms !== 0) checkInteger(name, ms, min, DAY_MS);
}

function checkOffer({ labels = [], groups = [], maxCost }: Given): void {
  checkLength("The labels of a worker", labels, 0, OFFERED_LABELS_MAX);
  for (const label of labels) checkLabel("A label of a worker", label);
  checkLength("The groups of a worker", groups, 0, CLAIM_GROUPS_MAX);
  for (const group of groups) checkLabel("A group of a worker", group);
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
}

function checkStopAfter({ jobs, ms, idleMs }: StopAfter): void {
  if (jobs !== undefined) checkInteger("stopAfter.jobs", jobs, 1, Number.MAX_SAFE_INTEGER);
  if (ms !== undefined) checkInteger("stopAfter.ms", ms, 1, DAY_MS);
  if (idleMs !== undefined) checkInteger("stopAfter.idleMs", idleMs, 1, DAY_MS);
}
