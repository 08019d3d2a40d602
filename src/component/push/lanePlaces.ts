/** The call of a lane and its process: how many jobs the call may bring, by the places that there are or are given; and its last word. */
import { type LaneReply, type LaneStep, type ProcessReport } from "../../shared/index.js";
import { type MutationCtx } from "../_generated/server.js";
import { type Session } from "../rows/sessions.js";
import { givePlaces } from "./grants.js";
import { handedOver } from "./handOvers.js";
import { closeOf } from "./mainLoop.js";
import { mountLimits } from "./mount.js";
import { isMutation } from "../edges/processTime.js";
import { type Queue } from "../rows/queues.js";

/**
 * How many jobs the lane may take, and how many places its process is given besides: where it has none left, and a lane is
 * relied on that has room.
 */
export async function placesOf(
  ctx: MutationCtx,
  { args, session }: { args: LaneStep; session: Session },
  queue: Queue,
  wanted: number,
): Promise<{ room: number; given: number }> {
  if (args.in === undefined || wanted === 0) return { room: 0, given: 0 };
  if (isMutation(queue)) return { room: wanted, given: 0 };
  const { places, isFull } = args.in;
  if (places > 0 || !isFull) return { room: Math.min(wanted, places), given: 0 };
  const given = await morePlaces(ctx, queue, args.in, session.leases.length, wanted);
  return { room: Math.min(wanted, given), given };
}

/**
 * How many of so many jobs a call of this age takes, in milliseconds: half as many for each while, at least one. A
 * retried transaction is recognized by its age. One that brings 48 jobs takes long, and would lose to each call of a
 * lane that takes a few: of 400 jobs per second of 20 ms each on class S256 a lane with 48 places stood still for 8 s.
 */
export function fewerIfTried(room: number, forMs: number): number {
  return Math.ceil(room / 2 ** Math.floor(Math.max(0, forMs) / TRIED_MS));
}
/** A first run begins within this, as a rule. Half as long costs a burst of 1,000 jobs 15 in 100 of its rate. */
const TRIED_MS = 200;

export async function morePlaces(
  ctx: MutationCtx,
  queue: Queue,
  report: ProcessReport,
  held: number,
  wanted: number,
): Promise<number> {
  const few = Math.min(wanted, Math.max(0, 2 - held));
  const asked = { any: wanted, few, isPart: true };
  return await givePlaces(ctx, await mountLimits(ctx, queue), report, asked);
}

/** The call receives lanes that were handed to its process, and ends it with the last lane. */
export async function tellProcess(
  ctx: MutationCtx,
  report: ProcessReport | undefined,
  hasLeft: boolean,
): Promise<Pick<LaneReply, "isClosed" | "handedOver">> {
  if (report === undefined) return {};
  if (hasLeft && report.closes === true) return await closeOf(ctx, report);
  const process = ctx.db.normalizeId("processes", report.process);
  if (report.receivedUpTo === undefined || process === null) return {};
  const { generation } = report;
  return { handedOver: await handedOver(ctx, { process, generation }, report.receivedUpTo) };
}
