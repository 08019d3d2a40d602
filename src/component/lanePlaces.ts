/** How many jobs a call of a lane may bring: as many as its process has places for, which may be given more. */
import { PLACES_MORE, type LaneStep, type ProcessSaid } from "../shared/index.js";
import { type MutationCtx } from "./_generated/server.js";
import { type Holder } from "./holders.js";
import { givePlaces } from "./grants.js";
import { mountLimits } from "./mount.js";
import { isMutation } from "./processTime.js";
import { type Queue } from "./queues.js";

/**
 * How many jobs the lane may take, and how many places its process is given besides: where it has none left, and a lane is
 * relied on that has room.
 */
export async function placesOf(
  ctx: MutationCtx,
  { args, holder }: { args: LaneStep; holder: Holder },
  queue: Queue,
  wanted: number,
): Promise<{ room: number; given: number }> {
  if (args.in === undefined || wanted === 0) return { room: 0, given: 0 };
  if (isMutation(queue)) return { room: wanted, given: 0 };
  const { places, isFull } = args.in;
  if (places > 0 || !isFull) return { room: Math.min(wanted, places), given: 0 };
  const given = await morePlaces(ctx, queue, args.in, holder.leases.length, wanted);
  return { room: Math.min(wanted, given), given };
}

export async function morePlaces(
  ctx: MutationCtx,
  queue: Queue,
  said: ProcessSaid,
  held: number,
  wanted: number,
): Promise<number> {
  const few = Math.min(wanted, Math.max(0, 2 - held));
  const asked = { any: Math.min(wanted, PLACES_MORE), few };
  return await givePlaces(ctx, await mountLimits(ctx, queue), said, asked);
}
