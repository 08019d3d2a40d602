/** One inline handler for all queues: they share its processes. */
import { Conveyor } from "convex-conveyor";
import type { ComponentApi } from "convex-conveyor/_generated/component.js";
import { componentsGeneric } from "convex/server";
import { queues } from "./many.js";

const { conveyor } = componentsGeneric() as unknown as { conveyor: ComponentApi };

export const run = new Conveyor(conveyor).inline(
  queues.map((queue) =>
    queue.inline(async (_ctx, { payload: { n, ms } }) => {
      console.log(`began ${n}`);
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      console.log(`ended ${n}`);
      return null;
    }),
  ),
);
