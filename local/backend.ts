/**
 * The local backend as one thing to start and stop: the engine, the functions that run on it, the push, and the server
 * that the official CLI and the official clients talk to. Tests use it in their own process; `main.ts` makes a program
 * of it.
 */
import { version } from "convex";
import type { AddressInfo } from "node:net";
import type { Server } from "node:http";
import { join } from "node:path";
import { TokenVerifier } from "./auth/tokens.js";
import { createDatabase, openDatabase } from "./engine/database.js";
import type { Store } from "./engine/store.js";
import type { Database, DatabaseOptions } from "./engine/types.js";
import { wallEnvironment, type Environment } from "./environment.js";
import { DEFAULT_CLASS, type DeploymentClass } from "./functions/classes.js";
import { bytesInMemory, type FileBytes } from "./files/bytes.js";
import { bytesInFolder } from "./files/bytesInFolder.js";
import { fileRoutes } from "./files/fileRoutes.js";
import { createFiles } from "./files/files.js";
import { FunctionError, PlatformError } from "./functions/errors.js";
import { ANYONE } from "./functions/identity.js";
import { createFunctionRunner } from "./functions/runner.js";
import type { Deployment, FunctionRunner, RunnerOptions } from "./functions/types.js";
import type { Limits } from "./limits.js";
import { httpActionRoutes, siteRoutes, type SiteOptions } from "./http/routes.js";
import { Pusher } from "./push/pusher.js";
import { evaluateInThread } from "./push/threadEvaluation.js";
import { AdminKey } from "./server/adminKey.js";
import { Authenticator } from "./server/authenticator.js";
import { createCalls } from "./server/calls.js";
import { deployRoutes } from "./server/deployRoutes.js";
import { FunctionLogs } from "./server/functionLogs.js";
import { functionRoutes } from "./server/functionRoutes.js";
import { createDoor, type Door } from "./server/door.js";
import { createFetch, type Fetch, type Routes } from "./server/http.js";
import { infoRoutes } from "./server/infoRoutes.js";
import { CLOSE_GRACE_MS } from "./server/limits.js";
import { logRoutes } from "./server/logRoutes.js";
import { createNodeServer } from "./server/nodeServer.js";
import { printLogs } from "./server/printLogs.js";
import { SyncServer } from "./server/sync/syncServer.js";
import { attachWebSockets } from "./server/sync/webSockets.js";
import { createSystemQueries } from "./server/systemQueries.js";
import { statsRoutes } from "./stats/routes.js";
import { Stats } from "./stats/stats.js";
import { openSqliteStore } from "./store/sqliteStore.js";

export interface CoreOptions {
  /** Defaults to the one that was used last on the same data, and at first to one made from randomness. */
  adminKey?: string;
  /**
   * A folder for everything that is to outlive the process: rows, the deployment, scheduled functions. Made when it is
   * missing; one process at a time. Defaults to `database.store`, and without that to memory.
   */
  data?: string;
  /** Time, waiting and randomness. Defaults to the wall clock and the operating system's. */
  env?: Environment;
  /** Variables that functions see in `process.env` from the first push on, as if by `convex env set`. */
  variables?: Record<string, string>;
  /**
   * The deployment served from the start, in place of the last push on the same data: evaluated already, its variables
   * in it. Defaults to the latter.
   */
  deployment?: Deployment;
  /** How much runs at once, and how fast it may write, as on a deployment of that class. Defaults to "s16". */
  class?: DeploymentClass;
  /** Functions' console output does not go to this process's own. Defaults to false. */
  quiet?: boolean;
  /** As a production deployment: clients get neither the texts of errors nor log lines. Defaults to false. */
  redact?: boolean;
  /** Limits on apps, instead of the platform's: for tests of the limits. */
  limits?: Partial<Limits>;
  database?: DatabaseOptions;
  /** Where the bytes of stored files are. Defaults to a folder in `data`, and without that to memory. */
  files?: FileBytes;
  runner?: RunnerOptions;
}

