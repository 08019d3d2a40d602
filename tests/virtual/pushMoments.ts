/** For tests: moments in the life of push queues, each of them a commit, and faults at such a moment. */
import type { StoredCommit } from "../../local/engine/store.js";
import {
  cancelScheduled,
  SCHEDULED_TABLE,
  type ScheduledRow,
} from "../../local/functions/scheduledTable.js";
import type { World } from "../../local/virtual/world.js";
import { PROCESS_LIFE_MS, PUSH_TIMEOUT_MAX_MS } from "../../src/shared/index.js";
import { COMPONENT, type PushWorld } from "./pushWorld.js";

export type Moment = (commit: StoredCommit) => boolean;

/** A function of the component has been scheduled, or got on so far. */
export const scheduled =
  (path: string, state: string): Moment =>
  ({ writes }) =>
    writes.some(({ table, doc }) => {
      if (table !== SCHEDULED_TABLE || doc === null) return false;
      const row = doc as unknown as ScheduledRow;
      return row.target.path === path && row.state.kind === state;
    });

/** Some row with these fields has been written. */
export const wrote =
  (name: string, fields: Record<string, unknown>): Moment =>
  ({ writes }) =>
    writes.some(
      ({ table, doc }) =>
        table === name && Object.entries(fields).every(([field, value]) => doc?.[field] === value),
    );

export const WAKE_COMMITS = scheduled("push/laneAction:laneProcess", "pending");
export const PROCESS_BEGINS = scheduled("push/laneAction:laneProcess", "inProgress");
export const STEP_COMMITS = wrote("jobs", { status: "succeeded", queue: "acted" });
const begins = wrote("jobs", { status: "running", queue: "acted" });
/** A step that records a job and takes another. */
export const STEP_TAKES: Moment = (commit) => STEP_COMMITS(commit) && begins(commit);
export const HANDLER_BEGAN = wrote("notes", { what: "began 1" });
export const HANDLER_ENDED = wrote("notes", { what: "ended 1" });

/** Jobs that may run for so long are taken by a process for the first four and a half minutes of its life. */
export const DRAINS_SOON = { timeoutMs: PUSH_TIMEOUT_MAX_MS };

/** A lane that holds jobs has made a call since its process is too old for more. To be asked about every commit. */
export function laneDrains(): Moment {
  /** By scheduled function. */
  const opened = new Map<unknown, number>();
  return ({ writes }) => {
    for (const { table, doc } of writes)
      if (table === "processes") opened.set(doc?.["scheduledId"], Number(doc?.["openedAt"]));
    return writes.some(({ table, doc }) => {
      const openedAt = opened.get(doc?.["runsIn"]);
      if (table !== "sessions" || doc === null || openedAt === undefined) return false;
      const isOld = Number(doc["lastSeenAt"]) > openedAt + PROCESS_LIFE_MS - PUSH_TIMEOUT_MAX_MS;
      return isOld && (doc["leases"] as unknown[]).length > 0;
    });
  };
}

/** Goes on until just after the commit; `now` is called at once, before any other observer. */
export async function until(
  { world, store }: PushWorld,
  moment: Moment,
  now: () => void = () => undefined,
): Promise<void> {
  let isReached = false;
  store.kept = (commit) => {
    if (isReached || !moment(commit)) return;
    isReached = true;
    now();
  };
  await world.until(() => isReached, { withinMs: 400_000, what: "that moment comes" });
}

/** Processes that run, all or this one, hear and do nothing more. How many they were. */
export function loseProcesses({ world }: PushWorld, scheduledId?: unknown): number {
  return world.backend.runner.loseActions(
    ({ address, requestId }) =>
      address.path === "push/laneAction:laneProcess" &&
      (scheduledId === undefined || requestId === scheduledId),
  );
}

/** Cancels a function of the component, as in the dashboard. Returns whether it was in time. */
export async function cancel(world: World, id: string): Promise<boolean> {
  const { database } = world.backend;
  const tx = database.begin();
  await world.run(cancelScheduled(tx, { namespace: COMPONENT, id }, world.now()));
  return await world.run(
    database.commit(tx, "a cancel in the dashboard").then(
      () => true,
      () => false,
    ),
  );
}
