/**
 * The last word of a worker's session.
 *
 * Reads for real: the token, the session's row, the rows of `fleets` in which it is counted, its queues, their
 * roll-ups' alarms, and where there is none the ended jobs there, and the janitor's timers: a sweep is sure to come
 * for its row when that is to be forgotten; of one that is on call, as `onCall.ts`. Snapshot reads: other workers of
 * its pushed queues. Writes: the session's row, such an alarm, a timer where there is none; schedules counts and
 * wakes. Conflicts with: a call of the session on its way, a count of such a fleet, an end in such a queue, a sweep
 * or a claim that writes or inserts a timer of the janitor's.
 */
import { checkLeases, LEASES_MAX, type Answer, type Lease } from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { judgeCall } from "../claim/callNumbers.js";
import { leaveFleets } from "../claim/fleet.js";
import { dutyAtEnd } from "../claim/onCall.js";
import { ensureAllCounted } from "../count/rollUp.js";
import { scheduleWake } from "../edges/wakes.js";
import { lookServed } from "../index/outsideWorkers.js";
import { ensureSweep, forgottenAt } from "../loops/timers.js";
import { findQueue } from "../rows/queues.js";
import { depart, findSession, type Session } from "../rows/sessions.js";
import { authorize } from "../rows/tokens.js";
import { answerBeat } from "./heartbeat.js";

interface Leaving {
  token: string;
  sessionKey: string;
  leases: Lease[];
  callSeq: number;
}

/**
 * The session is over, and no job is left to it from now on. `callSeq` is a number after the numbers of all its calls, so
 * that a copy of one that comes later claims nothing. One that has leases stays as it is until they end: their jobs may
 * still run.
 */
export async function leave(
  ctx: MutationCtx,
  { leases, callSeq, ...caller }: Leaving,
): Promise<{ answers: Answer[] }> {
  const now = Date.now();
  checkLeases("The leases of a heartbeat", leases, 0, LEASES_MAX);
  const token = await authorize(ctx.db, caller.token, []);
  const session = await findSession(ctx.db, caller.sessionKey, token);
  const answers = answerBeat(session?.leases ?? [], leases, []);
  if (session === null || judgeCall(session, callSeq) === "repeated" || session.leases.length > 0)
    return { answers };
  await depart(ctx.db, session, callSeq, now);
  // Repeated, or its reply was lost: the consequences of its leaving are ensured once, however often the call is
  // repeated.
  if (session.state === "gone") return { answers };
  await dutyAtEnd(ctx, session, now);
  await leaveFleets(ctx, session, now);
  await ensureAllCounted(ctx, session.queues, now);
  await ensureSweep(ctx, forgottenAt(now), now);
  await leaveToConvex(ctx, session);
  return { answers };
}

/** Jobs that were left to the last worker outside of a queue are Convex's from now on, if the queue is pushed. */
async function leaveToConvex(ctx: MutationCtx, { sessionKey, queues }: Session): Promise<void> {
  const known = await Promise.all(queues.map(async (name) => await findQueue(ctx.db, name)));
  const shared = known.flatMap((queue) =>
    queue?.config.push === true && queue.config.fallbackAfterMs > 0 && !queue.isPaused ? queue : [],
  );
  if (shared.length === 0) return;
  const names = shared.map(({ name }) => name);
  const served = new Set(await lookServed(ctx, names, sessionKey));
  for (const queue of shared)
    if (!served.has(queue.name)) await scheduleWake(ctx, queue, ctx.meta.getSnapshotTs());
}
