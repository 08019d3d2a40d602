/** The test app (`tests/support/app`) on a local backend, which is in this process if nothing else is said. */
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import {
  getFunctionName,
  type FunctionArgs,
  type FunctionReference,
  type FunctionReturnType,
} from "convex/server";
import { startBackend, type Backend, type BackendOptions } from "../../local/backend.js";
import { internal } from "./app/convex/_generated/api.js";
import type { Deployment } from "../../local/convexCli.js";
import { deploy, runAsAdmin } from "./deploy.js";
import { root } from "./paths.js";

const folder = path.join(root, "tests/support/app");

/** On any backend. */
export interface PushedApp {
  url: string;
  client: ConvexHttpClient;
  /** Runs an internal function, as an administrator. */
  run<Reference extends FunctionReference<"mutation" | "query" | "action", "internal">>(
    reference: Reference,
    args: FunctionArgs<Reference>,
  ): Promise<FunctionReturnType<Reference>>;
  /** A new worker token. */
  token(queues?: string[] | null): Promise<string>;
}

export interface TestApp extends PushedApp {
  backend: Backend;
  close(): Promise<void>;
}

export async function startApp(options: Partial<BackendOptions> = {}): Promise<TestApp> {
  const backend = await startBackend({ port: 0, quiet: true, ...options });
  try {
    return { ...(await pushApp(backend)), backend, close: () => backend.close() };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

export async function pushApp(to: Deployment): Promise<PushedApp> {
  await deploy(folder, to);
  const run: PushedApp["run"] = async (reference, args) =>
    await runAsAdmin(to, getFunctionName(reference), args);
  return {
    url: to.url,
    client: new ConvexHttpClient(to.url),
    run,
    token: async (queues = null) =>
      (await run(internal.tokens.create, { name: "test", queues })).token,
  };
}
