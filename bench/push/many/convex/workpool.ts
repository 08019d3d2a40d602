/** The same jobs brought in by workpool, as it is published: a pool a queue, as far as there are pools. */
import { Workpool } from "@convex-dev/workpool";
import { app, components, counts, parallelism } from "./builders.js";
import { entry } from "./entries.js";
import { MOUNTS } from "./mounts.js";

const pools = Array.from(
  { length: MOUNTS },
  (_, i) => new Workpool(components[`workpool${i}`]!, { maxParallelism: parallelism }),
);

export const enqueue = entry((ctx, i, kind, works) => {
  const pool = pools[i % MOUNTS]!;
  if (counts === "callback") {
    const context = works[0]!;
    return pool.enqueueAction(ctx, app.jobs.act, context, { onComplete: app.jobs.told, context });
  }
  if (kind === "book") return pool.enqueueMutationBatch(ctx, app.jobs.book, works);
  return works.length === 1
    ? pool.enqueueAction(ctx, app.jobs.act, works[0]!)
    : pool.enqueueActionBatch(ctx, app.jobs.act, works);
});
