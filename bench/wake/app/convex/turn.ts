/**
 * A lane's turn: finished jobs are completed, as many are claimed as there is room for, and a lane without jobs goes to
 * sleep, in one transaction. Its answer is the lane's next step.
 *
 * A lane woken by wakes leaves only under a quiet gate, read for real: as long as it is quiet, every enqueue that commits
 * has scheduled a wake. Under a busy one it turns it first and scans once more, in a new transaction, for earlier jobs.
 * A lane woken by callers reads all pending jobs for real before it sleeps.
 */
import { v, type Infer } from "convex/values";
import { app, internalMutation, internalQuery, type MutationCtx } from "./builders.js";
import { claim, millis, type JobId } from "./claim.js";
import { isReliedOn, readGate, vWay } from "./gate.js";

/** A job in another lane's shard is left to that one for so long. */
const STEAL_AFTER_MS = 200;

const vTurn = v.object({
  lane: v.id("lanes"),
  n: v.number(),
  way: vWay,
  room: v.number(),
  /** How many jobs it still runs. */
  running: v.number(),
  finished: v.array(v.object({ job: v.id("jobs"), startedAt: v.number() })),
  /** It had room, has waited, and nothing of its own has ended. */
  waited: v.boolean(),
  /** It has turned the gate, and callers that rely on it had time to commit. */
  announced: v.boolean(),
  /** No caller relies on it any more, by its own last turn. */
  turned: v.boolean(),
});
type Turn = Infer<typeof vTurn>;
/**
 * Wait until a job ends; or at most a little; or longer and longer, with the gate turned; or scan again at once, with
 * no caller relying on it; or leave.
 */
export type Next = "work" | "wait" | "announced" | "again" | "leave";
export interface Answer {
  jobs: JobId[];
  next: Next;
}

export const run = internalMutation({
  args: vTurn.fields,
  handler: async (ctx, turn): Promise<Answer> => {
    for (const { job, startedAt } of turn.finished) {
      const seq = ctx.db.vars.commitTs;
      await ctx.db.patch("jobs", job, { status: "done", seq, startedAt });
    }
    const { n, room, waited, turned } = turn;
    const sight = { n, room, youngToo: waited || turned };
    const seen: Seen = await ctx.runQuery(app.turn.look, sight, { useStaleSnapshot: true });
    const jobs = await claim(ctx.db, seen.pending, room);
    // Jobs that came while the gate was busy have no wake of their own.
    if (turned && seen.pending.length > room)
      await ctx.scheduler.runAfter(0, app.wake.run, { way: turn.way });
    if (jobs.length === room) return { jobs, next: "work" };
    if (turn.running + jobs.length > 0) return { jobs, next: seen.othersCount ? "wait" : "work" };
    return { jobs, next: await (turn.way === "patch" ? withoutGate : underTheGate)(ctx, turn) };
  },
});

async function underTheGate(
  ctx: MutationCtx,
  { lane, way, waited, announced }: Turn,
): Promise<Next> {
  const state = await readGate(ctx.db, way);
  const { gate, door } = state;
  if (!isReliedOn(state)) return sleep(ctx, lane);
  if (gate.state === "busy") {
    if (!waited) return "wait";
    await ctx.db.patch("gate", gate._id, { state: "quiet" });
    return door === null ? "again" : "announced";
  }
  if (!announced) return "announced";
  await ctx.db.patch("door", door!._id, { open: false });
  return "again";
}

async function withoutGate(ctx: MutationCtx, { lane, waited }: Turn): Promise<Next> {
  if (!waited) return "wait";
  const pending = await ctx.db
    .query("jobs")
    .withIndex("status", (q) => q.eq("status", "pending"))
    .first();
  return pending === null ? sleep(ctx, lane) : "wait";
}

async function sleep({ db }: MutationCtx, lane: Turn["lane"]): Promise<Next> {
  await db.patch("lanes", lane, { state: "asleep" });
  return "leave";
}

const vSeen = v.object({
  /** Of its own shard, then of the other shards, one more than there is room for. */
  pending: v.array(v.id("jobs")),
  /** No lane sleeps, so that jobs are left to lanes that poll. */
  othersCount: v.boolean(),
});
type Seen = Infer<typeof vSeen>;

export const look = internalQuery({
  args: { n: v.number(), room: v.number(), youngToo: v.boolean() },
  returns: vSeen,
  handler: async ({ db }, { n, room, youngToo }): Promise<Seen> => {
    const lanes = await db.query("lanes").collect();
    const from = Math.floor(Math.random() * lanes.length);
    const others = [...lanes.slice(from), ...lanes.slice(0, from)].filter((lane) => lane.n !== n);
    const shards = await Promise.all(
      [n, ...others.map((lane) => lane.n)].map((shard) =>
        db
          .query("jobs")
          .withIndex("status", (q) => q.eq("status", "pending").eq("shard", shard))
          .take(room + 1),
      ),
    );
    const before = Date.now() - STEAL_AFTER_MS;
    const pending = shards
      .flat()
      .filter(({ shard, seq }) => youngToo || shard === n || millis(seq) < before)
      .slice(0, room + 1)
      .map(({ _id }) => _id);
    return { pending, othersCount: lanes.every(({ state }) => state === "awake") };
  },
});
