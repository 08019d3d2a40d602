/**
 * Workers: the workers seen last, live ones and workers outside first, and the jobs that they hold. For people; nothing's
 * correctness depends on it.
 *
 * Reads for real: rows of sessions by when they were last seen, and where more are active, of active ones with a token;
 * their rows in `tokenSessions`, and the rows of the first jobs that they hold. A subscription is invalidated by every
 * call and beat of a worker it shows, which in a busy fleet is many times per second: the hooks of
 * `convex-conveyor/react` poll less often.
 */
import {
  checkInteger,
  checkName,
  SESSIONS_READ_BYTES,
  WORKERS_SESSIONS_READ,
  WORKERS_JOBS_READ,
  WORKERS_MAX,
  type SessionState,
  type WorkerState,
  type WorkerStatus,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader, QueryCtx } from "../_generated/server.js";
import { bytesOf, takeSessions, takeWithin } from "../rows/rowBytes.js";
import { originIn } from "../rows/tokenSessions.js";
import { shownSession } from "../rows/tokens.js";

type Session = Doc<"sessions">;

/**
 * The newest of each state, merged, and of active ones workers outside besides. Active sessions are indexed by the end of
 * their leases, so where more are active than are read, with leases of different lengths, sessions with the longer ones go
 * first. With `queue`, of the workers that last claimed from it.
 */
export async function workers(
  ctx: QueryCtx,
  { queue, limit = WORKERS_MAX }: { queue?: string; limit?: number },
): Promise<WorkerStatus[]> {
  checkInteger("limit", limit, 1, WORKERS_MAX);
  if (queue !== undefined) checkName("The name of a queue", queue);
  const count = queue === undefined ? limit : WORKERS_SESSIONS_READ;
  const newest = (state: SessionState) =>
    ctx.db
      .query("sessions")
      .withIndex("state", (q) => q.eq("state", state))
      .order("desc");
  const [active, idle, gone] = await Promise.all([
    takeWithin(newest("active"), count, SESSIONS_READ_BYTES / 2),
    takeSessions(newest("idle"), count),
    takeSessions(newest("gone"), count),
  ]);
  // Lanes may be all of these. Sessions with a token are workers outside.
  const outside =
    active.isCut || active.rows.length === count
      ? await takeSessions(withToken(ctx.db), count, 2)
      : [];
  const read = [...active.rows, ...outside, ...idle, ...gone];
  const sessions = [...new Map(read.map((one) => [one._id, one])).values()];
  // Sessions that have stopped, as a hundred of a deployment, leave room for each that is live, and lanes for workers outside.
  const rank = ({ state, lane }: Session) =>
    (state === "gone" ? 2 : 0) + (lane === undefined ? 0 : 1);
  const shown = sessions
    .filter(({ queues }) => queue === undefined || queues.includes(queue))
    .sort((a, b) => rank(a) - rank(b) || b.lastSeenAt - a.lastSeenAt)
    .slice(0, limit);
  return await described(ctx.db, shown);
}

function withToken(db: DatabaseReader) {
  return db
    .query("sessions")
    .withIndex("standing", (q) => q.eq("state", "active").gt("token", undefined));
}

/** The bytes of held jobs, after which no further worker's are read: more than so many rows of the usual size have. */
const JOBS_BYTES = 2 ** 19;

/** The rows of held jobs are read for the first so many jobs, of the workers seen last. */
async function described(
  db: DatabaseReader,
  sessions: readonly Session[],
): Promise<WorkerStatus[]> {
  let [left, bytes] = [WORKERS_JOBS_READ, JOBS_BYTES];
  const all: WorkerStatus[] = [];
  for (const session of sessions) {
    const { sessionKey, name, lane, lastSeenAt, leases, queues, labels } = session;
    const jobs = await Promise.all(leases.slice(0, left).map(({ id }) => db.get("jobs", id)));
    bytes -= jobs.reduce((sum, job) => sum + (job === null ? 0 : bytesOf(job)), 0);
    left = bytes > 0 ? left - jobs.length : 0;
    all.push({
      session: await shownSession(sessionKey),
      ...{ id: session._id, name, isLane: lane !== undefined, lastSeenAt, queues },
      ...(labels === undefined ? {} : { labels }),
      ...(lane === undefined ? await statusOf(db, session) : { state: stateOf(session) }),
      // A lane's leases name no queue: it has one.
      holding: leases.map(({ id, queue = queues[0]!, attempt }, i) => ({
        ...{ id, queue, attempt },
        ...aboutJob(jobs[i]),
      })),
    });
  }
  return all;
}

/** What a worker has said of itself, and what its calls show. */
async function statusOf(db: DatabaseReader, session: Session) {
  const { slots, mode, isQuiet, since, done = 0, leases } = session;
  const quietBy = isQuiet === true ? "operator" : mode === "quiet" ? "worker" : undefined;
  const origin = await originIn(db, session._id);
  return {
    ...{ state: stateOf(session), done },
    ...(since === undefined ? {} : { since }),
    ...(quietBy === undefined ? {} : ({ quietBy } as const)),
    ...(slots === undefined ? {} : { slots: { used: Math.min(leases.length, slots), had: slots } }),
    ...(origin === undefined ? {} : { origin }),
  };
}

/** A worker that has only beaten has been answered no claim. A lane is at work while it is awake. */
function stateOf({ state, mode, callSeq, lane }: Session): WorkerState {
  if (state === "gone") return "stopped";
  if (mode === "draining") return "draining";
  if (state === "active") return "working";
  return callSeq === 0 && lane === undefined && mode === undefined ? "starting" : "waiting";
}

function aboutJob(job: Doc<"jobs"> | null | undefined): { name?: string; startedAt?: number } {
  return {
    ...(job?.name === undefined ? {} : { name: job.name }),
    ...(job?.startedAt === undefined ? {} : { startedAt: job.startedAt }),
  };
}
