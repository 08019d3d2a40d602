/**
 * Whether a transaction is retried after a conflict. It cannot see that by itself; but its call has the time when it
 * was made, and a retried transaction has a snapshot with commits that came after.
 */
import { msOfCommit } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";

/**
 * How often it has lost, as far as its age shows: not, as it seems; or once at least; or for so long that it was more
 * often.
 */
export type Losses = "never" | "once" | "again";

/** Clocks of machines differ by so much. */
const CLOCKS_MS = 20;
/** A transaction of this age has most likely lost twice. */
const AGAIN_MS = 200;

export function lossesOf(ctx: MutationCtx, sentAt: number | undefined, now: number): Losses {
  if (sentAt === undefined || msOfCommit(ctx.meta.getSnapshotTs()) <= sentAt + CLOCKS_MS)
    return "never";
  return now - sentAt < AGAIN_MS ? "once" : "again";
}
