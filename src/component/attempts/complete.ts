/**
 * Complete: a worker's session reports outcomes, and in the same transaction claims the next jobs.
 *
 * Order: outcomes → callbacks → everything re-read → claim. A callback may enqueue, cancel or retry: a read from before
 * it is repeated after it. The query for a token's groups runs after it as well: a callback may end a membership.
 *
 * A callback that conflicts takes the outcome down with it: that the app's data changed is found out at the commit,
 * where no `try` of ours can be. A worker with a call that was refused for it asks with `deferCallbacks` for no
 * callback here: all that is owed becomes rows, and the transaction depends on nothing of the app's.
 *
 * Reads for real: the token, the session's row, each job reported, its queue's row, the row of its key, then as a
 * claim; for a worker that names what it holds (`held`) the session's `cancels`, where a cancel that commits first
 * makes it retry. Writes: these jobs, `payloads` for large results, the session's row, the writes of the app's
 * callbacks; deletes the keys of jobs that end; inserts into `callbacks`. Conflicts with: at a job reported a cancel,
 * pause or deletion of it, its `completeLater` and `recordLate`, the alarm of start deadlines that passes it; at the
 * session's row its own beats, a sweep that ends its leases, `quietWorker` or `resumeWorker` of it; an enqueue with
 * the key of a job that ends; where a callback becomes owed, as `callbacks.ts`; where an attempt is to follow later,
 * the ring of that alarm; the conflicts of the callbacks; and as a claim. Never with the enqueue of a plain job.
 */
import { getConvexSize } from "convex/values";
import {
  checkLeases,
  conveyorError,
  ENQUEUE_MAX_JOBS,
  LEASES_MAX,
  OUTCOMES_MAX_BYTES,
  type Answer,
  type ClaimedJob,
  type Duty,
  type Finished,
  type Lease,
  type WorkerFacts,
} from "../../shared/index.js";
import type { MutationCtx } from "../_generated/server.js";
import { judgeCall } from "../claim/callNumbers.js";
import { withEffects } from "../edges/applyEffects.js";
import { oweAll, tellAll } from "../edges/callbacks.js";
import { askedOf } from "../rows/cancels.js";
import { checkRequest, leasedBefore, namesOf, takeJobs, repliedWith } from "../claim/claim.js";
import type { Claimed, ClaimRequest } from "../claim/claimCall.js";
import { askedDuty } from "../claim/onCall.js";
import { endAnnouncements } from "../claim/tableRows.js";
import { answerBeat } from "./heartbeat.js";
import { dutyAgain } from "../rows/duties.js";
import { closeCall, keepLeases, type Session } from "../rows/sessions.js";
import { offerOf } from "../rows/conditions.js";
import { recordAll } from "./recording.js";
import { enterSession } from "../rows/tokenSessions.js";
import { ensureJanitor } from "../loops/timers.js";
import { authorize, within } from "../rows/tokens.js";

export interface Completed extends Pick<Claimed, "fleet" | "places" | "isLate" | "busyRows"> {
  duty?: Duty;
  answers: Answer[];
  jobs: ClaimedJob[];
  cursor?: string;
  session: string;
  /** Of the leases that were named besides. */
  held?: Answer[];
  /** By an operator: it is given no job. */
  isQuiet?: boolean;
}

