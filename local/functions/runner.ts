/**
 * The function runner: the server's entry. It holds the deployment, and gives each call to the file that runs its kind:
 * `queries.ts`, `mutations.ts`, `actions.ts`, and `executor.ts` for scheduled functions.
 */
import type { Database } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { runAction } from "./actions.js";
import type { Calls } from "./actionSyscalls.js";
import { DEFAULT_CLASS, limitsOf } from "./classes.js";
import { startCronExecutor } from "./crons/executor.js";
import { installCrons } from "./crons/install.js";
import { CRON_TABLES } from "./crons/table.js";
import { bytesInMemory } from "../files/bytes.js";
import { createFiles, type Files } from "../files/files.js";
import { runHttpAction } from "../http/httpAction.js";
import { PlatformError } from "./errors.js";
import { createEvents } from "./events.js";
import { startExecutor } from "./executor.js";
import { CRON_SPLAY_MS, NODE_ACTION_TIMEOUT_MS, V8_ACTION_TIMEOUT_MS } from "./limits.js";
import { inlineIsolation } from "./inlineIsolation.js";
import { findTarget } from "./lookup.js";
import { runMutation, type MutationCall } from "./mutations.js";
import { createPermits } from "./permits.js";
import { createQueries } from "./queries.js";
import { sortRejections } from "./rejections.js";
import type { RunAction } from "./scheduledRuns.js";
import { SYSTEM_TABLES } from "./scheduledTable.js";
import { SESSION_TABLE } from "./sessionRequests.js";
import type { Request, RunnerSettings, Services } from "./scope.js";
import { threadIsolation } from "./threads/threadIsolation.js";
import type { CallOptions, Deployment, FunctionRunner, RunnerOptions } from "./types.js";
import { USER_TIME_MS } from "./threads/limits.js";
import { createWriteRate } from "./writeRate.js";

export function createFunctionRunner(
  env: Environment,
  database: Database,
  options: RunnerOptions = {},
): FunctionRunner {
  let deployment: Deployment = { instances: new Map() };
  const events = createEvents();
  const settings = settingsOf(options);
  const writeRate = createWriteRate(env, database, settings.limits.writeBytesPerSecond);
  const services: Services = {
    env,
    database,
    events,
    sandboxes:
      options.isolation === "threads"
        ? threadIsolation(env, options.userTimeMs)
        : inlineIsolation(env, options),
    files: options.files ?? unservedFiles(env),
    permits: createPermits(env, settings.limits, (kind, ms) => events.waited(kind, ms)),
    runningActions: new Set(),
    writeRate,
    deployment: () => deployment,
    options: settings,
  };
  const queries = createQueries(services);
  const calls = callsFromActions(services, queries);
  const runScheduledAction: RunAction = (address, args, request) =>
    runAction(services, calls, { address, args, request, publicOnly: false, scheduled: true });
  const scheduled = startExecutor(services, runScheduledAction);
  const executors = [scheduled, startCronExecutor(services, runScheduledAction)];
  const stopSorting = sortRejections();
  const open = new OpenCalls();

  return {
    get deployment() {
      return deployment;
    },
    async install(next, schemas = [], settings) {
      for (const namespace of next.instances.keys()) {
        const tables = [...SYSTEM_TABLES, ...CRON_TABLES];
        if (namespace === "") tables.push(SESSION_TABLE);
        await database.applySchema(namespace, tables, { enforce: false });
      }
      const before = deployment;
      const visible = () => {
        deployment = next;
        queries.clear();
        services.sandboxes.retire();
      };
      await database.applySchemas(schemas, visible, settings);
      await installCrons(services, before, next);
      for (const executor of executors) executor.look();
    },
    ...callsFromOutside(services, queries, calls, open),
    loseActions(which) {
      const lost = [...services.runningActions].filter(which);
      for (const action of lost) action.lose();
      return lost.length;
    },
    occupancy: () => ({
      queries: services.permits.queries.running,
      mutations: services.permits.mutations.running,
      actions: services.permits.v8Actions.running + services.permits.nodeActions.running,
      scheduled: scheduled.running,
    }),
    find: (address) => findTarget(deployment, address)?.analyzed ?? null,
    onLog: (listener) => events.onLog(listener),
    onCompletion: (listener) => events.onCompletion(listener),
    onWait: (listener) => events.onWait(listener),
    onHousekeeping: (listener) => events.onHousekeeping(listener),
    async stop(graceMs) {
      const ended = Promise.all([...executors.map((executor) => executor.stop()), open.close()]);
      await withinGrace(env, ended, graceMs);
      await services.sandboxes.stop();
      queries.close();
      writeRate.close();
      stopSorting();
    },
  };
}

