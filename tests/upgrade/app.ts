/**
 * The app of the fixtures: three queues, with the client and the component as they stand in this tree.
 *
 * It belongs to the fixtures: their rows hold its queues' configurations and the handle of its callback. It may gain queues and
 * functions; existing ones stay as they are.
 */
import { makeDeployment, PRELUDE } from "../../local/functions/testing.js";
import type { Deployment } from "../../local/functions/types.js";
import { schemasOf } from "../../local/push/schemas.js";
import type { World } from "../../local/virtual/world.js";
import { bundled } from "../planted/bundled.js";

/** Where the component is mounted. */
export const COMPONENT = "conveyor";

/** That modules carry nothing from call to call is held elsewhere, and looking takes the most time of all. */
export const RUNNER = { contexts: "reused" } as const;

export const TILES_LEASE_MS = 10_000;
export const QUIET_LEASE_MS = 600_000;

const QUEUES = `${PRELUDE}
  import { Conveyor } from "./src/client/index.js";
  export const conveyor = new Conveyor(components.${COMPONENT});
  export const tiles = conveyor.queue("tiles", {
    payload: v.any(), leaseMs: ${TILES_LEASE_MS}, maxResets: 1, onComplete: () => internal.app.tell,
  });
  /** No callback. One shard. */
  export const quiet = conveyor.queue("quiet", { payload: v.any(), leaseMs: ${QUIET_LEASE_MS}, shards: 1 });
  /** The callback of these fails for as long as the app is broken. */
  export const fragile = conveyor.queue("fragile", {
    payload: v.any(), onComplete: () => internal.app.tellFragile,
  });
`;

const APP = {
  "schema.ts": `${PRELUDE}
    export default defineSchema({
      told: defineTable({
        job: v.string(), attempt: v.number(), status: v.string(), payload: v.any(), result: v.any(),
      }),
      faults: defineTable({}),
    });`,
  "queues.ts": QUEUES,
  "app.ts": `${PRELUDE}
    async function note(ctx, { id, attempt, payload, outcome }) {
      const { status, result = null } = outcome;
      await ctx.db.insert("told", { job: id, attempt, status, payload, result });
    }
    export const tell = internalMutation(note);
    export const tellFragile = internalMutation(async (ctx, args) => {
      if ((await ctx.db.query("faults").first()) !== null) throw new Error("The app is broken.");
      await note(ctx, args);
    });
    export const fail = mutation(async (ctx) => { await ctx.db.insert("faults", {}); });
    export const mend = mutation(async (ctx) => {
      for (const fault of await ctx.db.query("faults").collect()) await ctx.db.delete(fault._id);
    });`,
  ...Object.fromEntries(
    ["tiles", "quiet", "fragile"].map((queue) => [
      `${queue}.ts`,
      `import { ${queue} } from "./queues.js";
       export const { enqueue, status, cancel, retry } = ${queue}.api({ authorize: async () => true, enqueue: true });`,
    ]),
  ),
  "work.ts": `
    import { conveyor, fragile, quiet, tiles } from "./queues.js";
    export const { claim, complete, heartbeat, report, watch } = conveyor.workerApi({ queues: [tiles, quiet, fragile] });`,
  "tokens.ts": `
    import { conveyor } from "./queues.js";
    export const { create, revoke, list } = conveyor.tokenApi();`,
};

export function makeApp(): Promise<Deployment> {
  return makeDeployment({ "": APP, [COMPONENT]: bundled().component });
}

/** As a push does: refused, and without effect, when a row does not fit the schema. */
export async function install(world: World, app: Deployment): Promise<void> {
  await world.run(world.backend.runner.install(app, schemasOf(app)));
}
