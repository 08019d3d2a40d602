/**
 * Requests to the workers of running jobs: to end them. The only writer of `cancels`.
 *
 * A row is inserted by a transaction that wants a running job to end; it depends on nothing but the job's own row. The
 * row is read by the worker's subscription and with its beats, and deleted with the lease, however that ends.
 */
import { v, type Infer } from "convex/values";
import { LEASES_MAX, type Lease } from "../../shared/index.js";
import { internal } from "../_generated/api.js";
import type { Doc, Id } from "../_generated/dataModel.js";
import {
  internalQuery,
  type DatabaseReader,
  type DatabaseWriter,
  type MutationCtx,
  type QueryCtx,
} from "../_generated/server.js";
import { authorize } from "./tokens.js";

/** A session has so many leases at most, and a deleted job's row goes with its lease. */
const CANCELS_READ = 2 * LEASES_MAX;

/** Asks the worker of a running job to end it. To be called once an attempt. */
export async function askToStop(ctx: MutationCtx, job: Doc<"jobs">): Promise<void> {
  const session = job.session === undefined ? null : await whoHolds(ctx, job.session);
  // No session to notify: the job's own row says that it is to end, and the transaction that ends its lease reads it.
  if (session === null) return;
  const { _id, attempt } = job;
  // The reason is in the job's row: a worker's beats, and the transactions that end its leases, read as many of these
  // rows as it has jobs.
  await ctx.db.insert("cancels", { ...session, job: _id, attempt });
}

/** To be called with the end of the lease of a job that its worker was asked to end. */
export async function forgetAsked(db: DatabaseWriter, job: Id<"jobs">): Promise<void> {
  const rows = await db
    .query("cancels")
    .withIndex("job", (q) => q.eq("job", job))
    .collect();
  for (const row of rows) await db.delete("cancels", row._id);
}

/** The leases of a session that it is asked to end. */
export async function askedOf(
  db: DatabaseReader,
  sessionKey: string,
  token: Id<"tokens"> | undefined,
): Promise<Lease[]> {
  const rows = await db
    .query("cancels")
    .withIndex("sessionKey", (q) => q.eq("sessionKey", sessionKey))
    .take(CANCELS_READ);
  return rows
    .filter((row) => row.token === token)
    .map(({ job, attempt }) => ({ id: job, attempt }));
}

/** For the worker's subscription: it is invalidated by another such lease, and not by the session's calls. */
export async function cancellations(
  ctx: QueryCtx,
  args: { token: string; sessionKey: string },
): Promise<Lease[]> {
  const token = await authorize(ctx.db, args.token, []);
  return await askedOf(ctx.db, args.sessionKey, token._id);
}

export function isNamed(leases: readonly Lease[], id: string, attempt: number): boolean {
  return leases.some((lease) => lease.id === id && lease.attempt === attempt);
}

const vWho = v.object({ sessionKey: v.string(), token: v.optional(v.id("tokens")) });
type Who = Infer<typeof vWho>;

/**
 * The session that holds it. These fields of its row never change, so a snapshot is as good as a read, and the row
 * changes with every call of its worker: a real read would make the cancel retry again and again.
 */
async function whoHolds(ctx: MutationCtx, session: Id<"sessions">): Promise<Who | null> {
  const seen: Who | null = await ctx.runQuery(
    internal.rows.cancels.findCancelRequests,
    { session },
    { useStaleSnapshot: true },
  );
  return seen ?? nameOf(await ctx.db.get("sessions", session));
}

export const findCancelRequests = internalQuery({
  args: { session: v.id("sessions") },
  returns: v.union(vWho, v.null()),
  handler: async (ctx, { session }) => nameOf(await ctx.db.get("sessions", session)),
});

function nameOf(session: Doc<"sessions"> | null): Who | null {
  if (session === null) return null;
  const { sessionKey, token } = session;
  return { sessionKey, ...(token === undefined ? {} : { token }) };
}