function settingsOf(options: RunnerOptions): RunnerSettings {
  const deploymentClass = options.class ?? DEFAULT_CLASS;
  return {
    class: deploymentClass,
    limits: limitsOf(deploymentClass, options.classLimits),
    deploymentName: options.deploymentName ?? "local",
    actionOperations: options.actionOperations ?? Infinity,
    actionTimeoutMs: {
      v8: V8_ACTION_TIMEOUT_MS,
      node: NODE_ACTION_TIMEOUT_MS,
      ...options.actionTimeoutMs,
    },
    cronSplayMs: options.cronSplayMs ?? CRON_SPLAY_MS,
    userTimeMs: options.userTimeMs ?? USER_TIME_MS,
  };
}

function unservedFiles(env: Environment): Files {
  const secret = Buffer.from(env.randomBytes(16)).toString("hex");
  return createFiles({ bytes: bytesInMemory(), origin: "http://127.0.0.1", secret });
}

/** Each is waited for when the runner stops. */
function callsFromOutside(
  services: Services,
  queries: ReturnType<typeof createQueries>,
  calls: Calls,
  open: OpenCalls,
): Pick<FunctionRunner, "query" | "mutation" | "action" | "http"> {
  return {
    query: (address, args, { publicOnly, journal = null, at, ...from }) =>
      open.run(() =>
        queries.run({
          address,
          args,
          publicOnly,
          journal,
          request: requestOf(from),
          ...(at !== undefined && { at }),
        }),
      ),
    mutation: (address, args, { publicOnly, source, session, ...from }) =>
      open.run(() =>
        mutate(services, {
          address,
          args,
          publicOnly,
          request: requestOf(from),
          ...(session === undefined ? {} : { session }),
          ...(source === undefined ? {} : { source }),
        }),
      ),
    action: (address, args, { publicOnly, ...from }) =>
      open.run(() =>
        runAction(services, calls, {
          address,
          args,
          publicOnly,
          request: requestOf(from),
          scheduled: false,
        }),
      ),
    http: (request, { url, redact = false, ...from }) =>
      new Promise((resolve, reject) => {
        const run = () => {
          const caller = { ...requestOf(from), redact };
          const { response, ended } = runHttpAction(services, calls, request, url, caller);
          response.then(resolve, reject);
          return ended;
        };
        open.run(run).catch(reject);
      }),
  };
}

function callsFromActions(services: Services, queries: ReturnType<typeof createQueries>): Calls {
  const calls: Calls = {
    query: (address, args, request) =>
      queries.run({ address, args, request, publicOnly: false, journal: null }),
    mutation: (address, args, request) =>
      mutate(services, { address, args, request, publicOnly: false }),
    action: (address, args, request) =>
      runAction(services, calls, { address, args, request, publicOnly: false, scheduled: false }),
  };
  return calls;
}

async function mutate(services: Services, call: Omit<MutationCall, "job">) {
  const result = await runMutation(services, call);
  if (result === null) throw new Error("Only a scheduled mutation can find nothing to run.");
  return result;
}

function requestOf({ identity, requestId }: Pick<CallOptions, "identity" | "requestId">): Request {
  return { identity, requestId, scheduledBy: null };
}

/** Calls from outside that have not ended. The calls that actions make in turn are part of them. */
class OpenCalls {
  readonly #calls = new Set<Promise<unknown>>();
  #closed = false;

  run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) {
      const refusal = "The backend is stopping and takes no more calls. Try again when it runs.";
      return Promise.reject(new PlatformError(503, "BackendIsStopping", refusal));
    }
    const running = call();
    this.#calls.add(running);
    const done = () => void this.#calls.delete(running);
    running.then(done, done);
    return running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#calls);
  }
}

async function withinGrace(
  env: Environment,
  ended: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = env.timer(graceMs, resolve);
    ended.then(() => {
      timer.cancel();
      resolve();
    }, reject);
  });
}
