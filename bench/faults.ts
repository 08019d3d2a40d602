/** Faults in the middle of a case: processes that die, and a scheduler that has no room. */
import { makeFunctionReference } from "convex/server";
import { CLASS_LIMITS } from "../local/functions/classes.js";
import type { World } from "../local/virtual/world.js";
import type { Case } from "./cases.js";
import type { Workers } from "./sides.js";

const occupy = makeFunctionReference<"mutation", { count: number; ms: number }, null>(
  "occupying:occupy",
);

/** Causes the case's fault, `afterMs` after the first job came. Resolves at once where it has none. */
export async function breakLater(
  world: World,
  { fault, class: of }: Case,
  workers: Workers | undefined,
): Promise<void> {
  if (fault === undefined) return;
  const { afterMs, chokesMs, kills = 0, losesActions = false } = fault;
  await world.clock.sleep(afterMs);
  if (chokesMs !== undefined) {
    const client = world.httpClient("the app's own work");
    await client.mutation(
      occupy,
      { count: CLASS_LIMITS[of].scheduledJobs, ms: chokesMs },
      { skipQueue: true },
    );
  }
  if (kills > 0) workers?.kill(kills);
  if (losesActions) world.backend.runner.loseActions(() => true);
}
