/** The rules for a worker's options: each refusal names the rule and the value. Pure. */
import {
  AT_LEAST,
  checkBatch,
  checkInteger,
  checkLabel,
  checkLength,
  conveyorError,
  CLAIM_GROUPS_MAX,
  COST_MAX,
  LEASES_MAX,
  OFFERED_LABELS_MAX,
  QUEUES_MAX,
} from "../shared/index.js";
import { isBatched, type AnyHandler } from "./batching.js";
import {
  handlerMissing,
  noFunction,
  noHandlers,
  notGiven,
  noUrl,
  plainHttp,
  siteUrl,
} from "./errors.js";
import {
  FLUSH_CHARS_MAX,
  FLUSH_MS_MAX,
  OUTPUT_DEFAULT,
  POLL_MIN_MS,
  PRESENCE_MIN_MS,
  STATUS_MIN_MS,
} from "./limits.js";
import type { JobHooks } from "./jobHooks.js";
import type { BackPressure } from "./hookTypes.js";
import type { OutputOptions, StopAfter, WorkerOptions } from "./options.js";
import type { Load } from "./pressure.js";
import type { BatchHandler, Handler } from "./types.js";

const DAY_MS = 24 * 60 * 60_000;

type Given = WorkerOptions<any>;

const PRINTED =
  "a worker token, as the app's `tokens:create` or the component's `operate:createToken` printed it";

export function checkOptions(options: Given, load: Load | undefined): void {
  // `process.env.X!` is a string to TypeScript, and undefined where the variable is not set.
  if (!options.url) throw notGiven("url", "the deployment's URL, as `CONVEX_URL` in `.env.local`");
  checkUrl(options.url);
  if (!options.token) throw notGiven("token", PRINTED);
  if (options.concurrency !== undefined) checkConcurrency(options.concurrency);
  checkPeriod("presenceMs", options.presenceMs, PRESENCE_MIN_MS);
  checkPeriod("statusMs", options.statusMs, STATUS_MIN_MS);
  if (options.graceMs !== undefined) checkGrace(options.graceMs);
  if (options.poll !== undefined)
    checkInteger("poll.everyMs", options.poll.everyMs, POLL_MIN_MS, DAY_MS);
  checkOffer(options);
  checkStopAfter(options.stopAfter ?? {});
  checkBackPressure(options.backPressure ?? {}, load);
}

export function checkConcurrency(concurrency: number): void {
  checkInteger("concurrency", concurrency, 1, LEASES_MAX);
}

export function checkGrace(graceMs: number): void {
  checkInteger("graceMs", graceMs, 0, DAY_MS);
}

/** The handlers that are given. */
export function handlersOf({
  handlers,
  ...hooks
}: { handlers: object } & { [Hook in keyof JobHooks]?: unknown }): Map<string, AnyHandler> {
  const given = new Map<string, AnyHandler>();
  for (const [queue, handler] of Object.entries(handlers as Record<string, unknown>)) {
    if (handler !== undefined) given.set(queue, checkHandler(queue, handler));
  }
  const batched = [...given].filter(([, handler]) => isBatched(handler)).map(([queue]) => queue);
  if (batched.length === 0) return given;
  if (batched.length < given.size) throw batchesBeside(batched, [...given.keys()]);
  const hook = (["beforeJob", "afterJob", "around"] as const).find((one) => hooks[one]);
  if (hook !== undefined) throw hookOfBatches(hook, batched);
  return given;
}

function checkHandler(queue: string, handler: unknown): AnyHandler {
  if (typeof handler === "function") return handler as Handler;
  if (typeof handler !== "object" || handler === null) throw noFunction(queue, handler);
  const { batch, handler: run } = handler as Partial<BatchHandler>;
  if (typeof run !== "function") throw noFunction(queue, handler);
  return { batch: checkBatch(`the queue "${queue}"`, batch), handler: run };
}

/** Of one claim some jobs would fill batches, and some slots: how many it may ask for would be right for one of the two. */
function batchesBeside(batched: readonly string[], all: readonly string[]): Error {
  const others = all.filter((queue) => !batched.includes(queue));
  return conveyorError(
    "invalidArgument",
    `All handlers of a worker must have \`batch\`, or none; ${batched.join(", ")} with, and ${others.join(", ")} without. ` +
      "Make two workers in this program, each with its own `concurrency`.",
    { argument: "handlers", batched: [...batched], others },
  );
}

function hookOfBatches(hook: string, batched: readonly string[]): Error {
  return conveyorError(
    "invalidArgument",
    `${hook} runs beside the handler of one job, and ${batched.join(", ")} has a handler of batches. ` +
      "Call it in the handler itself, for each job.",
    { argument: hook, batched: [...batched] },
  );
}

