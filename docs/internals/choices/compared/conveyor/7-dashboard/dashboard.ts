import { conveyor } from "./conveyor";

export const { read, write } = conveyor.dashboardApi({
  authorize: async (ctx) => (await ctx.auth.getUserIdentity()) !== null,
});
