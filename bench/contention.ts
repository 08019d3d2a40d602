/**
 * Conflicts of a fleet: producers, each a job at a time, and worker processes with four jobs each, side by side in
 * virtual time. For every mutation the number of its runs, of the conflicts that it lost and retried after, and their
 * winners.
 */
import { api } from "../tests/support/app/convex/_generated/api.js";
import { startVirtualApp } from "../tests/support/virtualApp.js";
import type { StatsSnapshot } from "../local/stats/types.js";
import type { World } from "../local/virtual/world.js";
import { jobCalls } from "../src/shared/index.js";

const CONCURRENCY = 4;
/** Jobs of 0.2 to 3 s: some are shorter than a beat, some live through several; the lease is 2 s. */
const WORK_MIN_MS = 200;
const WORK_SPREAD_MS = 2_800;
/** A producer's pause between two jobs, at most. */
const PAUSE_MAX_MS = 1_000;
const STEP_MS = 2_000;

interface Scale {
  class: "s16" | "s256";
  producers: number;
  workers: number;
  /** Of each producer. */
  jobs: number;
}

export async function contention({
  smoke,
  classes = ["s16", "s256"],
}: {
  smoke: boolean;
  classes?: Scale["class"][];
}): Promise<void> {
  const scale = smoke
    ? { producers: 4, workers: 4, jobs: 2 }
    : { producers: 64, workers: 64, jobs: 5 };
  for (const of of classes) {
    const { stats, seconds, jobs } = await play({ class: of, ...scale });
    console.log(
      `${scale.producers} producers and ${scale.workers} workers on ${of}: ${jobs} jobs in ${seconds} simulated seconds`,
    );
    console.table(linesOf(stats));
    console.table(
      stats.conflicts.map(({ loser, winner, table, count }) => ({ loser, winner, table, count })),
    );
  }
}

async function play(scale: Scale) {
  const { world, worker } = await startVirtualApp({ seed: 1, class: scale.class });
  try {
    for (let i = 0; i < scale.workers; i++) await worker(`worker-${i}`, CONCURRENCY);
    await world.advance(STEP_MS);
    world.stats.reset();
    const startedAt = world.now();
    const jobs = scale.producers * scale.jobs;
    await world.run(
      Promise.all(Array.from({ length: scale.producers }, (_, i) => produce(world, i, scale.jobs))),
    );
    const reader = world.httpClient();
    while ((await world.run(reader.query(api.done.count, {}))) < jobs) await world.advance(STEP_MS);
    const seconds = Math.round((world.now() - startedAt) / 1_000);
    return { stats: world.stats.snapshot(), seconds, jobs };
  } finally {
    await world.close();
  }
}

async function produce(world: World, producer: number, jobs: number): Promise<void> {
  const client = world.httpClient(`producer-${producer}`);
  for (let n = 0; n < jobs; n++) {
    await world.clock.sleep(world.random.next() * PAUSE_MAX_MS);
    const workMs = WORK_MIN_MS + Math.floor(world.random.next() * WORK_SPREAD_MS);
    await client.mutation(
      ...jobCalls(api.sums).enqueue("sums", { n: producer * jobs + n, workMs }),
    );
  }
}

interface Line {
  ran: number;
  lost: number;
  "lost of 100": number;
  "gave up": number;
}

/** Every mutation. */
function linesOf({ functions }: StatsSnapshot): Record<string, Line> {
  const lines = Object.entries(functions)
    .filter(([, { io, conflicts }]) => io.documentsWritten > 0 || conflicts > 0)
    .map(([name, { calls, conflicts: lost, errors }]): [string, Line] => {
      const share = Math.round((1_000 * lost) / calls) / 10;
      return [name, { ran: calls, lost, "lost of 100": share, "gave up": errors }];
    });
  return Object.fromEntries(lines);
}
