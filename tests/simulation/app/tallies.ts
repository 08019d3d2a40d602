/** A loop over batches of rows. */
import { tallies } from "./rows.js";

export const run = tallies.loop(async (ctx, { rows, cursor }) => {
  for (const { _id, times } of rows) await ctx.db.patch(_id, { times: times + 1 });
  return ((cursor as number | null) ?? 0) + rows.length;
});