export async function complete(
  ctx: MutationCtx,
  args: {
    token: string;
    sessionKey: string;
    callSeq: number;
    finished: Finished[];
    claim?: ClaimRequest;
    deferCallbacks?: boolean;
    /** The worker's other leases: the call is a beat for these. */
    held?: Lease[];
    /** What its worker says of itself, where that is new. */
    about?: WorkerFacts;
  },
): Promise<Completed> {
  const now = Date.now();
  checkLeases("The finished jobs of a call", args.finished, 1, LEASES_MAX);
  checkWeight(args.finished);
  checkLeases("The leases that a call names besides", args.held ?? [], 0, LEASES_MAX);
  const asked = args.claim === undefined ? [] : checkRequest(args.claim);
  const token = await authorize(ctx.db, args.token, asked);
  const { about } = args;
  const caller = { token, sessionKey: args.sessionKey, name: token.name, queues: asked, about };
  const session = await enterSession(ctx, caller, now);
  if (judgeCall(session, args.callSeq) === "repeated") {
    if (args.held !== undefined) await keepLeases(ctx.db, session, session.leases, now);
    const jobs = await leasedBefore(ctx, session, session.callSeq);
    const { others } = await beat(ctx, session, args.held);
    return { ...session.reply, jobs, ...others, ...repliedWith({}, session) };
  }

  const announced = await endAnnouncements(ctx.db, session, args.claim?.rows);
  const { answers, current, besideCallbacks } = await record(ctx, session, args, now);
  // Of groups that a callback has taken from the token it claims no job, and none where one has revoked the token.
  const left = besideCallbacks ? (await ctx.db.get("tokens", token._id))! : token;
  const request = args.claim === undefined ? undefined : await within(ctx, left, args.claim);
  const claimed =
    request === undefined
      ? undefined
      : await takeJobs(ctx, current, args.callSeq, request, now, { besideCallbacks, announced });
  const chosen =
    request === undefined || claimed === undefined
      ? undefined
      : await askedDuty(ctx, current, request, claimed, now);
  const again = request === undefined ? dutyAgain(current) : undefined;

  const { spoken, others } = await beat(ctx, current, args.held);
  const closed = await closeCall(
    ctx.db,
    current,
    {
      callSeq: args.callSeq,
      claimed: claimed?.leases ?? [],
      answers,
      cursor: claimed?.cursor,
      about,
      recorded: answers.filter(({ answer }) => answer === "ok").length,
      ...(request === undefined ? {} : { queues: namesOf(request), offer: offerOf(request) }),
      duty: chosen?.fields ?? again,
      spoken,
    },
    now,
  );
  await watch(ctx, closed, claimed, now);
  if (claimed === undefined) return { answers, jobs: [], ...others, ...repliedWith({}, current) };
  return {
    answers,
    jobs: claimed.jobs,
    cursor: claimed.cursor,
    ...repliedWith(claimed, current),
    ...(chosen === undefined ? {} : { duty: chosen.duty }),
    ...others,
  };
}

/** The worker of a call that is refused reports each outcome by itself. */
function checkWeight(finished: Finished[]): void {
  const jobs = finished.flatMap(({ continued = [] }) => continued.flatMap(({ jobs }) => jobs));
  const bytes = getConvexSize(finished);
  const isLarge = bytes > OUTCOMES_MAX_BYTES;
  if (!isLarge && jobs.length <= ENQUEUE_MAX_JOBS) return;
  const [what, got, max] = isLarge
    ? ["bytes", bytes, OUTCOMES_MAX_BYTES]
    : ["jobs to follow", jobs.length, ENQUEUE_MAX_JOBS];
  throw conveyorError(
    isLarge ? "payloadTooLarge" : "invalidArgument",
    `The outcomes of one call may come to ${max} ${what}; these are ${got}. Report them in several calls.`,
    { argument: "finished", got, max },
  );
}

/** Records the outcomes and runs the callbacks. `current`: the row of the session, as these have left it. */
async function record(
  ctx: MutationCtx,
  session: Session,
  { finished, deferCallbacks = false }: { finished: Finished[]; deferCallbacks?: boolean },
  now: number,
): Promise<{ answers: Answer[]; current: Session; besideCallbacks: boolean }> {
  const deliver = deferCallbacks ? oweAll : tellAll;
  const recorded = await withEffects(ctx, { now, bySession: true, deliver }, async (ctx) => {
    const { answers, leases } = await recordAll(ctx, session, finished, "worker");
    const besideCallbacks = !deferCallbacks && ctx.effects.callbacks.length > 0;
    if (besideCallbacks) await keepLeases(ctx.db, session, leases, now);
    return { answers, besideCallbacks, current: { ...session, leases } };
  });
  if (!recorded.besideCallbacks) return recorded;
  return { ...recorded, current: (await ctx.db.get("sessions", session._id))! };
}

/**
 * A call that leases depends on a sweep that comes in time. A call that leased nothing more only ends leases or
 * postpones their end, and depends on none; but if its snapshot showed that the janitor has died, it ensures another.
 */
async function watch(
  ctx: MutationCtx,
  session: Session,
  claimed: Claimed | undefined,
  now: number,
): Promise<void> {
  if (session.leases.length === 0 || claimed === undefined) return;
  if (claimed.leases.length === 0 && claimed.timer !== null) return;
  await ensureJanitor(ctx, session.expiresAt, now, claimed.timer);
}

/** The caller's id. It is a beat as well: how the leases stand that the worker names besides. */
async function beat(
  ctx: MutationCtx,
  { _id, leases, sessionKey, token }: Session,
  named: Lease[] | undefined,
): Promise<{
  others: Pick<Completed, "held" | "session">;
  spoken?: { named: Lease[]; asked: Lease[] };
}> {
  if (named === undefined) return { others: { session: _id } };
  const asked = leases.length === 0 ? [] : await askedOf(ctx.db, sessionKey, token);
  const held = answerBeat(leases, named, asked);
  return { others: { session: _id, held }, spoken: { named, asked } };
}
