/**
 * The local backend as one thing to start and stop: the engine, the functions that run on it, the push, and the server
 * that the official CLI and the official clients talk to. Tests use it in their own process; `main.ts` makes a program
 * of it.
 */
import type { AddressInfo } from "node:net";
import type { Server } from "node:http";
import { createDatabase } from "./engine/database.js";
import type { Database, DatabaseOptions } from "./engine/types.js";
import { wallEnvironment, type Environment } from "./environment.js";
import { DEFAULT_CLASS, type DeploymentClass } from "./functions/classes.js";
import { createFunctionRunner } from "./functions/runner.js";
import type { FunctionRunner, RunnerOptions } from "./functions/types.js";
import { Pusher } from "./push/pusher.js";
import { AdminKey } from "./server/adminKey.js";
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

export interface CoreOptions {
  /** Defaults to one made from randomness, another at each start. */
  adminKey?: string;
  /** Time, waiting and randomness. Defaults to the wall clock and the operating system's. */
  env?: Environment;
  /** Variables that functions see in `process.env` from the first push on, as if by `convex env set`. */
  variables?: Record<string, string>;
  /** How much runs at once, and how fast it may write, as on a deployment of that class. Defaults to "s16". */
  class?: DeploymentClass;
  /** Functions' console output does not go to this process's own. Defaults to false. */
  quiet?: boolean;
  database?: DatabaseOptions;
  runner?: RunnerOptions;
}

export interface BackendOptions extends CoreOptions {
  /** Defaults to 0: any free port. */
  port?: number;
  /** Defaults to 127.0.0.1: nobody else on the network gets in. */
  host?: string;
}

/** A backend without a port: callers in this process come in through its door. */
export interface Core extends Door {
  readonly adminKey: string;
  readonly database: Database;
  readonly runner: FunctionRunner;
  readonly sync: SyncServer;
  /** Cuts every client's connection, as a bad network would: clients reconnect. */
  dropConnections(): void;
  /** Waits for running functions a while, then ends connections. May be called twice. */
  close(): Promise<void>;
}

export interface Backend extends Core {
  /** Where clients and the CLI reach it. */
  readonly url: string;
  /** Where HTTP actions would be. */
  readonly siteUrl: string;
}

/** Resolves when it listens. Rejects with `EADDRINUSE` when the port is taken. */
export async function startBackend(options: BackendOptions = {}): Promise<Backend> {
  const { port = 0, host = "127.0.0.1" } = options;
  // The port first: what functions see as CONVEX_CLOUD_URL holds it. Until the backend is there, nobody knows the port.
  let fetch: Fetch = () => Promise.resolve(new Response(null, { status: 503 }));
  const server = createNodeServer((request) => fetch(request), onCrash);
  const url = await listen(server, port, host);
  const siteUrl = `${url}/http`;
  const core = await createCore({ cloud: url, site: siteUrl }, options);
  ({ fetch } = core);
  const sockets = attachWebSockets(server, core.sync);

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await core.close();
    sockets.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  return { ...core, url, siteUrl, close: () => (closing ??= close()) };
}

/** `urls` are what functions are told: nothing listens there because of this. */
export async function createCore(
  urls: { cloud: string; site: string },
  options: CoreOptions = {},
): Promise<Core> {
  const { env = wallEnvironment, quiet = false } = options;
  const adminKey = new AdminKey(options.adminKey ?? randomAdminKey(env));
  const database = createDatabase(env, options.database);
  const runner = createFunctionRunner(env, database, {
    class: options.class ?? DEFAULT_CLASS,
    ...options.runner,
  });
  const pusher = new Pusher({
    database,
    runner,
    urls,
    environment: options.variables ?? {},
    onNote: (note) => quiet || console.warn(note),
  });
  const calls = createCalls(runner, createSystemQueries(database, runner, pusher));
  const logs = new FunctionLogs(env, runner);
  if (!quiet) printLogs(runner);
  const routes: Routes = {
    ...infoRoutes(),
    ...functionRoutes(calls, adminKey, database),
    ...deployRoutes(pusher, adminKey, urls),
    ...logRoutes(logs, adminKey),
  };
  const sync = new SyncServer({
    env,
    database,
    calls,
    adminKey,
    onCrash,
    onInstalled: (listener) => pusher.onInstalled(listener),
  });

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await runner.stop(CLOSE_GRACE_MS);
    sync.close();
    logs.close();
    // Whoever waited for logs is answered before connections are cut.
    await env.pause();
  };
  return {
    ...createDoor(createFetch(routes, onCrash), sync),
    adminKey: adminKey.key,
    database,
    runner,
    sync,
    dropConnections: () => sync.dropConnections(),
    close: () => (closing ??= close()),
  };
}

function onCrash(error: unknown): void {
  console.error("The local backend failed:", error);
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

/** In the form of the platform's keys: the deployment's name, a bar, the secret. */
function randomAdminKey(env: Environment): string {
  return `conveyor-local|${Buffer.from(env.randomBytes(24)).toString("hex")}`;
}
