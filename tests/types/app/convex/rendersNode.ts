"use node";
import { internal } from "./_generated/api";
import { renders } from "./renders";

export const render = renders.action(async (ctx, job) => {
  await ctx.runMutation(internal.emails.note, { to: job.payload.scene });
  job.write("frame 1\n");
  return { frames: 1 };
});