/** The queues to serve: all, and of these the ones that come last. */
export function queuesOf({ queues }: Given, handlers: ReadonlyMap<string, AnyHandler>) {
  const given = (queues ?? [...handlers.keys()]).map((one) =>
    typeof one === "string" ? { queue: one } : one,
  );
  const all = checkServed(
    given.map(({ queue }) => queue),
    handlers,
  );
  const whenIdle = given
    .filter(({ onlyWhenIdle }: { onlyWhenIdle?: boolean }) => onlyWhenIdle === true)
    .map(({ queue }) => queue);
  if (whenIdle.length < all.length) return { all, whenIdle };
  throw conveyorError(
    "invalidArgument",
    "At least one queue of a worker must be without `onlyWhenIdle`; got it for all. Leave it out of the most important one.",
    { argument: "queues", got: whenIdle },
  );
}

/** In one order for the whole fleet, in any order of the options: then their subscriptions share an answer. */
function checkServed(
  served: readonly string[],
  handlers: ReadonlyMap<string, AnyHandler>,
): string[] {
  if (served.length === 0) throw noHandlers();
  checkLength("The queues of a worker", served, 1, QUEUES_MAX);
  for (const queue of served) {
    if (!handlers.has(queue)) throw handlerMissing(queue, [...handlers.keys()]);
  }
  const twice = served.find((queue, index) => served.indexOf(queue) < index);
  if (twice === undefined) return [...served].sort();
  throw conveyorError(
    "invalidArgument",
    `Each queue of a worker must be named once; got "${twice}" twice. Leave one of the two out.`,
    { argument: "queues", got: twice },
  );
}

export function checkOutput(given: OutputOptions): Required<OutputOptions> {
  const output = { ...OUTPUT_DEFAULT, ...given };
  checkInteger("output.flushChars", output.flushChars, 0, FLUSH_CHARS_MAX);
  checkInteger("output.flushMs", output.flushMs, 0, FLUSH_MS_MAX);
  return output;
}

function checkUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noUrl(url);
  const { hostname, protocol } = new URL(url);
  if (hostname.endsWith(".convex.site")) throw siteUrl(url);
  if (hostname.endsWith(".convex.cloud") && protocol === "http:") throw plainHttp(url);
}

/** 0 for never. */
function checkPeriod(name: string, ms: number | undefined, min: number): void {
  if (ms !== undefined && ms !== 0) checkInteger(name, ms, min, DAY_MS);
}

function checkOffer({ labels = [], groups = [], maxCost }: Given): void {
  checkLength("The labels of a worker", labels, 0, OFFERED_LABELS_MAX);
  for (const label of labels) {
    checkLabel("A label of a worker", label);
    if (label.includes(AT_LEAST)) throw noAmount(label);
  }
  checkLength("The groups of a worker", groups, 0, CLAIM_GROUPS_MAX);
  for (const group of groups) checkLabel("A group of a worker", group);
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
}

/** A job asks for the least of a number; a worker says how much it has. */
function noAmount(label: string): Error {
  const [name] = label.split(AT_LEAST);
  return conveyorError(
    "invalidArgument",
    `A label of a worker with a number must be an amount, as in "${name}=40", and not the least of it; got ${JSON.stringify(label)}.`,
    { argument: "labels", got: label },
  );
}

/** A share of nothing would be a worker that never claims, and a limit that nothing measures one that never stops. */
function checkBackPressure(limits: BackPressure, load: Load | undefined): void {
  for (const limit of ["memory", "cpu"] as const) {
    const share = limits[limit];
    if (share === undefined) continue;
    if (load === undefined) throw unmeasured(limit);
    if (share > 0 && share <= 1) continue;
    throw conveyorError(
      "invalidArgument",
      `backPressure.${limit} must be a share over 0 and up to 1; got ${share}.`,
      { argument: `backPressure.${limit}`, got: share },
    );
  }
}

function unmeasured(limit: string): Error {
  return conveyorError(
    "invalidArgument",
    `backPressure.${limit} cannot be measured in this runtime. Measure it in \`check\`, or leave it out.`,
    { argument: `backPressure.${limit}` },
  );
}

function checkStopAfter({ jobs, ms, idleMs }: StopAfter): void {
  if (jobs !== undefined) checkInteger("stopAfter.jobs", jobs, 1, Number.MAX_SAFE_INTEGER);
  if (ms !== undefined) checkInteger("stopAfter.ms", ms, 1, DAY_MS);
  if (idleMs !== undefined) checkInteger("stopAfter.idleMs", idleMs, 1, DAY_MS);
}
