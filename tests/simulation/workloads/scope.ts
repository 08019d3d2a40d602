/**
 * Workers that are bound to groups: one to all that begin with a text, one to those of which the app says so at the moment. What
 * it says changes while jobs wait and run.
 */
import { SCOPED } from "../app/names.js";
import type { Part } from "../part.js";
import type { Plan, Planned, QueueName, WorkerSpec } from "../plan.js";

const FIRST_N = 12_000;
export const CLUBS = ["club a", "club b", "other c"];
export const PREFIX = "club";
const BY_QUERY = "worker of members";
const BY_PREFIX = "worker of clubs";

export const hasScope = ({ parts }: Pick<Plan, "parts">): boolean => parts.includes(scope.name);

export const scope: Part = {
  name: "scope",
  about: "workers are bound to groups, and the app changes its mind on these while jobs wait",
  chance: 0.02,
  fits: ({ crowd }) => Object.keys(crowd).length === 0,
  get serves() {
    return SCOPED_WORKERS;
  },
  plan(draw, { faultsMs }) {
    let n = FIRST_N;
    const enqueues = Array.from({ length: draw.pick([2, 4, 6]) }, (): Planned => {
      const jobs = Array.from({ length: draw.pick([1, 2, 4]) }, () => ({
        payload: { n: ++n, turns: [{ ms: draw.pick([0, 30, 200, 1_500]), end: "returns" }] },
        options: { group: draw.pick(CLUBS) },
      }));
      return { at: draw.between(0, faultsMs * 0.8), do: "scope.enqueue", jobs };
    });
    const changes = Array.from({ length: draw.pick([3, 6, 12]) }, (): Planned => {
      const [group, isMember] = [draw.pick(CLUBS), draw.chance(0.55)];
      return { at: draw.between(0, faultsMs), do: "scope.change", group, isMember };
    });
    return [...enqueues, ...changes];
  },
  perform: {
    enqueue(simulation, { jobs }) {
      simulation.ask("enqueueBatch", { queue: SCOPED, jobs });
      simulation.happened("enqueues for groups");
    },
    change(simulation, { group, isMember }) {
      simulation.ask("setMember", { group, isMember });
      simulation.happened(isMember === true ? "a group comes" : "a group goes");
    },
  },
  marks: ["enqueues for groups", "a group comes", "a group goes"],
};

const SCOPED_WORKERS: readonly WorkerSpec[] = [BY_QUERY, BY_PREFIX].map((name) => ({
  ...{ name, queues: [SCOPED as QueueName], concurrency: 2, labels: [], api: "scoped" },
  token: name === BY_QUERY ? "byQuery" : "byPrefix",
}));
