/** The worker as a program uses it: checks the options, connects, and runs the loop. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import {
  checkInteger,
  checkLabel,
  checkLength,
  CLAIM_GROUPS_MAX,
  COST_MAX,
  LEASES_MAX,
  NAME_MAX_LENGTH,
  OFFERED_LABELS_MAX,
  QUEUES_MAX,
} from "../shared/index.js";
import { systemClock } from "./clock.js";
import { printEvent } from "./consoleEvents.js";
import { connect } from "./convexTransport.js";
import { handlerMissing, noFunction, noHandlers, notGiven, noUrl, siteUrl } from "./errors.js";
import {
  FLUSH_CHARS_MAX,
  FLUSH_MS_MAX,
  GRACE_DEFAULT_MS,
  OUTPUT_DEFAULT,
  PRESENCE_DEFAULT_MS,
  PRESENCE_MIN_MS,
} from "./limits.js";
import { Loop } from "./loop.js";
import { onStopSignal } from "./signals.js";
import type {
  Handler,
  OutputOptions,
  StopOptions,
  WorkerApi,
  WorkerEvent,
  WorkerOptions,
} from "./types.js";

const DAY_MS = 24 * 60 * 60_000;

/**
 * A program that does jobs: it claims as many as it has room for, runs their handlers, keeps their leases alive, and
 * records the results.
 *
 * @example
 * import { Worker } from "convex-conveyor/worker";
 * import { api } from "../convex/_generated/api.js";
 *
 * const worker = new Worker({
 *   url: process.env.CONVEX_URL!,
 *   token: process.env.CONVEYOR_TOKEN!,
 *   api: api.worker,
 *   concurrency: 4,
 *   handlers: {
 *     tiles: async ({ payload, signal, progress }) => {
 *       progress({ percent: 0 });
 *       return { pixels: await render(payload, signal) };
 *     },
 *   },
 * });
 * await worker.run();
 */
export class Worker<Api extends WorkerApi> {
  /** This process's session: it tells this run from an earlier one under the same name. */
  readonly sessionKey: string = randomUUID();
  /** How people see this worker: the option `name`, or else the host's name and the process id. */
  readonly name: string;

  private readonly handlers = new Map<string, Handler>();
  private readonly queues: string[];
  private readonly output: Required<OutputOptions>;
  private loop: Loop | undefined;
  private running: Promise<void> | undefined;

  /**
   * Checks the options; connects to nothing.
   *
   * @param options See {@link WorkerOptions}.
   * @throws `invalidArgument` for a missing `url` or `token`, a `url` of HTTP actions, a handler that is no function, and for a number
   * or name out of bounds; `handlerMissing` for
   * a queue in `queues` without a handler, or no handler at all.
   */
  constructor(private readonly options: WorkerOptions<Api>) {
    for (const [queue, handler] of Object.entries(options.handlers)) {
      if (handler === undefined) continue;
      if (typeof handler !== "function") throw noFunction(queue, handler);
      this.handlers.set(queue, handler as Handler);
    }
    const served: readonly string[] = options.queues ?? [...this.handlers.keys()];
    // `process.env.X!` is a string to TypeScript, and undefined where the variable is not set.
    if (!options.url) throw notGiven("url", "The deployment's URL, as in `CONVEX_URL`");
    checkUrl(options.url);
    if (!options.token) throw notGiven("token", "A worker token, as `tokens:create` printed it");
    if (served.length === 0) throw noHandlers();
    checkLength("The queues of a worker", served, 1, QUEUES_MAX);
    for (const queue of served) {
      if (!this.handlers.has(queue)) throw handlerMissing(queue, [...this.handlers.keys()]);
    }
    // One order for the whole fleet, in any order of the options: then their subscriptions share an answer.
    this.queues = [...new Set(served)].sort();
    this.name = options.name ?? `${hostname()}:${process.pid}`.slice(-NAME_MAX_LENGTH);
    checkLabel("The name of a worker", this.name);
    if (options.concurrency !== undefined) {
      checkInteger("concurrency", options.concurrency, 1, LEASES_MAX);
    }
    if (options.presenceMs !== undefined && options.presenceMs !== 0) {
      checkInteger("presenceMs", options.presenceMs, PRESENCE_MIN_MS, DAY_MS);
    }
    checkOffer(options);
    this.output = checkOutput(options.output ?? {});
  }

