/** Workers that are bound to groups: to those that begin so, or to those of which the app says so at the moment. */
import { conveyor, queueNamed } from "./queues.js";
import { SCOPED } from "./names.js";
import { internal, internalQuery } from "./server.js";

export const groupsOf = internalQuery({
  handler: async (ctx): Promise<string[]> =>
    (await ctx.db.query("members").collect()).map(({ group }) => group),
});

export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({
  queues: [queueNamed(SCOPED)],
  groupsOf: () => internal.scoped.groupsOf as unknown,
});
