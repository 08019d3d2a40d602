/**
 * The main loop as people see it: whether it runs, its jobs in hand, and its room for more. Writes nothing.
 *
 * Reads: all slots, the places given to each, the queues that wait (100), the lanes that are awake (512 rows, or 2 MiB of
 * them), the scheduled functions of the oldest 32 processes, and the first alarm. A subscription is invalidated by every
 * call of a lane: pages ask for it calmly (`react/calmWatch.ts`).
 */
import {
  LANES_SHOWN,
  lifeOf,
  limitsOf,
  OVERVIEW_QUEUES_MAX,
  PROCESSES_ASKED,
  SESSIONS_READ_BYTES,
  type MainLoop,
} from "../../shared/index.js";
import type { Doc } from "../_generated/dataModel.js";
import type { DatabaseReader } from "../_generated/server.js";
import { firstAlarm } from "../loops/loop.js";
import { allGrants } from "../push/grants.js";
import { runs } from "../push/lanes.js";
import { type Process } from "../push/mount.js";
import { takeWithin } from "../rows/rowBytes.js";

export async function mainLoopNow(
  db: DatabaseReader,
  deploymentClass: string,
  share?: number,
): Promise<MainLoop> {
  const limits = limitsOf(deploymentClass, share);
  const [rows, lanes, waitingRows, next] = await Promise.all([
    db.query("processes").collect(),
    lanesAwake(db),
    db.query("waitingQueues").take(OVERVIEW_QUEUES_MAX),
    firstAlarm(db),
  ]);
  const waiting = waitingRows.map(({ queue }) => queue);
  const processes = await processesNow(db, rows);
  const used = processes.reduce((sum, { places }) => sum + places, 0);
  return {
    status: statusOf(processes, waiting),
    generation: rows.reduce((sum, { generation }) => sum + generation, 0),
    ...(next === null ? {} : { next: shownAlarm(next) }),
    slots: limits.slots,
    places: { used, left: Math.max(0, limits.all - used) },
    lanes: {
      awake: lanes.rows.length,
      jobs: lanes.rows.reduce((sum, { leases }) => sum + leases.length, 0),
      more: lanes.isCut || lanes.rows.length === LANES_SHOWN,
    },
    queues: byQueue(lanes.rows, waiting),
    processes,
    waiting,
  };
}

function statusOf(
  processes: MainLoop["processes"],
  waiting: readonly string[],
): MainLoop["status"] {
  if (processes.some(({ hasEnded }) => hasEnded)) return "stalled";
  if (waiting.length > 0) return "waiting";
  return processes.length > 0 ? "running" : "idle";
}

async function processesNow(
  db: DatabaseReader,
  rows: readonly Process[],
): Promise<MainLoop["processes"]> {
  const running = rows
    .filter(({ state }) => state !== "free")
    .sort((a, b) => a.openedAt - b.openedAt);
  const grants = await allGrants(db);
  const extraOf = new Map(grants.map(({ process, extra }) => [process, extra]));
  const ended = await Promise.all(
    running
      .slice(0, PROCESSES_ASKED)
      .map(async ({ scheduledId: id }) => id === undefined || !(await runs(db, id))),
  );
  return running.map(({ _id, number: slot, generation, openedAt, state, action }, i) => ({
    ...{ slot, generation, openedAt, places: 1 + (extraOf.get(_id) ?? 0) },
    endsAt: openedAt + lifeOf(action !== undefined),
    ...{ isReceiving: state === "receiving", isInline: action !== undefined },
    hasEnded: ended[i] ?? false,
  }));
}

/** Sessions that are active and have no token are lanes that are awake. */
async function lanesAwake(db: DatabaseReader) {
  const awake = db
    .query("sessions")
    .withIndex("standing", (q) => q.eq("state", "active").eq("token", undefined));
  return await takeWithin(awake, LANES_SHOWN, SESSIONS_READ_BYTES);
}

function byQueue(
  lanes: readonly Doc<"sessions">[],
  waiting: readonly string[],
): MainLoop["queues"] {
  const found = new Map<string, MainLoop["queues"][number]>();
  const of = (queue: string) => {
    const one = found.get(queue) ?? { queue, lanes: 0, jobs: 0, isWaiting: false };
    found.set(queue, one);
    return one;
  };
  // A lane serves one queue.
  for (const { queues, leases } of lanes) {
    const one = of(queues[0]!);
    one.lanes += 1;
    one.jobs += leases.length;
  }
  for (const queue of waiting) of(queue).isWaiting = true;
  return [...found.values()].sort((a, b) => b.jobs - a.jobs || (a.queue < b.queue ? -1 : 1));
}

function shownAlarm({ kind, queue, dueAt }: Doc<"timers">): NonNullable<MainLoop["next"]> {
  return { kind, ...(queue === undefined ? {} : { queue }), dueAt };
}
