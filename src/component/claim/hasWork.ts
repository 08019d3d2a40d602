/**
 * Has work: the one thing that an idle worker subscribes to. Its arguments are the same for a whole fleet with one
 * token and the same conditions, so that the fleet shares one cached answer; for the same reason it knows no clock, which
 * would end the cached answer's life by itself.
 *
 * It begins at the public cursors, stops at the first job that a claim with these conditions could take, and depends on
 * the ranges read up to there: it is invalidated when that job is claimed, or, with none, when one is enqueued. Where
 * it may read no further it says yes: the claim that follows advances by its cursor, and a worker after an empty claim
 * passes that cursor here. So it passes its name, where the jobs that wait may prefer a worker of another name.
 *
 * A worker that asks for names subscribes to each of its queues by itself (`named.ts`).
 */
import { checkLength, QUEUES_MAX, type Conditions, type Waiting } from "../../shared/index.js";
import type { QueryCtx } from "../_generated/server.js";
import { nameWaiting } from "./named.js";
import { isSpent, newPlaceScan, readOn } from "../index/scan.js";
import { authorize, within } from "../rows/tokens.js";
import { waitingRoom } from "./claimablePlaces.js";

export interface LookRequest extends Conditions {
  token: string;
  queues: string[];
  cursor?: string;
  /** The name of the worker that asks: jobs that prefer another by its name are passed over. */
  worker?: string;
  /** As of a claim. */
  groupsOf?: string;
  groupPrefix?: string;
}

export async function hasWork(
  ctx: QueryCtx,
  { naming = false, ...args }: LookRequest & { naming?: boolean },
): Promise<boolean | Waiting> {
  checkLength("The queues of a worker", args.queues, 1, naming ? 1 : QUEUES_MAX);
  const token = await authorize(ctx.db, args.token, args.queues);
  const request = await within(ctx, token, args);
  return naming ? await nameWaiting(ctx, request) : await isAnyWaiting(ctx, request);
}

async function isAnyWaiting(ctx: QueryCtx, args: LookRequest): Promise<boolean> {
  const { scanning, look } = waitingRoom(ctx, args);
  for (const queue of args.queues) {
    if (isSpent(scanning.left)) return true;
    const waiting = await look(queue);
    if (waiting === null) continue;
    const { bands, bounds, epoch } = waiting;
    // One place after another, since every range read is one more that can wake the fleet.
    for (const place of bands.flat()) {
      const placeScan = newPlaceScan(place, bounds, epoch);
      await readOn(scanning, placeScan, 1);
      if (placeScan.rows.some((row) => row.cost !== null)) return true;
      if (isSpent(scanning.left)) return true;
    }
  }
  return false;
}
