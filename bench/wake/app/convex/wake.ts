/**
 * The wake: reads pending jobs and sleeping lanes from a snapshot, and starts lanes with the jobs, each with as many as
 * it takes before the next is woken.
 */
import { v, type GenericId, type Infer } from "convex/values";
import { app, internalMutation, internalQuery, type MutationCtx } from "./builders.js";
import { claim, millis } from "./claim.js";
import { isReliedOn, openGate, readGate, vWay, type Way } from "./gate.js";

export const run = internalMutation({
  args: { way: vWay },
  handler: async (ctx, { way }) => {
    const gate = await readGate(ctx.db, way);
    // Then all lanes are awake and poll; the first that leaves changes the gate, and this retries.
    if (gate.gate.state === "busy" && isReliedOn(gate)) return;
    const seen: Seen = await ctx.runQuery(app.wake.look, {}, { useStaleSnapshot: true });
    let waiting = seen.pending;
    for (const id of seen.sleeping) {
      if (waiting.length === 0) break;
      const lane = (await ctx.db.get("lanes", id))!;
      if (lane.state !== "asleep") continue;
      const jobs = await claim(ctx.db, waiting, lane.cap);
      waiting = jobs.length < lane.cap ? [] : waiting.slice(waiting.indexOf(jobs.at(-1)!) + 1);
      if (jobs.length > 0) await start(ctx, lane, jobs, way);
    }
    if (waiting.length > 0) await leaveToLanes(ctx, gate);
  },
});

async function start(
  { db, scheduler }: MutationCtx,
  lane: Lane,
  jobs: string[],
  way: Way,
): Promise<void> {
  await db.patch("lanes", lane._id, { state: "awake" });
  const { _id, n, cap } = lane;
  await scheduler.runAfter(0, app.lane.run, { lane: _id, n, cap, way, jobs });
}

/** All lanes are read for real: a lane that goes to sleep meanwhile makes this retry. */
async function leaveToLanes(
  { db }: MutationCtx,
  gate: Awaited<ReturnType<typeof readGate>>,
): Promise<void> {
  const lanes = await db.query("lanes").collect();
  if (lanes.every(({ state }) => state === "awake")) {
    await openGate(db, gate);
  }
}

type Lane = { _id: GenericId<"lanes">; n: number; cap: number };

const vSeen = v.object({
  /** The oldest first, one more than all lanes together could take. */
  pending: v.array(v.id("jobs")),
  /** In the order of their numbers, begun at random. */
  sleeping: v.array(v.id("lanes")),
});
type Seen = Infer<typeof vSeen>;

export const look = internalQuery({
  args: {},
  returns: vSeen,
  handler: async ({ db }): Promise<Seen> => {
    const lanes = await db.query("lanes").collect();
    const most = lanes.reduce((sum, { cap }) => sum + cap, 0) + 1;
    const shards = await Promise.all(
      lanes.map(({ n }) =>
        db
          .query("jobs")
          .withIndex("status", (q) => q.eq("status", "pending").eq("shard", n))
          .take(most),
      ),
    );
    const pending = shards.flat().sort((a, b) => millis(a.seq) - millis(b.seq));
    const from = Math.floor(Math.random() * lanes.length);
    return {
      pending: pending.slice(0, most).map(({ _id }) => _id),
      sleeping: [...lanes.slice(from), ...lanes.slice(0, from)]
        .filter(({ state }) => state === "asleep")
        .map(({ _id }) => _id),
    };
  },
});
