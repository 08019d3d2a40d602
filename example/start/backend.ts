/** Starts the local backend as a program of its own, so that it can be watched, stopped and killed like one. */
import { createServer } from "node:net";
import type { Child } from "./child.js";
import type { Children } from "./children.js";
import { typescript } from "./repository.js";

export interface RunningBackend {
  readonly child: Child;
  readonly url: string;
  readonly adminKey: string;
}

const USUAL_PORT = 3210;

/** Takes the usual port where it is free, so that a page left open finds the backend again; otherwise any. */
export async function startBackend(children: Children): Promise<RunningBackend> {
  const port = (await isFree(USUAL_PORT)) ? USUAL_PORT : 0;
  const child = children.start("The backend", [
    "--experimental-vm-modules",
    ...typescript("local/main.ts", "--in-memory", "--port", String(port)),
  ]);
  const [, url] = await child.saying(/^CONVEX_SELF_HOSTED_URL='(.+)'$/);
  const [, adminKey] = await child.saying(/^CONVEX_SELF_HOSTED_ADMIN_KEY='(.+)'$/);
  return { child, url: url!, adminKey: adminKey! };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
