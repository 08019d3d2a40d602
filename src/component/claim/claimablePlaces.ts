/**
 * The places with jobs that a worker with these conditions could claim: read by `hasWork` and `peek`, in a claim's
 * order and with a claim's cursors, but for real and without a clock: the owners of shards do not matter here.
 */
import { bandsOf, checkLabel, placeOf, type Conditions } from "../../shared/index.js";
import type { QueryCtx } from "../_generated/server.js";
import { boundsFor, decodeCursor, publicBounds, type QueueBounds } from "../rows/cursors.js";
import { conditionsKey, levelsOf, offerOf } from "../rows/conditions.js";
import { findQueue, type Queue } from "../rows/queues.js";
import { routesOf } from "../rows/routes.js";
import { bytesOf } from "../rows/rowBytes.js";
import { newBudget, snapshotOf, type ScanContext, type Place } from "../index/scan.js";

export interface WaitingIn extends Pick<Queue, "epoch" | "config"> {
  bounds: (QueueBounds | undefined)[];
  /** The places of each band, in the order in which they are claimed. */
  bands: Place[][];
}

export interface WaitingRoom {
  scanning: ScanContext;
  /** The places to read in one queue, or `null` if no job may be claimed from it: not declared yet, or paused. */
  look: (name: string) => Promise<WaitingIn | null>;
}

/** Queues are read one by one, so that a caller that finds a job in the first does not depend on the other queues. */
export function waitingRoom(
  ctx: QueryCtx,
  {
    cursor,
    worker,
    ...conditions
  }: Conditions & { cursor?: string; worker?: string; groupPrefix?: string },
): WaitingRoom {
  if (worker !== undefined) checkLabel("The name of a worker", worker);
  const offer = { ...offerOf(conditions), ...(worker === undefined ? {} : { worker }) };
  const mine = decodeCursor(cursor, conditionsKey(offer));
  const scanning: ScanContext = {
    db: ctx.db,
    offer,
    snapshot: snapshotOf(ctx),
    avoids: () => false,
    isOver: () => false,
    left: newBudget(),
  };
  return {
    scanning,
    look: async (name) => {
      const queue = await findQueue(ctx.db, name);
      if (queue === null || queue.isPaused) return null;
      const routes = await routesOf(ctx.db, name);
      const levels = levelsOf(routes, offer);
      const shards = Array.from({ length: queue.shardsEver }, (_, shard) => shard);
      const bands = levels.flatMap(({ priority, routes }) =>
        bandsOf(priority).map((order) =>
          shards.flatMap((shard) =>
            routes.map(({ number }) => ({ queue: name, order, shard: placeOf(number, shard) })),
          ),
        ),
      );
      const bounds = [...boundsFor(mine, name, offer.maxCost), await publicBounds(ctx.db, name)];
      for (const row of [...routes, ...bounds])
        scanning.left.bytes -= row === undefined ? 0 : bytesOf(row);
      return { ...queue, bounds, bands };
    },
  };
}
