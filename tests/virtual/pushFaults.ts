/**
 * For tests: queues that Convex itself works off, in virtual time, while the backend is restarted and scheduled functions
 * are canceled at random: lanes in the middle of anything, wakes, sweeps and alarms.
 */
import { makeFunctionReference } from "convex/server";
import { cancel } from "./pushMoments.js";
import { checkRest, startPushWorld, watch, type PushWorld } from "./pushWorld.js";

const MAX_PARALLELISM = 5;
const STEPS = 14;
/** Longer than it takes until a lane that died, or a lost wake, is noticed. */
const CALM_MS = 90_000;

export interface Faults {
  restarts: boolean;
  cancels: boolean;
}

export interface Played {
  jobs: number;
  most: number;
  restarts: number;
  canceled: string[];
  statuses: Record<string, number>;
}

const enqueue = makeFunctionReference<"mutation">("traced:enqueue");
const enqueueWritten = makeFunctionReference<"mutation">("traced:enqueueWritten");

/** Throws a `Fault` that says what did not hold. */
export async function play(seed: number, faults: Faults): Promise<Played> {
  const maxResets = seed % 3;
  const started = await startPushWorld(seed, { maxParallelism: MAX_PARALLELISM, maxResets });
  const { world, store } = started;
  const played: Played = { jobs: 0, most: 0, restarts: 0, canceled: [], statuses: {} };
  try {
    await perturb(started, played, faults);
    // Nobody makes trouble any more; somebody looks after the queues once, as a cron does.
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
  { world, store }: PushWorld,
  played: Played,
  { restarts, cancels }: Faults,
): Promise<void> {
  const { random } = world;
  const below = (n: number) => Math.floor(random.next() * n);
  const client = world.httpClient();
  let n = 2;
  for (let i = 0; i < STEPS; i += 1) {
    const payloads = Array.from({ length: 1 + below(below(3) === 0 ? 12 : 2) }, () => {
      const ms = [0, 50, 300, 4_000][below(4)]!;
      return { n: n++, ms, fails: [1, 9][below(12)] ?? 0 };
    });
    const writes = below(3) === 0;
    // What was asked of a backend that dies is never answered: nobody waits for it.
    void client.mutation(writes ? enqueueWritten : enqueue, { payloads }).catch(() => null);
    await world.advance(below(900));
    if (restarts && below(5) === 0) {
      played.restarts += 1;
      await world.restartBackend({ downMs: below(2_000) });
    }
    if (cancels && below(3) === 0) {
      const open = store.open();
      const victim = open[below(open.length)];
      if (victim !== undefined && (await cancel(world, victim._id)))
        played.canceled.push(`${victim.name} ${victim.state.kind}`);
    }
  }
}
