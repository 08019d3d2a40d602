/** Snapshot queries read data of a while ago: the platform promises no age. */
import { Draw } from "../draw.js";
import type { Part } from "../part.js";

/** At the very start there are no tables yet. */
const FIRST_MS = 1_000;

export const oldSnapshots: Part = {
  name: "old snapshots",
  about: "data of snapshot queries is up to a second old",
  chance: 0.25,
  plan(draw, plan) {
    const seed = draw.below(1e9);
    const at = draw.between(FIRST_MS, plan.faultsMs * 0.5);
    return [{ at, do: "old snapshots.begin", seed, maxMs: draw.pick([50, 300, 1_000]) }];
  },
  perform: {
    begin(simulation, { seed, maxMs }) {
      const draw = new Draw(seed, "old snapshots");
      simulation.snapshotLagMs = () => (draw.chance(0.5) ? maxMs : draw.below(maxMs));
      simulation.happened("snapshots are old");
    },
  },
  heal: (simulation) => void (simulation.snapshotLagMs = () => 0),
  marks: ["snapshots are old"],
};
