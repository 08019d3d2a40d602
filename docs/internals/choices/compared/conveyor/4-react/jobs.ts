import { conveyor } from "./conveyor";
import { renders } from "./renders";

export const { status } = conveyor.api({
  queues: [renders],
  authorize: async (ctx) => (await ctx.auth.getUserIdentity()) !== null,
});
