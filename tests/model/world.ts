/** The component as a life sees it: everything in its tables at a glance, and time that passes. */
import { vi } from "vitest";
import type { Doc } from "../../src/component/_generated/dataModel.js";
import type { World } from "../../src/component/setup.test.js";

export interface Seen {
  jobs: Doc<"jobs">[];
  holders: Doc<"holders">[];
  keys: Doc<"keys">[];
  cancels: Doc<"cancels">[];
  told: { id: string; status: string; attempt: number }[];
  /** Whether a scheduled function should have run by now. */
  isUnsettled: boolean;
}

async function look(world: World): Promise<Seen> {
  return await world.t.run(async (ctx) => ({
    jobs: await ctx.db.query("jobs").collect(),
    holders: await ctx.db.query("holders").collect(),
    keys: await ctx.db.query("keys").collect(),
    cancels: await ctx.db.query("cancels").collect(),
    told: await ctx.db.query("told").collect(),
    isUnsettled: (await ctx.db.system.query("_scheduled_functions").collect()).some(
      ({ state, scheduledTime }) => state.kind === "pending" && scheduledTime <= Date.now(),
    ),
  }));
}

const ROUNDS_MAX = 50;

/** Runs all that is due, and what that schedules for now; then looks. */
export async function settle(world: World): Promise<Seen> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    vi.advanceTimersByTime(0);
    await world.t.finishInProgressScheduledFunctions();
    const seen = await look(world);
    if (!seen.isUnsettled) return seen;
  }
  throw new Error("Scheduled functions schedule others for now, without end.");
}
