/**
 * A backlog that is there already, of up to a million jobs: rows like the rows of the job that was done before it
 * counts, put in their place. Enqueued one batch after another it would take an hour; the drain sees no difference.
 */
import { SHARDS_MAX } from "../src/shared/index.js";
import type { Transaction } from "../local/engine/types.js";
import { ARGS_TABLE, SCHEDULED_TABLE } from "../local/functions/scheduledTable.js";
import type { World } from "../local/virtual/world.js";
import { msOf, type Case } from "./cases.js";
import type { Row, WatchingStore } from "./watch/store.js";

/** Far from the numbers of callers' jobs. */
export const FIRST_OF_BACKLOG = 10_000_000;
const AT_ONCE = 5_000;

/** The parts of the nth: its row's own time, and the rows that were first written of a job, by namespace and table. */
interface Cloning {
  tx: Transaction;
  first: ReadonlyMap<string, Row>;
  work: { n: number; ms: number };
  at: number;
  shard: number;
}

/** By the alternative's module. */
const CLONES: Record<string, (cloning: Cloning) => Promise<unknown>> = {
  async conveyor({ tx, first, work, at, shard }) {
    const row = first.get("conveyor/jobs")!;
    const place = row["shard"] - (row["shard"] % SHARDS_MAX) + shard;
    await tx.insert("conveyor", "jobs", {
      ...bare(row),
      ...{ payload: { inline: work }, shard: place, seq: BigInt(at) * 1_000_000n },
    });
  },
  async workpool({ tx, first, work, at }) {
    const row = { ...bare(first.get("workpool/work")!), fnArgs: work };
    const workId = await tx.insert("workpool", "work", row);
    // Its segments are of a tenth of a second.
    await tx.insert("workpool", "pendingStart", { workId, segment: BigInt(Math.floor(at / 100)) });
  },
  async plain({ tx, first, work, at }) {
    const task = await tx.insert("", "tasks", bare(first.get("/tasks")!));
    const args = { args: [{ ...work, task }] };
    const argsId = await tx.insert("", ARGS_TABLE, args, { system: true });
    const row = { ...bare(first.get(`/${SCHEDULED_TABLE}`)!), argsId, due: at };
    await tx.insert("", SCHEDULED_TABLE, row, { system: true });
  },
  farm: ({ tx, first, work }) =>
    tx.insert("", "farmJobs", { ...bare(first.get("/farmJobs")!), work }),
  ring: ({ tx, first, work, at }) =>
    tx.insert("", "ringItems", { ...bare(first.get("/ringItems")!), work, dueAt: at }),
};

export async function preload(
  world: World,
  module: string,
  { backlog = 0, work }: Case,
  { first }: WatchingStore,
): Promise<void> {
  const { database } = world.backend;
  const clone = CLONES[module]!;
  const shards = Number(first.get("conveyor/queues")?.["config"].shards ?? 8);
  for (let from = 0; from < backlog; from += AT_ONCE) {
    const at = Math.floor(world.now());
    await world.run(async () => {
      const tx = database.begin();
      for (let i = from; i < Math.min(backlog, from + AT_ONCE); i++) {
        const ms = msOf(work, i);
        const shard = world.random.below(shards);
        await clone({ tx, first, work: { n: FIRST_OF_BACKLOG + i, ms }, at, shard });
      }
      await database.commit(tx, "a backlog");
    });
  }
  if (module === "conveyor") await countNew(world);
}

/** A backlog that came over time has been counted as it came: the drain does not pay for that. */
async function countNew(world: World): Promise<void> {
  const { database } = world.backend;
  await world.run(async () => {
    const tx = database.begin();
    const now = world.now();
    const rows = tx.stream("conveyor", {
      ...{ table: "arrivals", index: "by_creation_time", range: [], order: "asc" as const },
    });
    const first = await rows.next();
    const fields = { upTo: now, at: now };
    if (first.done === true) await tx.insert("conveyor", "arrivals", fields);
    else await tx.patch("conveyor", String(first.value["_id"]), fields);
    await database.commit(tx, "new jobs are counted");
  });
}

function bare({ _id, _creationTime, ...fields }: Row): Row {
  return fields;
}
