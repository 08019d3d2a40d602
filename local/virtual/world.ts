/**
 * A world: a backend, and clients and programs around it, in one process and on one virtual clock. The same seed gives
 * the same run. It puts parts together that are each in a file of its own; the way in for tests, simulators and
 * benchmarks.
 *
 * @example
 * const world = await createWorld({ seed: 1, class: "s16" });
 * await world.push(await bundleApp("tests/support/app"));
 * const client = world.httpClient();
 * await world.run(client.mutation(api.sums.enqueue, { n: 3 }));
 * await world.advance(60_000);
 * await world.close();
 */
import type { ConvexClient, ConvexHttpClient } from "convex/browser";
import { convexToJson, jsonToConvex, type JSONValue, type Value } from "convex/values";
import { createCore, type Core } from "../backend.js";
import type { DeploymentClass } from "../functions/classes.js";
import type { Deployment, RunnerOptions } from "../functions/types.js";
import { sortRejections } from "../functions/rejections.js";
import type { Store } from "../engine/store.js";
import type { Limits } from "../limits.js";
import { MemoryStore } from "../store/memoryStore.js";
import { pushBundle, type AppBundle } from "./appBundle.js";
import type { Branch } from "./branch.js";
import { createVirtualClock, START_MS, type VirtualClock } from "./clock.js";
import { loadClients } from "./clients.js";
import { createCosts, type CostConstants } from "./costs.js";
import type { Stats } from "../stats/stats.js";
import { mortalStore } from "./mortalStore.js";
import { Network } from "./network/network.js";
import { Program, type ProgramOptions } from "./program.js";
import { randomStream, type RandomStream } from "./random.js";
import { bundleFile } from "./realm/bundle.js";
import { createTrace, type Trace } from "./trace.js";
import { traceBackend } from "./traceBackend.js";

export interface WorldOptions {
  seed: number | string;
  /** Defaults to "s16". */
  class?: DeploymentClass;
  /** Notes everything that happens. Defaults to false. */
  trace?: boolean;
  /** The durations of work, where they are not to be the model's. */
  costs?: Partial<CostConstants>;
  /** How uneven it is. Defaults to the class's; 0 for always the same. */
  jitter?: number;
  /**
   * The deployment from the start and after every restart, evaluated already: a world with one needs no push. With
   * `runner.sandboxes` besides, it starts in no time. Defaults to nothing, or the push that the store has kept.
   */
  deployment?: Deployment;
  /** `process.env` of functions that are pushed. */
  variables?: Record<string, string>;
  /** `contexts` defaults to "watched": a module that carries something from call to call is an error. */
  runner?: RunnerOptions;
  /** For controls: the engine commits without validation. */
  skipValidation?: boolean;
  /** Whether a commit is refused as if another had come before it: see `DatabaseOptions.refuses`. */
  refuses?: (author: string) => boolean;
  /** The age of the snapshot that snapshot queries read: see `DatabaseOptions.snapshotLagMs`. */
  snapshotLagMs?: () => number;
  /**
   * The limits of one transaction, where they are not to be the platform's: with half of that, a call that uses more
   * fails.
   */
  limits?: Partial<Limits>;
  /** An earlier backend's store, or one through which a test watches commits. Defaults to an empty one in memory. */
  store?: Store;
  /** When the world begins. Defaults to `START_MS`. */
  startMs?: number;
}

export interface CallOptions {
  /** Of a component's function. */
  componentPath?: string;
}

export interface World extends Pick<
  VirtualClock,
  "run" | "advance" | "until" | "untilIdle" | "now"
> {
  readonly clock: VirtualClock;
  /** Where clients reach the backend. */
  readonly url: string;
  /** Where its HTTP actions are. */
  readonly siteUrl: string;
  readonly network: Network;
  /** For tests: a stream of the seed with no other user. */
  readonly random: RandomStream;
  /** Empty unless it was asked for. */
  readonly trace: Trace;
  /** The one that runs: after a restart another. Throws while it is down. */
  readonly backend: Core;
  /** The counters of the running backend: calls, bytes, conflicts. A restart begins anew. */
  readonly stats: Stats;
  /** Pushes an app, components included, as the CLI does. */
  push(app: AppBundle): Promise<void>;
  /** Replaces the deployment, schemas included, now and at every start that follows: a new version is pushed. */
  install(deployment: Deployment): Promise<void>;
  /** The official clients. Their promises settle while a test drives the world: `world.run(client.query(…))`. */
  httpClient(name?: string): ConvexHttpClient;
  client(name?: string): ConvexClient;
  /** Runs a program: `entry` is its file. */
  program(entry: string, options: ProgramOptions): Promise<Program>;
  /** Calls any function, internal ones too, as an admin and without a network. Drives the world until it has ended. */
  call(path: string, args?: object, options?: CallOptions): Promise<any>;
  /** The backend dies at once, and is there again after `downMs`. Committed rows are kept; calls are lost. */
  restartBackend(options?: { downMs?: number }): Promise<void>;
  close(): Promise<void>;
}

