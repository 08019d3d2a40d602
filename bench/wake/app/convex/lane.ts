/** A lane: an action that runs as many jobs at once as its cap, one turn at a time, until a turn sends it to sleep. */
import { v } from "convex/values";
import { app, internalAction } from "./builders.js";
import type { JobId } from "./claim.js";
import { vWay } from "./gate.js";
import type { Answer } from "./turn.js";

/** How long a job takes. */
const JOB_MS = 200;
/** How long a lane with room waits before it polls again, and one with nothing to do before it leaves. */
const WAIT_MS = 100;
/** Polls between the turning of the gate and the shutting of the door, after 100, 200 and 400 ms. */
const ANNOUNCEMENTS = 3;

export const run = internalAction({
  args: {
    lane: v.id("lanes"),
    n: v.number(),
    cap: v.number(),
    way: vWay,
    jobs: v.array(v.id("jobs")),
  },
  handler: async (ctx, { lane, n, cap, way, jobs }) => {
    let running = 0;
    let finished: { job: JobId; startedAt: number }[] = [];
    let ended = () => {};
    const begin = (job: JobId): void => {
      running += 1;
      void ctx.runAction(app.lane.handle, {}).then((startedAt: number) => {
        running -= 1;
        finished.push({ job, startedAt });
        ended();
      });
    };
    jobs.forEach(begin);
    let answer: Answer = { jobs: [], next: "work" };
    let announcements = 0;
    for (;;) {
      const turned = answer.next === "again";
      announcements = answer.next === "announced" ? announcements + 1 : 0;
      const waits = answer.next === "wait" || announcements > 0;
      const waitMs = WAIT_MS * 2 ** Math.max(0, announcements - 1);
      if (!turned && finished.length === 0) {
        await new Promise<void>((resolve) => {
          ended = resolve;
          if (waits) setTimeout(resolve, waitMs);
        });
      }
      const now = finished;
      finished = [];
      const turn = { lane, n, way, room: cap - running, running, finished: now, turned };
      const waited = waits && now.length === 0;
      try {
        answer = await ctx.runMutation(app.turn.run, {
          ...turn,
          waited,
          announced: announcements >= ANNOUNCEMENTS,
        });
      } catch {
        // Conflicted too often, or no permit came free: all of it once more.
        finished.push(...now);
        continue;
      }
      if (answer.next === "leave") return;
      answer.jobs.forEach(begin);
    }
  },
});

/** The work itself. Tells when it began. */
export const handle = internalAction({
  args: {},
  returns: v.number(),
  handler: async () => {
    const startedAt = Date.now();
    await new Promise((resolve) => setTimeout(resolve, JOB_MS));
    return startedAt;
  },
});
