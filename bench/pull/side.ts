/** Jobs that programs outside of Convex come for, each with a client of its own. */
import path from "node:path";
import { linkPackage } from "../../tests/support/link.js";
import { root } from "../../tests/support/paths.js";
import { bundleApp } from "../../local/virtual/appBundle.js";
import type { Program } from "../../local/virtual/program.js";
import type { World } from "../../local/virtual/world.js";
import { ALTERNATIVES } from "../alternatives.js";
import type { Side, Workers } from "../sides.js";
import { note, type Watched } from "../watch/jobs.js";

const PULL = path.join(root, "bench/pull");
const SECRET = "a secret";
/** Programs start one after the other, so that the figure is not of their arrival. */
const START_GAP_MS = 5;

export const pull: Side = {
  bundle() {
    linkPackage(PULL);
    return bundleApp(path.join(PULL, "app"), { inputs: [path.join(root, "dist")] });
  },
  variables: ({ shards, fleet }) => ({
    WORKER_SECRET: SECRET,
    ...(fleet?.queues === undefined ? {} : { QUEUES: String(fleet.queues) }),
    ...(fleet?.filled === undefined ? {} : { FILLED: String(fleet.filled) }),
    ...(shards === undefined ? {} : { SHARDS: String(shards) }),
  }),
  entries: (module) => ({ one: `${module}:enqueue`, all: `${module}:enqueueAll` }),
  async start(world, alternative, { fleet = { workers: 1, concurrency: 1 } }) {
    const { module } = ALTERNATIVES[alternative];
    const names = Array.from({ length: fleet.workers }, (_, n) => `worker ${n}`);
    const key = await admit(world, module, names);
    let into: Watched | null = null;
    const errors: string[] = [];
    const byName = new Map<string, number>();
    const begins: Workers["begins"] = [];
    const read = (name: string, line: string): void => {
      if (into === null) return;
      const [, what, said] = /^(began|ended|error) (.*)/.exec(line) ?? ["", "error", line];
      if (what === "began" || what === "ended") note(into, what, Number(said), world.now());
      else errors.push(said);
      if (what !== "began") return;
      byName.set(name, (byName.get(name) ?? 0) + 1);
      begins.push({ name, at: world.now() });
    };
    const programs: Program[] = [];
    for (const name of names) {
      const program = await world.program(path.join(PULL, `workers/${module}.ts`), {
        name,
        env: {
          CONVEX_URL: world.url,
          WORKER_NAME: name,
          WORKER_KEY: key,
          WORKER_CONCURRENCY: String(fleet.concurrency),
          WORKER_QUEUES: String(fleet.queues ?? 1),
          WORKER_FOLLOWS: alternative === "following" ? "1" : "0",
        },
        onLine: (line) => read(name, line),
      });
      programs.push(program);
      await world.advance(START_GAP_MS);
    }
    return {
      ...{ errors, byName, begins },
      watch: (watched) => (into = watched),
      kill: (count) => programs.slice(0, count).forEach((program) => program.kill()),
    };
  },
};

/** The credential of a worker. */
async function admit(world: World, module: string, names: string[]): Promise<string> {
  if (module === "farm") await world.call("farm:admit", { apiKeys: names });
  if (module !== "conveyor" && module !== "many") return SECRET;
  const { token } = await world.call(`${module}:create`, { name: "fleet", queues: null });
  return token as string;
}