export interface BackendOptions extends CoreOptions {
  /** Defaults to 0: any free port. */
  port?: number;
  /**
   * Where HTTP actions are served: every path of that port is the app's. Defaults to the one after `port`, as the
   * platform's own local backend does, or any free port when that one is taken or `port` is 0.
   */
  sitePort?: number;
  /** Defaults to 127.0.0.1: the rest of the network has no access. */
  host?: string;
}

/** A backend without a port: callers in this process come in through its door. */
export interface Core extends Door {
  /** As `fetch`, for the URL where HTTP actions are. */
  site: Fetch;
  readonly adminKey: string;
  readonly database: Database;
  readonly runner: FunctionRunner;
  readonly sync: SyncServer;
  /** The counters since the start, or since the last reset. */
  readonly stats: Stats;
  /** Cuts every client's connection, as a bad network would: clients reconnect. */
  dropConnections(): void;
  /**
   * Replaces the deployment and applies its schemas, as a push does, with one that was evaluated elsewhere. It is not
   * kept.
   */
  install(deployment: Deployment): Promise<void>;
  /** Waits for running functions a while, then ends connections. May be called twice. */
  close(): Promise<void>;
}

export interface Backend extends Core {
  /** Where clients and the CLI reach it. */
  readonly url: string;
  /** Where HTTP actions are. */
  readonly siteUrl: string;
}

/** Resolves when it listens. Rejects with `EADDRINUSE` when the port is taken. */
export async function startBackend(options: BackendOptions = {}): Promise<Backend> {
  const data = await openData(options);
  // Then the ports: functions see one in CONVEX_CLOUD_URL. Clients of an earlier start wait a moment.
  let ready: (core: Core) => void = () => {};
  const opening = new Promise<Core>((resolve) => (ready = resolve));
  const server = createNodeServer(async (request) => (await opening).fetch(request), onCrash);
  const siteServer = createNodeServer(async (request) => (await opening).site(request), onCrash);
  const [url, siteUrl] = await listenOnBoth([server, siteServer], options).catch(
    async (error: unknown) => {
      await data.store?.close();
      throw error;
    },
  );
  const core = await createCoreOn(data, { cloud: url, site: siteUrl }, options);
  const sockets = attachWebSockets(server, core.sync);
  ready(core);

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await core.close();
    sockets.close();
    await Promise.all([closed(server), closed(siteServer)]);
  };
  return { ...core, url, siteUrl, close: () => (closing ??= close()) };
}

/** `urls` are the functions' variables: nothing listens there because of this. */
export async function createCore(
  urls: { cloud: string; site: string },
  options: CoreOptions = {},
): Promise<Core> {
  return createCoreOn(await openData(options), urls, options);
}

interface Data {
  database: Database;
  /** Absent when nothing is to outlive the process. */
  store: Store | undefined;
}

