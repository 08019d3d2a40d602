/**
 * An app that mounts the component twice, with queues of the same names on both: jobs of the second mount are enqueued and done
 * beside jobs of the first, and tokens of one are tried at the other.
 */
import { anyApi } from "convex/server";
import type { Deployment } from "../../../local/functions/types.js";
import type { Part } from "../part.js";
import type { Plan, Planned, WorkerSpec } from "../plan.js";
import type { Simulation } from "../simulation.js";
import { COMPONENT } from "../deployment.js";
import { kept } from "../moments.js";

/** Under which name the app mounts it. */
export const SECOND = "second";
/** Numbers of its jobs: above the numbers of all workloads of the first, and below the numbers of jobs that continue a job. */
export const SECOND_N = 500_000;
export const SECOND_END_N = 600_000;

export const hasSecond = ({ parts }: Plan): boolean => parts.includes(secondMount.name);

export const secondMount: Part = {
  name: "second mount",
  about: "the app mounts the component twice, with queues of the same names on both",
  chance: 0.1,
  get serves() {
    return [SECOND_WORKER];
  },
  fits: ({ jobs }) => jobs !== undefined,
  plan(draw, { faultsMs }) {
    let n = SECOND_N;
    const calls = Array.from({ length: draw.pick([3, 6, 12]) }, (_, i): Planned => {
      const jobs = Array.from({ length: draw.pick([1, 1, 2, 5]) }, () => ({
        ...{ n: (n += 1), turns: [{ ms: draw.pick([0, 0, 200, 1_500]), end: "returns" }] },
      }));
      const queue = draw.pick(["pulled", "acted"]);
      const at = draw.between(0, faultsMs * 0.8);
      return { at, do: "second mount.enqueue", link: `producer of second ${i}`, queue, jobs };
    });
    const tried = [true, false].map((isOfFirst): Planned => {
      return { at: draw.between(0, faultsMs), do: "second mount.try", isOfFirst };
    });
    return [...calls, ...tried];
  },
  perform: {
    enqueue(simulation, { link, queue, jobs }) {
      const client = simulation.world.httpClient(link as string);
      client
        .mutation(anyApi["second"]!["enqueue"] as never, { queue, jobs } as never)
        .catch(() => null);
      simulation.happened("enqueues into the second mount");
    },
    /** A worker with a token of the one mount asks the other. */
    try(simulation, { isOfFirst }) {
      const [token, api] = isOfFirst
        ? [simulation.token, "second"]
        : [simulation.tokenOfSecond, "work"];
      const args = {
        token,
        sessionKey: "stranger",
        name: "stranger",
        callSeq: 1,
        queues: ["acted"],
        max: 1,
      };
      simulation.world
        .httpClient(`stranger at ${api}`)
        .mutation(anyApi[api]!["claim"] as never, args as never)
        .then(
          () => simulation.broken(`a token of the other mount is good for ${api}`),
          (error) => {
            if (String(error).includes("tokenUnknown"))
              simulation.happened("a token of the other mount is refused");
          },
        );
    },
  },
  marks: ["enqueues into the second mount", "a token of the other mount is refused"],
};

export const SECOND_WORKER: WorkerSpec = {
  ...{ name: "worker of second", queues: ["pulled", "acted"], concurrency: 2, labels: [] },
  isOfSecond: true,
};

/** The same app where it mounts the component a second time: of one definition, with rows of its own. */
export const withSecond = kept((deployment: Deployment): Deployment => {
  const app = deployment.instances.get("")!;
  const first = deployment.instances.get(COMPONENT)!;
  const instances = new Map(deployment.instances)
    .set("", { ...app, children: new Map(app.children).set(SECOND, SECOND) })
    .set(SECOND, { ...first, namespace: SECOND });
  return { ...deployment, instances };
});

/** The deployment that a simulation pushes. */
export function deployedIn(simulation: Simulation, deployment: Deployment): Deployment {
  return hasSecond(simulation.plan) ? withSecond(deployment) : deployment;
}
