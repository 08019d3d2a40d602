/** Worker programs as real processes, against a real backend on this machine: their output, with its times. */
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { ConvexHttpClient } from "convex/browser";
import { makeFunctionReference } from "convex/server";
import { convex, push } from "../../local/convexCli.js";
import { linkPackage } from "../../tests/support/link.js";
import { root } from "../../tests/support/paths.js";
import { startBackend, type Backend } from "../../local/backend.js";
import { ALTERNATIVES, type AlternativeName } from "../alternatives.js";

const PULL = path.join(root, "bench/pull");
const APP = path.join(PULL, "app");
const SECRET = "a secret";
const START_MS = 60_000;

export interface ProcessFleet {
  /** Calls a mutation of the alternative's module as a caller does. */
  call: (name: string, args: Record<string, unknown>) => Promise<void>;
  /** When each job began and ended, by this process's clock, since it was last cleared. */
  readonly began: Map<number, number>;
  readonly ended: Map<number, number>;
  readonly errors: string[];
  close(): Promise<void>;
}

export async function startFleet(name: AlternativeName, workers: number): Promise<ProcessFleet> {
  const { module } = ALTERNATIVES[name];
  linkPackage(PULL);
  const variables = { WORKER_SECRET: SECRET };
  const backend = await startBackend({ port: 0, quiet: true, class: "s256", variables });
  const children: ChildProcess[] = [];
  const [began, ended] = [new Map<number, number>(), new Map<number, number>()];
  const errors: string[] = [];
  const hear = (line: string): void => {
    const [, what, said] = /^(began|ended|error) (.*)/.exec(line) ?? [];
    if (what === "began") began.set(Number(said), performance.now());
    else if (what === "ended") ended.set(Number(said), performance.now());
    else if (what === "error") errors.push(said!);
  };
  const close = async (): Promise<void> => {
    for (const child of children) child.kill("SIGKILL");
    await backend.close();
  };
  try {
    await push(APP, backend);
    const names = Array.from({ length: workers }, (_, n) => `worker ${n}`);
    const key = await admit(backend, module, names);
    for (const one of names) {
      const child = spawn(
        process.execPath,
        ["--import", "tsx", "--no-warnings", path.join(PULL, `workers/${module}.ts`)],
        {
          stdio: ["ignore", "pipe", "ignore"],
          env: {
            ...process.env,
            ...{ CONVEX_URL: backend.url, WORKER_NAME: one },
            ...{ WORKER_KEY: key, WORKER_CONCURRENCY: "1" },
          },
        },
      );
      createInterface(child.stdout).on("line", hear);
      children.push(child);
    }
    const client = new ConvexHttpClient(backend.url, { logger: false });
    const call: ProcessFleet["call"] = async (mutation, args) => {
      const reference = makeFunctionReference<"mutation">(`${module}:${mutation}`);
      await client.mutation(reference, args, { skipQueue: true });
    };
    // Each has had one: all are there.
    await call("enqueueAll", { works: worksOf(workers, 500, -1_000) });
    await until(() => ended.size >= workers, START_MS);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    for (const seen of [began, ended]) seen.clear();
    errors.length = 0;
    return { call, began, ended, errors, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The credential of a worker. */
async function admit(backend: Backend, module: string, names: string[]): Promise<string> {
  const run = async (name: string, args: object): Promise<string> =>
    await convex(APP, ["run", name, JSON.stringify(args)], backend);
  if (module === "farm") await run("farm:admit", { apiKeys: names });
  if (module !== "conveyor") return SECRET;
  const created = await run("conveyor:create", { name: "fleet", queues: null });
  return (JSON.parse(created) as { token: string }).token;
}

export function worksOf(count: number, ms: number, from = 0): { n: number; ms: number }[] {
  return Array.from({ length: count }, (_, n) => ({ n: from + n, ms }));
}

export async function until(holds: () => boolean, withinMs: number): Promise<void> {
  const stop = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > stop) throw new Error(`It is not so after ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
