/**
 * Deploys that give a queue a handler, another, and none, while its jobs wait and run: a function that the code before named is
 * not there any more, lanes are on their way with it, and workers outside serve the queue all the time.
 */
import { DECLARATION_SETTLE_MS } from "../../../src/shared/index.js";
import type { Deployment } from "../../../local/functions/types.js";
import { DEPLOYED } from "../app/names.js";
import { kept, running } from "../moments.js";
import type { Part } from "../part.js";
import type { Planned, QueueName, WorkerSpec } from "../plan.js";
import type { Simulation } from "../simulation.js";
import { deployedIn } from "./secondMount.js";

const FIRST_N = 8_000;
const BEFORE_MS = 120;
/** The handler of the jobs: an action, the same by another name, or workers outside alone. */
const BY = ["act", "too", "workers"] as const;
type By = (typeof BY)[number];

export const deploys: Part = {
  name: "deploys",
  about: "deploys give a queue a handler, another and none, while its jobs wait and run",
  chance: 0.1,
  get serves() {
    return [DEPLOYED_WORKER];
  },
  fits: ({ crowd }) => Object.keys(crowd).length === 0,
  plan(draw, { faultsMs }) {
    const count = draw.pick([2, 3, 4]);
    const times = Array.from({ length: count }, () => draw.between(0, faultsMs * 0.9)).sort(
      (a, b) => a - b,
    );
    let by: By = "act";
    const pushes = times.map((at): Planned => {
      by = draw.pick(BY.filter((one) => one !== by));
      return { at, do: "deploys.push", by };
    });
    let n = FIRST_N;
    const enqueue = (at: number): Planned => {
      const jobs = Array.from({ length: draw.pick([1, 2, 4]) }, () => ({
        payload: { n: ++n, turns: [{ ms: draw.pick([0, 200, 1_500]), end: "returns" }] },
        options: {},
      }));
      return { at: Math.max(0, at), do: "deploys.enqueue", jobs };
    };
    // Lanes that are on their way with them know the code before.
    const before = times.map((at) => enqueue(at - draw.between(0, BEFORE_MS)));
    const more = Array.from({ length: draw.pick([1, 3, 5]) }, () =>
      enqueue(draw.between(0, faultsMs * 0.8)),
    );
    return [...pushes, ...before, ...more];
  },
  perform: {
    push: (simulation, { by }) => void push(simulation, by as By),
    enqueue(simulation, { jobs }) {
      simulation.ask("enqueueBatch", { queue: DEPLOYED, jobs });
    },
  },
  /** The next call of the queue, which applies its last definition, is the operator's: see `calls.ts:heal`. */
  async heal(simulation) {
    await push(simulation, "act");
    await simulation.goTo(simulation.now() + DECLARATION_SETTLE_MS);
  },
  marks: BY.map((by) => `is done by ${by}`),
};

/** It serves the queue with any deploy. */
export const DEPLOYED_WORKER: WorkerSpec = {
  ...{ name: "worker of deployed", queues: [DEPLOYED as QueueName], concurrency: 1, labels: [] },
};

/** It may die meanwhile: then it is as it was. */
async function push(simulation: Simulation, by: By): Promise<void> {
  if (running(simulation) === null) return;
  const variant = variantsOf(simulation.given.built.deployment)[by]!;
  await simulation.world.install(deployedIn(simulation, variant)).then(
    () => simulation.happened(`is done by ${by}`),
    () => null,
  );
}

/** Made once, so that their sandboxes are kept from seed to seed. */
const variantsOf = kept((deployment: Deployment) =>
  Object.fromEntries(BY.map((by) => [by, deployedBy(deployment, by)])),
);

const TEXT = "deployed by act";

/** The app with that text, and without the function that it does not name. */
function deployedBy(deployment: Deployment, by: By): Deployment {
  const app = deployment.instances.get("")!;
  const { modules, functions } = app.definition;
  const definition = {
    ...app.definition,
    modules: new Map(
      [...modules].map(([path, module]) => [
        path,
        { ...module, source: module.source.replaceAll(TEXT, `deployed by ${by}`) },
      ]),
    ),
    functions: new Map(
      [...functions].map(([path, all]) => [
        path,
        all.filter(({ name }) => by === "too" || name !== "actToo"),
      ]),
    ),
  };
  const instances = new Map(deployment.instances).set("", { ...app, definition });
  return { ...deployment, instances };
}
