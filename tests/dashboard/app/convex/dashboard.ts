/** The dashboard's functions, with a resolver that answers what the test has said last. */
import type { DashboardResolver } from "convex-conveyor";
import type { DataModel } from "./_generated/dataModel.js";
import { conveyor } from "./queues.js";

type Ctx = Parameters<DashboardResolver<DataModel>["maySee"]>[0];

interface Leave {
  see: boolean;
  act: boolean;
  hide: boolean;
  trap: boolean;
}

async function leave({ db }: Ctx): Promise<Leave> {
  const row = await db.query("leave").first();
  return row ?? { see: true, act: true, hide: false, trap: false };
}

/** In a trap, pages are told that they may, and then may not. */
async function mayAct(ctx: Ctx): Promise<boolean> {
  const { act, trap } = await leave(ctx);
  return act && !(trap && "insert" in ctx.db);
}

export const {
  overview,
  queue,
  stats,
  jobs,
  job,
  why,
  logs,
  output,
  workers,
  events,
  pause,
  resume,
  drain,
  cancel,
  retry,
  remove,
  cancelMany,
  redrive,
  removeMany,
} = conveyor.dashboardApi({
  maySee: async (ctx) => (await leave(ctx)).see,
  mayAct,
  show: async (ctx, { value }) => ((await leave(ctx)).hide ? "hidden" : value),
});
