/** The calls by which processes ask for places, end, and report for their lanes retry many times, or fail. */
import { Draw } from "../draw.js";
import type { Part } from "../part.js";
import type { Planned } from "../plan.js";

/** Functions with commits that are refused. */
const CALLS = [
  "mainLoop:(ask|close|rouse)",
  "mainLoop:(ask|close|rouse)",
  "push/laneStep:stepLane",
];

export const slowProcesses: Part = {
  name: "slow processes",
  about: "commits of a process's calls are refused as if another had come before them, for a while",
  chance: 0.2,
  fits: ({ crowd }) => Object.keys(crowd).length > 0,
  plan(draw, { faultsMs }) {
    const at = draw.between(0, faultsMs * 0.7);
    const over = Math.min(faultsMs - 1, at + draw.pick([300, 2_000, 6_000]));
    const seed = draw.below(1e9);
    const begin: Planned = {
      ...{ at, do: "slow processes.begin", seed, of: draw.pick(CALLS) },
      probability: draw.pick([0.5, 0.9, 1]),
    };
    return [begin, { at: over, do: "slow processes.end" }];
  },
  perform: {
    begin(simulation, { seed, probability, of }) {
      const draw = new Draw(seed, "slow processes");
      const meant = new RegExp(of);
      simulation.refuses = (author) => {
        if (!meant.test(author) || !draw.chance(probability)) return false;
        simulation.happened("a call of a process is refused");
        return true;
      };
    },
    end: (simulation) => void (simulation.refuses = () => false),
  },
  heal: (simulation) => void (simulation.refuses = () => false),
  marks: ["a call of a process is refused"],
};