  /**
   * Connects and works until the worker is stopped; resolves when everything has come to its end. A worker runs once.
   *
   * @throws The error that ended the run: `tokenUnknown`, `tokenRevoked`, `tokenForeign`, `queueForbidden`,
   * `groupForbidden`, `unknownQueue`, `workerApiMissing`, `handlerMissing`. A deployment out of reach is no error: it
   * is tried again.
   * @example
   * try {
   *   await worker.run();
   * } catch (error) {
   *   if (isConveyorError(error, "tokenRevoked")) console.error("Ask for a new token.");
   *   throw error;
   * }
   */
  async run(): Promise<void> {
    this.running ??= this.work();
    await this.running;
  }

  /**
   * Stops gracefully: claims nothing more, lets handlers finish within `graceMs`, then aborts them and gives their
   * jobs back. Resolves when {@link run} has ended, at most 3 s after the grace. Calling it again with less hurries it.
   *
   * @param options.graceMs In milliseconds, 0 to 86,400,000.
   * @default graceMs 25_000
   * @throws `invalidArgument` for a grace out of bounds. Errors of the run are thrown by `run` alone.
   * @example
   * // An orchestrator that kills after 10 s: with `handleSignals: false`,
   * process.once("SIGTERM", () => void worker.stop({ graceMs: 6_000 }));
   */
  async stop({ graceMs = GRACE_DEFAULT_MS }: StopOptions = {}): Promise<void> {
    checkInteger("graceMs", graceMs, 0, DAY_MS);
    // Stopped before it has begun: then it never does.
    this.running ??= Promise.resolve();
    this.loop?.stop(graceMs);
    // Errors of the run are thrown by `run`; `stop` asks only that it ends.
    await this.running.catch(() => {});
  }

  private async work(): Promise<void> {
    const { options, name, sessionKey, queues } = this;
    const emit = guarded(options.onEvent ?? printEvent);
    const transport = connect({
      url: options.url,
      token: options.token,
      api: options.api,
      sessionKey,
      name,
      queues,
      // In one order as well.
      labels: [...new Set(options.labels)].sort(),
      groups: [...new Set(options.groups)].sort(),
      ...(options.maxCost === undefined ? {} : { maxCost: options.maxCost }),
    });
    this.loop = new Loop({
      clock: systemClock,
      transport,
      ...{ name, queues },
      handlers: this.handlers,
      concurrency: options.concurrency ?? 1,
      presenceMs: options.presenceMs ?? PRESENCE_DEFAULT_MS,
      ...(options.maxCost === undefined ? {} : { maxCost: options.maxCost }),
      output: this.output,
      emit,
    });
    const unlisten =
      options.handleSignals === false
        ? () => {}
        : onStopSignal((times) => this.loop?.stop(times === 1 ? GRACE_DEFAULT_MS : 0));
    emit({ kind: "started", name, sessionKey, queues });
    try {
      await this.loop.run();
    } finally {
      unlisten();
      await transport.close();
    }
  }
}

function checkUrl(url: string): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw noUrl(url);
  if (new URL(url).hostname.endsWith(".convex.site")) throw siteUrl(url);
}

function checkOffer({ labels = [], groups = [], maxCost }: WorkerOptions<any>): void {
  checkLength("The labels of a worker", labels, 0, OFFERED_LABELS_MAX);
  for (const label of labels) checkLabel("A label of a worker", label);
  checkLength("The groups of a worker", groups, 0, CLAIM_GROUPS_MAX);
  for (const group of groups) checkLabel("A group of a worker", group);
  if (maxCost !== undefined) checkInteger("maxCost", maxCost, 1, COST_MAX);
}

function checkOutput(given: OutputOptions): Required<OutputOptions> {
  const output = { ...OUTPUT_DEFAULT, ...given };
  checkInteger("output.flushChars", output.flushChars, 0, FLUSH_CHARS_MAX);
  checkInteger("output.flushMs", output.flushMs, 0, FLUSH_MS_MAX);
  return output;
}

/** A listener that throws must not bring down the work it listens to. */
function guarded(listener: (event: WorkerEvent) => void): (event: WorkerEvent) => void {
  return (event) => {
    try {
      listener(event);
    } catch (error) {
      console.error("[conveyor] onEvent threw:", error);
    }
  };
}
