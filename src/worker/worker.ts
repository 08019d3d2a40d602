/** The worker as a program uses it: checks the options, connects, and runs the loop. */
import {
  checkLabel,
  COMPONENT_VERSION,
  type PeekedJob,
  type WorkerFacts,
} from "../shared/index.js";
import type { AnyHandler } from "./batching.js";
import {
  checkConcurrency,
  checkGrace,
  checkOptions,
  checkOutput,
  handlersOf,
  queuesOf,
} from "./checkOptions.js";
import { systemClock } from "./clock.js";
import { printEvent } from "./consoleEvents.js";
import { connect } from "./convexTransport.js";
import type { WorkerEvent, WorkerState, WorkerStatus } from "./events.js";
import type { PeekOptions } from "./hookTypes.js";
import { anyHost, newId, type Host } from "./host.js";
import { PRESENCE_DEFAULT_MS, STATUS_DEFAULT_MS } from "./limits.js";
import { Listeners, type ListenOptions, type WorkerCustomEvent } from "./listeners.js";
import { Loop } from "./loop.js";
import { peersKey } from "./onCall.js";
import type { OutputOptions, StopOptions, WorkerOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { QueuesOf, WorkerApi } from "./types.js";

/**
 * A program that does jobs: it claims as many as it has room for, runs their handlers, keeps their leases alive, and
 * records the results. It is the same in Node, Bun, Deno, a browser's tab and a web worker.
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
  readonly sessionKey: string = newId();
  /** How people see this worker: the option `name`, or else the host's name and the process id. */
  readonly name: string;

  private readonly handlers: ReadonlyMap<string, AnyHandler>;
  private readonly queues: string[];
  private readonly whenIdle: string[];
  private readonly output: Required<OutputOptions>;
  private readonly listeners: Listeners;
  private readonly startedAs: WorkerStatus;
  private slots: number;
  private quietly = false;
  private loop: Loop | undefined;
  private transport: Transport | undefined;
  private running: Promise<void> | undefined;

  /**
   * Checks the options; connects to nothing.
   *
   * @param options See {@link WorkerOptions}.
   * @throws `invalidArgument` for a missing `url` or `token`, a `url` of HTTP actions, a handler that is no function, and
   * for a number or name out of bounds; `handlerMissing` for a queue in `queues` without a handler, or no handler at all.
   */
  constructor(private readonly options: WorkerOptions<Api>) {
    this.handlers = handlersOf(options);
    checkOptions(options, this.host.load);
    const { all, whenIdle } = queuesOf(options, this.handlers);
    this.queues = all;
    this.whenIdle = whenIdle;
    this.name = options.name ?? this.host.name();
    checkLabel("The name of a worker", this.name);
    if (options.version !== undefined) checkLabel("The version of a worker", options.version);
    this.output = checkOutput(options.output ?? {});
    this.slots = options.concurrency ?? 1;
    this.listeners = new Listeners(options.onEvent ?? printEvent);
    this.startedAs = {
      ...{ state: "starting", since: Date.now(), startedAt: Date.now() },
      ...{ isQuiet: false, done: 0, running: [] },
      slots: { used: 0, had: this.slots },
    };
  }

  /** @internal */
  protected get host(): Host {
    return anyHost;
  }

  /** `starting`, `waiting`, `working`, `draining` or `stopped`. The event `state` says when it changes. */
  get state(): WorkerState {
    return this.status.state;
  }

  /** Its state and since when, its slots, the jobs in hand, and how many it has done. */
  get status(): WorkerStatus {
    const { slots, quietly: isQuiet } = this;
    const status = this.loop?.statusNow() ?? { ...this.startedAs, slots: { used: 0, had: slots } };
    const wasNeverRun = this.loop === undefined && this.running !== undefined;
    return {
      ...status,
      isQuiet: isQuiet || status.isQuiet,
      ...(wasNeverRun ? { state: "stopped" } : {}),
    };
  }

  /** How many jobs run at once, 1 to 64. It may be set while the worker runs: jobs above a lower number come to their end. */
  get concurrency(): number {
    return this.slots;
  }

  set concurrency(concurrency: number) {
    checkConcurrency(concurrency);
    this.slots = concurrency;
    this.loop?.setConcurrency(concurrency);
  }

  /** Claims nothing more until {@link resume}. Jobs in hand go on, with their leases. */
  quiet(): void {
    this.quietly = true;
    this.loop?.setQuiet(true);
  }

  /** Claims again after {@link quiet}. What an operator has made quiet, only an operator ends. */
  resume(): void {
    this.quietly = false;
    this.loop?.setQuiet(false);
  }

  /**
   * Calls the listener at each event of a kind, from now on. The option `onEvent` gets all kinds.
   *
   * @returns The function that ends the listening.
   * @example
   * worker.on("finished", ({ id, ms, thrown }) => metrics.observe(id, ms, thrown));
   */
  on<Kind extends WorkerEvent["kind"]>(
    kind: Kind,
    listener: (event: Extract<WorkerEvent, { kind: Kind }>) => void,
  ): () => void {
    return this.listeners.on(kind, listener);
  }

  /**
   * The same as of any `EventTarget`: the listener gets a `CustomEvent` with the worker's event as its `detail`. A listener
   * that throws is told to the console.
   *
   * @param options `once`, and a `signal` that ends the listening.
   * @example
   * worker.addEventListener("state", ({ detail }) => show(detail.state), { signal });
   */
  addEventListener<Kind extends WorkerEvent["kind"]>(
    kind: Kind,
    listener: (event: WorkerCustomEvent<Kind>) => void,
    options?: ListenOptions,
  ): void {
    this.listeners.addEventListener(kind, listener, options);
  }

  /** Ends what {@link addEventListener} began. */
  removeEventListener<Kind extends WorkerEvent["kind"]>(
    kind: Kind,
    listener: (event: WorkerCustomEvent<Kind>) => void,
  ): void {
    this.listeners.removeEventListener(kind, listener);
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
   * jobs back. Resolves when {@link run} has ended, at most 4 s after the grace. Calling it again with less hurries it.
   *
   * @param options.graceMs In milliseconds, 0 to 86,400,000.
   * @default graceMs the worker's `graceMs`, 8_000
   * @throws `invalidArgument` for a grace out of bounds. Errors of the run are thrown by `run` alone.
   * @example
   * // A button of a page. In a process, `graceMs` of the options is the grace after a signal.
   * button.onclick = () => void worker.stop({ graceMs: 25_000 });
   */
  async stop({ graceMs }: StopOptions = {}): Promise<void> {
    if (graceMs !== undefined) checkGrace(graceMs);
    // Stopped before it has begun: then it never does.
    this.running ??= Promise.resolve();
    this.loop?.stop(graceMs);
    // Errors of the run are thrown by `run`; `stop` asks only that it ends.
    await this.running.catch(() => {});
  }

  /**
   * The first waiting jobs that this worker might have, for a program or a hook that chooses among them. Nothing is
   * promised: another worker may be faster. It costs one call of a query.
   *
   * @returns Up to `limit` jobs, with their payloads where these are small.
   * @throws The error of the call: `groupForbidden`, `tokenRevoked`, no connection.
   * @example
   * beforeClaim: async ({ peek }) => ({ ids: (await peek()).filter(isCached).map(({ id }) => id) }),
   */
  async peek(options: PeekOptions<keyof QueuesOf<Api> & string> = {}): Promise<PeekedJob[]> {
    if (this.transport !== undefined) return await this.transport.peek(options);
    const transport = this.connect();
    try {
      return await transport.peek(options);
    } finally {
      await transport.close();
    }
  }

  private async work(): Promise<void> {
    const { options, name, sessionKey, queues, host } = this;
    const { emit } = this.listeners;
    const transport = this.connect();
    this.transport = transport;
    const loop = this.newLoop(transport);
    this.loop = loop;
    if (this.quietly) loop.setQuiet(true);
    const unlisten =
      options.handleSignals === false
        ? () => {}
        : host.onStopSignal((times) => (times === 1 ? loop.stop() : loop.stop(0)));
    emit({ kind: "started", name, sessionKey, queues });
    try {
      await loop.run();
    } finally {
      unlisten();
      this.transport = undefined;
      await transport.close();
    }
  }

  private connect(): Transport {
    const { options, name, sessionKey, queues } = this;
    return connect({
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
      polls: options.poll !== undefined,
      facts: () => this.facts(),
      quieted: (isQuiet) => this.loop?.setQuiet(isQuiet, "operator"),
    });
  }

  /** What it says of itself. */
  private facts(): WorkerFacts {
    const { version: appVersion } = this.options;
    const { hostname, pid } = this.host;
    const isDraining = this.state === "draining" || this.state === "stopped";
    return {
      ...{ startedAt: this.startedAs.startedAt, version: COMPONENT_VERSION, slots: this.slots },
      ...(appVersion === undefined ? {} : { appVersion }),
      ...(hostname === undefined ? {} : { hostname }),
      ...(pid === undefined ? {} : { pid }),
      ...(isDraining ? { mode: "draining" } : this.quietly ? { mode: "quiet" } : {}),
    };
  }

  /** Where others are alike, it may stand by. */
  private standing(): { peers?: string; standbyMs?: number } {
    const { options, queues, whenIdle } = this;
    const { presenceMs } = options;
    const peers = peersKey({ ...options, queues, whenIdle });
    if (peers === undefined || presenceMs === 0) return {};
    return { peers, ...(presenceMs === undefined ? {} : { standbyMs: presenceMs }) };
  }

  private newLoop(transport: Transport): Loop {
    const { options, name, queues, handlers, output } = this;
    const { maxCost, stopAfter, graceMs, labels, groups, tracer } = options;
    const { load } = this.host;
    return new Loop({
      ...{ clock: systemClock, transport, name, queues, handlers, output },
      ...{ hooks: options, whenIdle: this.whenIdle },
      ...(options.poll === undefined ? {} : { pollMs: options.poll.everyMs }),
      ...(load === undefined ? {} : { load }),
      ...(labels === undefined ? {} : { labels }),
      ...(groups === undefined ? {} : { groups }),
      ...(tracer === undefined ? {} : { tracer }),
      concurrency: this.slots,
      presenceMs: options.presenceMs ?? PRESENCE_DEFAULT_MS,
      ...this.standing(),
      statusMs: options.statusMs ?? STATUS_DEFAULT_MS,
      ...(maxCost === undefined ? {} : { maxCost }),
      ...(stopAfter === undefined ? {} : { stopAfter }),
      ...(graceMs === undefined ? {} : { graceMs }),
      emit: this.listeners.emit,
    });
  }
}
