/** The dashboard's functions, with an `authorize` that returns the test's last setting. */
import type { QueryCtx } from "./_generated/server.js";
import { conveyor } from "./queues.js";

interface Leave {
  see: boolean;
  act: boolean;
  hide: boolean;
  trap: boolean;
}

async function leave({ db }: Pick<QueryCtx, "db">): Promise<Leave> {
  const row = await db.query("leave").first();
  return row ?? { see: true, act: true, hide: false, trap: false };
}

/** In a trap, pages show that they may act, and then the call is refused. */
async function mayAct(ctx: Pick<QueryCtx, "db">): Promise<boolean> {
  const { act, trap } = await leave(ctx);
  return act && !(trap && "insert" in ctx.db);
}

export const { read, write } = conveyor.dashboardApi({
  authorize: async (ctx, call) => (call.changes ? await mayAct(ctx) : (await leave(ctx)).see),
  show: async (ctx, { value }) => ((await leave(ctx)).hide ? "hidden" : value),
});
