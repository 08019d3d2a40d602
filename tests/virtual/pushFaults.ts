/**
 * For tests: push queues, in virtual time, while the backend is restarted and scheduled functions are canceled at random, or
 * start minutes late and out of order: lanes in the middle of anything, wakes, sweeps and alarms.
 */
import { makeFunctionReference } from "convex/server";
import {
  markDueAgain,
  readScheduled,
  SCHEDULED_TABLE,
} from "../../local/functions/scheduledTable.js";
import { cancel } from "./pushMoments.js";
import { checkRest, COMPONENT, startPushWorld, watch, type PushWorld } from "./pushWorld.js";

const MAX_PARALLELISM = 5;
const STEPS = 14;
/** Longer than it takes until a lane that died, or a lost wake, is noticed. */
const CALM_MS = 90_000;
/** A function that is late is so by up to so much. */
const LATE_MAX_MS = 180_000;
/** One after the other they take some 200 ms. */
const SLOW_READS = 150;

export interface Faults {
  restarts?: boolean;
  cancels?: boolean;
  /** Every fourth scheduled function starts minutes late. */
  late?: boolean;
  /** Callers take 200 ms from their enqueue to their end. */
  slow?: boolean;
}

export interface Played {
  jobs: number;
  most: number;
  restarts: number;
  canceled: string[];
  late: number;
  statuses: Record<string, number>;
}

const enqueue = makeFunctionReference<"mutation">("traced:enqueue");
const enqueueWritten = makeFunctionReference<"mutation">("traced:enqueueWritten");

const enqueueSlowly = makeFunctionReference<"mutation">("traced:enqueueSlowly");

/** Throws a `Fault` that names the broken condition. */
export async function play(seed: number, faults: Faults): Promise<Played> {
  const maxResets = seed % 3;
  const started = await startPushWorld(seed, { maxParallelism: MAX_PARALLELISM, maxResets });
  const { world, store } = started;
  const played: Played = { jobs: 0, most: 0, restarts: 0, canceled: [], late: 0, statuses: {} };
  try {
    await perturb(started, played, faults);
    store.kept = () => undefined;
    if (faults.late === true) await world.advance(LATE_MAX_MS);
    // No more faults; one call of `watch` stands for the app's cron.
    await world.advance(CALM_MS);
    await watch(world);
    await world.advance(CALM_MS);
    await checkRest(started);
    played.jobs = store.jobs().length;
    played.most = store.most;
    for (const { status } of store.jobs()) {
      played.statuses[status] = (played.statuses[status] ?? 0) + 1;
    }
    return played;
  } finally {
    await world.close();
  }
}

async function perturb(
  pushed: PushWorld,
  played: Played,
  { restarts = false, cancels = false, late = false, slow = false }: Faults,
): Promise<void> {
  const { world, store } = pushed;
  const { random } = world;
  const below = (n: number) => Math.floor(random.next() * n);
  const delay = () => {
    if (late) delayScheduled(pushed, below, () => (played.late += 1));
  };
  delay();
  const client = world.httpClient();
  let n = 2;
  for (let i = 0; i < STEPS; i += 1) {
    const payloads = Array.from({ length: 1 + below(below(3) === 0 ? 12 : 2) }, () => {
      const ms = [0, 50, 300, 4_000][below(4)]!;
      return { n: n++, ms, fails: [1, 9][below(12)] ?? 0 };
    });
    const writes = below(3) === 0;
    // A request to a backend that dies is never answered: so it is not awaited.
    void (
      slow && !writes
        ? client.mutation(enqueueSlowly, { payloads, reads: SLOW_READS })
        : client.mutation(writes ? enqueueWritten : enqueue, { payloads })
    ).catch(() => null);
    await world.advance(below(900));
    if (restarts && below(5) === 0) {
      played.restarts += 1;
      await world.restartBackend({ downMs: below(2_000) });
      delay();
    }
    if (cancels && below(3) === 0) {
      const open = store.open();
      const victim = open[below(open.length)];
      if (victim !== undefined && (await cancel(world, victim._id)))
        played.canceled.push(`${victim.name} ${victim.state.kind}`);
    }
  }
}

/**
 * A scheduler that is late, as on an overloaded deployment: every fourth scheduled function of the component is due only a while
 * after its time, for as long as this backend runs.
 */
function delayScheduled(
  { world, store }: PushWorld,
  below: (n: number) => number,
  done: () => void,
): void {
  const { database } = world.backend;
  const fresh: string[] = [];
  const seen = new Set<string>();
  store.kept = ({ writes }) => {
    for (const { namespace, table, id } of writes) {
      if (namespace !== COMPONENT || table !== SCHEDULED_TABLE || seen.has(id)) continue;
      seen.add(id);
      if (below(4) === 0) fresh.push(id);
    }
  };
  const postpone = async (id: string): Promise<void> => {
    const tx = database.begin();
    const scheduled = { namespace: COMPONENT, id };
    const row = await readScheduled(tx, scheduled);
    if (row?.state.kind !== "pending") return;
    await markDueAgain(tx, scheduled, row.due! + below(LATE_MAX_MS), row.systemErrors);
    await database.commit(tx, "the scheduler is late");
    done();
  };
  // It may have begun already: then it is not late.
  database.onPublish(() => {
    for (const id of fresh.splice(0)) void postpone(id).catch(() => null);
  });
}