/** A name without an owner: RFC 2606. */
const HOST = "conveyor.invalid";
const SITE_HOST = `site.${HOST}`;
const URLS = { cloud: `https://${HOST}`, site: `https://${SITE_HOST}` };
const ADMIN_KEY = "world|admin";

export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, class: deploymentClass = "s16", startMs = START_MS } = options;
  const clients = await loadClients();
  const random = (name: string) => randomStream(seed, name);
  const costs = createCosts({
    class: deploymentClass,
    random: random("costs"),
    ...(options.costs === undefined ? {} : { constants: options.costs }),
    ...(options.jitter === undefined ? {} : { jitter: options.jitter }),
  });
  const trace: Trace = createTrace(() => clock.now(), startMs);
  const note = options.trace === true ? trace.add.bind(trace) : undefined;
  const clock: VirtualClock = createVirtualClock({
    seed,
    startMs,
    costs: (step) => costs.of(step),
    userTime: (of) => costs.user(of),
    ...(note === undefined ? {} : { trace: note }),
  });
  const network = new Network({
    env: clock,
    random: random("network"),
    latency: () => costs.network(),
    trace: note,
  });
  const stopSorting = sortRejections();
  const store = options.store ?? new MemoryStore();
  let { deployment } = options;
  let running: { core: Core; place: Branch } | null = null;
  let starts = 0;
  let names = 0;

  const start = async (): Promise<void> => {
    const place = clock.branch(`backend ${++starts}`);
    place.fetch = network.connect(`backend ${starts}`, place).fetch;
    const core = await clock.run(
      createCore(URLS, {
        env: place,
        adminKey: ADMIN_KEY,
        quiet: true,
        class: deploymentClass,
        ...(options.limits === undefined ? {} : { limits: options.limits }),
        database: {
          store: mortalStore(store, place),
          publishLatencyMs: 0,
          skipValidation: options.skipValidation === true,
          ...(options.refuses === undefined ? {} : { refuses: options.refuses }),
          ...(options.snapshotLagMs === undefined ? {} : { snapshotLagMs: options.snapshotLagMs }),
        },
        ...(options.variables === undefined ? {} : { variables: options.variables }),
        ...(deployment === undefined ? {} : { deployment }),
        runner: { contexts: "watched", ...options.runner },
      }),
    );
    if (note !== undefined) traceBackend(core, note);
    running = { core, place };
    network.serve(HOST, core);
    network.serve(SITE_HOST, { fetch: (request) => core.site(request) });
  };
  const crash = (): void => {
    if (running === null) return;
    running.place.drop();
    running = null;
    network.serve(HOST, null);
    network.serve(SITE_HOST, null);
    network.forget(network.link(`backend ${starts}`));
    for (const link of network.links) link.cut();
  };
  const backend = (): Core => {
    if (running === null) throw new Error("The backend is down.");
    return running.core;
  };
  const post = async (path: string, body: object): Promise<any> => {
    const request = new Request(URLS.cloud + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Convex ${ADMIN_KEY}` },
      body: JSON.stringify(body),
    });
    const response = await clock.run(backend().fetch(request));
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  const client = (name: string) => {
    const place = clock.branch(name);
    const crashed = (error: unknown): void => {
      throw error;
    };
    return clients({ name, place, link: network.connect(name, place), crashed });
  };

  await start();
  return {
    clock,
    url: URLS.cloud,
    siteUrl: URLS.site,
    network,
    random: random("caller"),
    trace,
    get backend() {
      return backend();
    },
    get stats() {
      return backend().stats;
    },
    now: () => clock.now(),
    run: (work) => clock.run(work),
    advance: (ms) => clock.advance(ms),
    until: (holds, given) => clock.until(holds, given),
    untilIdle: (given) => clock.untilIdle(given),
    async push(app) {
      await pushBundle(app, ADMIN_KEY, post);
      // From here on the store has it.
      deployment = undefined;
    },
    async install(next) {
      await clock.run(backend().install(next));
      deployment = next;
    },
    httpClient: (name = `client ${++names}`) => client(name).http(URLS.cloud),
    client: (name = `client ${++names}`) => client(name).socket(URLS.cloud),
    async program(entry, given) {
      const code = given.code ?? (await bundleFile(entry));
      const place = clock.branch(given.name);
      const program = new Program(given, place, network.connect(given.name, place), ++names + 100);
      program.start(code);
      return program;
    },
    async call(path, args = {}, { componentPath } = {}) {
      const told = await post("/api/function", {
        path,
        args: convexToJson(args as Value),
        format: "convex_encoded_json",
        ...(componentPath === undefined ? {} : { componentPath }),
      });
      if (told.status === "success") return jsonToConvex(told.value as JSONValue);
      throw Object.assign(new Error(told.errorMessage), { data: told.errorData });
    },
    async restartBackend({ downMs = 0 } = {}) {
      crash();
      if (downMs > 0) await clock.advance(downMs);
      await start();
    },
    async close() {
      crash();
      stopSorting();
    },
  };
}
