// Names: status state WorkId
// Reservation: the state only: pending, running or finished, without progress, result or error.
import type { WorkId } from "@convex-dev/workpool";
import { v } from "convex/values";
import { query } from "./_generated/server";
import { pool } from "./emails";

export const status = query({
  args: { id: v.string() },
  handler: async (ctx, { id }) => await pool.status(ctx, id as WorkId),
});
