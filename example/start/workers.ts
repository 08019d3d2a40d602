/** Starts worker processes. */
import type { RunningBackend } from "./backend.js";
import type { Child } from "./child.js";
import type { Children } from "./children.js";
import { typescript } from "./repository.js";

/** Chosen so that their colours lie far apart. */
const NAMES = ["anvil", "bellows", "hammer", "forge", "tongs", "crucible", "mandrel", "swage"];

/** Resolves when all of them ask for work. */
export async function startWorkers(
  children: Children,
  backend: RunningBackend,
  token: string,
  count: number,
): Promise<Child[]> {
  const workers = NAMES.slice(0, count).map((name) =>
    children.start(name, typescript("example/worker/main.ts"), {
      CONVEX_URL: backend.url,
      CONVEYOR_TOKEN: token,
      WORKER_NAME: name,
    }),
  );
  await Promise.all(workers.map((worker) => worker.saying(/waiting for tiles/)));
  return workers;
}
