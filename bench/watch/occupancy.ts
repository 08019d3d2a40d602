/** How many places and permits are taken over time: sampled now and then, outside of the measured costs. */
import type { Occupancy } from "../../local/functions/types.js";
import type { World } from "../../local/virtual/world.js";

export interface Sample extends Occupancy {
  /** Milliseconds from the first sample. */
  at: number;
}

/** Samples until it is stopped, at first every 50 ms; then ever more seldom, so that no more than 2,000 are kept. */
export function watchOccupancy(world: World): { stop: () => Sample[] } {
  const from = world.now();
  let everyMs = 50;
  let samples: Sample[] = [];
  let isOver = false;
  const look = async (): Promise<void> => {
    while (!isOver) {
      samples.push({ at: world.now() - from, ...world.backend.runner.occupancy() });
      if (samples.length > 2_000) {
        samples = samples.filter((_, n) => n % 2 === 0);
        everyMs *= 2;
      }
      await world.clock.sleep(everyMs);
    }
  };
  void look();
  return {
    stop() {
      isOver = true;
      return samples;
    },
  };
}