async function openData({
  env = wallEnvironment,
  data,
  limits = {},
  database: given = {},
}: CoreOptions): Promise<Data> {
  const database = { ...given, limits: { ...given.limits, ...limits } };
  const store =
    data === undefined ? database.store : await openSqliteStore(env, { directory: data });
  if (store === undefined) return { store, database: createDatabase(env, database) };
  try {
    return { store, database: await openDatabase(env, { ...database, store }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function createCoreOn(
  { database, store }: Data,
  urls: { cloud: string; site: string },
  options: CoreOptions,
): Promise<Core> {
  const { env = wallEnvironment, quiet = false } = options;
  const key = options.adminKey ?? database.settings.get(ADMIN_KEY) ?? randomAdminKey(env);
  const adminKey = new AdminKey(key);
  if (store !== undefined) await database.applySchemas([], undefined, new Map([[ADMIN_KEY, key]]));
  const files = createFiles({ bytes: filesOf(options), origin: urls.cloud, secret: key });
  // A thread knows no clock but the machine's.
  const threads = env === wallEnvironment;
  const runner = createFunctionRunner(env, database, {
    files,
    isolation: threads ? "threads" : "inline",
    class: options.class ?? DEFAULT_CLASS,
    ...options.runner,
  });
  const pusher = new Pusher({
    ...(threads && { evaluate: (task) => evaluateInThread(env, task) }),
    database,
    runner,
    urls,
    environment: options.variables ?? {},
  });
  if (options.deployment === undefined) await pusher.restore();
  else await pusher.install(options.deployment);
  const system = createSystemQueries(database, runner, pusher);
  const redact = options.redact ?? false;
  const calls = createCalls(runner, system, { redact });
  const authenticator = new Authenticator(
    adminKey,
    new TokenVerifier(env),
    () => runner.deployment.auth ?? [],
  );
  const logs = new FunctionLogs(env, runner);
  const stats = new Stats(env, runner);
  if (!quiet) printLogs(runner);
  const identify = forgiving(authenticator);
  const siteOptions: SiteOptions = { env, runner, identify, redact };
  const routes: Routes = {
    ...infoRoutes(),
    ...httpActionRoutes(siteOptions),
    ...fileRoutes(env, database, files),
    ...functionRoutes(calls, authenticator, database),
    ...deployRoutes(pusher, adminKey, urls),
    ...logRoutes(logs, adminKey),
    ...statsRoutes(stats, adminKey),
  };
  const sync = new SyncServer({
    env,
    database,
    calls,
    authenticator,
    onCrash,
    onInstalled: (listener) => pusher.onInstalled(listener),
  });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await runner.stop(CLOSE_GRACE_MS);
    sync.close();
    logs.close();
    stats.close();
    await store?.close();
    // A reader that waits for logs is answered before connections are cut.
    await env.pause();
  };
  return {
    ...createDoor(createFetch(routes, onCrash), sync),
    site: createFetch(
      siteRoutes(siteOptions, () => version),
      onCrash,
    ),
    adminKey: adminKey.key,
    database,
    runner,
    sync,
    stats,
    dropConnections: () => sync.dropConnections(),
    install: (deployment) => pusher.install(deployment),
    close: () => (closing ??= close()),
  };
}

/** Bytes are where the rows are: beside them on the disk, or in memory. */
function filesOf({ data, files }: CoreOptions): FileBytes {
  return files ?? (data === undefined ? bytesInMemory() : bytesInFolder(join(data, "files")));
}

function onCrash(error: unknown): void {
  // An app's own, in the middle of an answer that had begun: its log has it.
  if (error instanceof FunctionError) return;
  console.error("The local backend failed:", error);
}

/**
 * Any caller may call an HTTP action, with headers of its own: a foreign token is left to the app, which gets the error
 * when it asks for the user (local_backend/src/http_actions.rs).
 */
function forgiving(authenticator: Authenticator): SiteOptions["identify"] {
  return (request) => {
    const authorization = request.headers.get("authorization") ?? undefined;
    return authenticator
      .ofRequest({ authorization, url: new URL(request.url) })
      .catch((error: unknown) => {
        if (error instanceof PlatformError) return { ...ANYONE, refusal: error.message };
        throw error;
      });
  };
}

/** The API's port and the site's. Only one that was asked for by number must be free. */
async function listenOnBoth(
  [server, siteServer]: [Server, Server],
  { port = 0, sitePort, host = "127.0.0.1" }: BackendOptions,
): Promise<[url: string, siteUrl: string]> {
  const url = await listen(server, port, host);
  const next = Number(new URL(url).port) + 1;
  try {
    if (sitePort !== undefined) return [url, await listen(siteServer, sitePort, host)];
    if (port === 0 || next > 65_535) return [url, await listen(siteServer, 0, host)];
    return [url, await listen(siteServer, next, host).catch(() => listen(siteServer, 0, host))];
  } catch (error) {
    await closed(server);
    throw error;
  }
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address() as AddressInfo;
      resolve(`http://${host}:${address.port}`);
    });
  });
}

/** The name that the admin key is kept under. */
const ADMIN_KEY = "adminKey";

/** In the form of the platform's keys: the deployment's name, a bar, the secret. */
function randomAdminKey(env: Environment): string {
  return `conveyor-local|${Buffer.from(env.randomBytes(24)).toString("hex")}`;
}
