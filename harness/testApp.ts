/** The test app (`harness/app`), pushed by the official CLI to a local backend in this process. */
import path from "node:path";
import { ConvexHttpClient } from "convex/browser";
import {
  getFunctionName,
  type FunctionArgs,
  type FunctionReference,
  type FunctionReturnType,
} from "convex/server";
import { startBackend, type Backend, type BackendOptions } from "../local/backend.js";
import { internal } from "./app/convex/_generated/api.js";
import { convex, push } from "./cli.js";
import { linkPackage } from "./link.js";
import { root } from "./paths.js";

const folder = path.join(root, "harness/app");

export interface TestApp {
  backend: Backend;
  url: string;
  client: ConvexHttpClient;
  /** Runs an internal function with `convex run`, as a developer does. */
  run<Reference extends FunctionReference<"mutation" | "query" | "action", "internal">>(
    reference: Reference,
    args: FunctionArgs<Reference>,
  ): Promise<FunctionReturnType<Reference>>;
  /** A new worker token. */
  token(queues?: string[] | null): Promise<string>;
  close(): Promise<void>;
}

export async function startApp(options: Partial<BackendOptions> = {}): Promise<TestApp> {
  linkPackage(folder);
  const backend = await startBackend({ port: 0, quiet: true, ...options });
  try {
    await push(folder, backend);
  } catch (error) {
    await backend.close();
    throw error;
  }
  const run: TestApp["run"] = async (reference, args) => {
    const call = ["run", getFunctionName(reference), JSON.stringify(args)];
    // The CLI prints nothing for `null`.
    return JSON.parse((await convex(folder, call, backend)).trim() || "null");
  };
  return {
    backend,
    url: backend.url,
    client: new ConvexHttpClient(backend.url),
    run,
    token: async (queues = null) =>
      (await run(internal.tokens.create, { name: "test", queues })).token,
    close: () => backend.close(),
  };
}
