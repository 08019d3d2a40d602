/**
 * Heartbeat: one small write that renews everything that the session holds.
 *
 * Reads for real: the token, the session's row, leases that it is asked to end. Snapshot reads: the janitor's timers;
 * of an idle session overdue work. Writes: the session's row; inserts a timer where the snapshot shows none. No job
 * is read: that a lease stands in the row is the truth. Conflicts with: the session's own calls beside it, a sweep
 * that ends its leases or forgets it, `quietWorker` or `resumeWorker` of it, `recordLate` of its jobs; a retry of
 * either finds the other's write. On call, as `onCall.ts`. It retries where a cancel of a job that it holds commits
 * first (`cancels`); the cancel does not, unless its snapshot did not show the session. Not with a sweep that writes
 * its timer: the claim has ensured one, and a beat only postpones the end that the sweep is for.
 */
import {
  checkLeases,
  LEASES_MAX,
  type Answer,
  type Duty,
  type Lease,
  type OnCallRequest,
  type WorkerFacts,
} from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { askedOf, isNamed } from "../rows/cancels.js";
import { dutyAtBeat } from "../claim/onCall.js";
import { findLease, renew, setDuty, type HeldLease, type Session } from "../rows/sessions.js";
import { enterSession } from "../rows/tokenSessions.js";
import { reviveJanitor } from "../loops/timers.js";
import { authorize } from "../rows/tokens.js";
import { isAnyOverdue } from "../tend/watchdog.js";

/**
 * The answer to a beat. `isLate`: its worker has late work tended. `fleet`: of an idle worker, how many serve one of its queues,
 * where these are more than a claim reads.
 */
export interface Beat {
  answers: Answer[];
  isLate?: boolean;
  /** By an operator: it is given no job. */
  isQuiet?: boolean;
  fleet?: number;
  duty?: Duty;
}

export async function heartbeat(
  ctx: MutationCtx,
  args: {
    token: string;
    sessionKey: string;
    leases: Lease[];
    about?: WorkerFacts;
    onCall?: OnCallRequest;
  },
): Promise<Beat> {
  const now = Date.now();
  checkLeases("The leases of a heartbeat", args.leases, 0, LEASES_MAX);
  const token = await authorize(ctx.db, args.token, []);
  // A worker that has never claimed is seen under its token's name until it does.
  const { about } = args;
  const caller = { token, sessionKey: args.sessionKey, name: token.name, queues: [], about };
  const session = await enterSession(ctx, caller, now);
  // A beat has no number: sent before the last word, it may come after it.
  if (session.hasDeparted === true) return { answers: answerBeat([], args.leases, []) };
  const asked =
    session.leases.length === 0 ? [] : await askedOf(ctx.db, session.sessionKey, session.token);
  const renewed = await renew(ctx.db, session, args.leases, asked, now, about);
  const answers = answerBeat(renewed.leases, args.leases, asked);
  const { isLate, fleet } = await look(ctx, renewed, now);
  const duty = args.onCall === undefined ? {} : await keepDuty(ctx, renewed, args.onCall, now);
  return {
    ...{ answers, ...duty },
    ...(isLate ? { isLate } : {}),
    ...(fleet > 0 ? { fleet } : {}),
    ...(renewed.isQuiet === true ? { isQuiet: true } : {}),
  };
}

async function keepDuty(
  ctx: MutationCtx,
  session: Session,
  onCall: OnCallRequest,
  now: number,
): Promise<{ duty: Duty }> {
  const { fields, duty } = await dutyAtBeat(ctx, session, onCall, now);
  if (fields !== undefined) await setDuty(ctx.db, session, fields);
  return { duty };
}

/**
 * Whether the worker is to have late work tended. A long job's beats may be the only calls there are, and so the only ones to
 * notice that the janitor has died. An idle worker's, once per minute, may be the only calls to a queue with jobs that are
 * all due later.
 */
async function look(
  ctx: MutationCtx,
  { leases, expiresAt, queues }: Session,
  now: number,
): Promise<{ isLate: boolean; fleet: number }> {
  if (leases.length > 0) return { isLate: await reviveJanitor(ctx, expiresAt, now), fleet: 0 };
  return await isAnyOverdue(ctx, queues, now);
}

/** How each of these leases stands: the answer to a beat, from any kind of call. */
export function answerBeat(
  held: HeldLease[],
  named: readonly Lease[],
  asked: readonly Lease[],
): Answer[] {
  return named.map(({ id, attempt }) => {
    const stands = findLease({ leases: held }, id, attempt) !== undefined;
    const ok = isNamed(asked, id, attempt) ? "canceled" : "ok";
    return { id, attempt, answer: stands ? ok : "leaseLost" };
  });
}
