/** The component as a life sees it: everything in its tables at a glance, and time that passes. */
import { vi } from "vitest";
import type { Doc } from "../../src/component/_generated/dataModel.js";
import type { World } from "../../src/component/setup.test.js";

export interface Seen {
  jobs: Doc<"jobs">[];
  sessions: Doc<"sessions">[];
  keys: Doc<"keys">[];
  cancels: Doc<"cancels">[];
  told: { id: string; status: string; attempt: number }[];
}

/** Passed out of the transaction by a variable: a return value would be turned into JSON and back, three times over. */
async function look(world: World): Promise<Seen> {
  let seen: Seen | null = null;
  await world.t.run(async (ctx) => {
    seen = {
      jobs: await ctx.db.query("jobs").collect(),
      sessions: await ctx.db.query("sessions").collect(),
      keys: await ctx.db.query("keys").collect(),
      cancels: await ctx.db.query("cancels").collect(),
      told: await ctx.db.query("told").collect(),
    };
  });
  return seen!;
}

/** Whether a scheduled function should have run by now. */
async function isUnsettled(world: World): Promise<boolean> {
  return await world.t.run(async (ctx) => {
    const due = ctx.db.system
      .query("_scheduled_functions")
      .filter((q) =>
        q.and(q.eq(q.field("state.kind"), "pending"), q.lte(q.field("scheduledTime"), Date.now())),
      );
    return (await due.first()) !== null;
  });
}

const ROUNDS_MAX = 50;

/** Runs all due functions, and the ones that these schedule for now; then reads the tables. */
export async function settle(world: World): Promise<Seen> {
  await runDue(world);
  return await look(world);
}

/** Time passed at once makes scheduled functions late: one that is may leave its work to another that comes within this. */
const LATE_MS = 300;

export async function pass(world: World, ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await runDue(world);
  vi.advanceTimersByTime(LATE_MS);
}

async function runDue(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    vi.advanceTimersByTime(0);
    await world.t.finishInProgressScheduledFunctions();
    if (!(await isUnsettled(world))) return;
  }
  throw new Error("Scheduled functions schedule more for now, without end.");
}
