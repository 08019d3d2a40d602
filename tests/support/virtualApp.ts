/** The test app in virtual time: pushed as the official CLI bundles it, with a token for its workers. */
import path from "node:path";
import { linkPackage } from "./link.js";
import { root } from "./paths.js";
import { Session } from "./session.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import { evaluatedApp } from "../../local/virtual/evaluatedApp.js";
import { keepSandboxes } from "../../local/virtual/keptSandboxes.js";
import type { Program } from "../../local/virtual/program.js";
import { createWorld, type World, type WorldOptions } from "../../local/virtual/world.js";

const APP = path.join(root, "tests/support/app");

/** That modules carry nothing from call to call is held elsewhere: that check takes the most time of all. */
const SANDBOXES = keepSandboxes({ contexts: "reused" });

export interface VirtualApp {
  world: World;
  /** Of a worker that may serve every queue. */
  token: string;
  /** A session of the queue `races`, or another, spoken by hand over a client of its own. */
  session: (name: string, queue?: "races" | "mixed") => Session;
  /** The worker program of the test app: it serves `sums`. */
  worker: (name: string, concurrency: number) => Promise<Program>;
}

export async function startVirtualApp(options: WorldOptions): Promise<VirtualApp> {
  linkPackage(APP);
  const app = await bundleApp(APP, { inputs: [path.join(root, "dist")] });
  const world = await createWorld({
    deployment: await evaluatedApp(app, options.variables),
    runner: { sandboxes: SANDBOXES },
    ...options,
  });
  const { token } = (await world.call("tokens:create", { name: "fleet", queues: null })) as {
    token: string;
  };
  return {
    world,
    token,
    session: (name, queue = "races") =>
      new Session(world.httpClient(name), token, name, queue, name),
    worker: (name, concurrency) =>
      world.program(path.join(APP, "worker.ts"), {
        name,
        env: {
          CONVEX_URL: world.url,
          CONVEYOR_TOKEN: token,
          WORKER_NAME: name,
          WORKER_CONCURRENCY: String(concurrency),
        },
      }),
  };
}
