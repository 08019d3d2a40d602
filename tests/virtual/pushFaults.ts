/**
 * For tests: queues that Convex itself works off, in virtual time, while the backend is restarted and scheduled functions
 * are canceled at random: lanes in the middle of anything, wakes, sweeps and alarms. What holds after every commit is looked
 * at as commits are kept; what must come of it all, when the faults are over.
 */
import { makeFunctionReference } from "convex/server";
import type { StoredCommit } from "../../local/engine/store.js";
import { cancelScheduled, SCHEDULED_TABLE } from "../../local/functions/scheduledTable.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import type { World } from "../../local/virtual/world.js";
import { startVirtualApp } from "../../harness/virtualApp.js";

const COMPONENT = "conveyor";
const QUEUES = ["pushed", "booked"] as const;
const MAX_PARALLELISM = 5;
const STEPS = 14;
/** Longer than it takes until a lane that died, or a lost wake, is noticed. */
const CALM_MS = 90_000;
const IDLE_MS = 600_000;

interface JobRow {
  _id: string;
  queue: string;
  status: string;
  attempt: number;
  payload: { n?: number } & Record<string, unknown>;
}
type Doc = Record<string, unknown> & { _id: string };

export class Fault extends Error {}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Fault(what);
}

/** Sees every commit: no more jobs run than may, at any moment. */
class WatchedStore extends MemoryStore {
  private readonly running = new Map<string, string>();
  most = 0;
  violation: string | null = null;

  override append(commits: readonly StoredCommit[]): Promise<void> {
    for (const { writes } of commits) {
      for (const { namespace, table, id, doc } of writes) {
        if (namespace !== COMPONENT || table !== "jobs") continue;
        const { status, queue } = (doc ?? {}) as Partial<JobRow>;
        if (status === "running") this.running.set(id, queue!);
        else this.running.delete(id);
      }
      for (const name of QUEUES) {
        const count = [...this.running.values()].filter((queue) => queue === name).length;
        this.most = Math.max(this.most, count);
        if (count > MAX_PARALLELISM) this.violation ??= `${count} jobs of ${name} run at once`;
      }
    }
    return super.append(commits);
  }

  docs<Row = Doc>(table: string, namespace = COMPONENT): Row[] {
    const kept = this.contents().find(
      (one) => one.table.namespace === namespace && one.table.name === table,
    );
    return (kept?.docs ?? []) as Row[];
  }
}

export interface Played {
  jobs: number;
  most: number;
  restarts: number;
  canceled: string[];
  statuses: Record<string, number>;
}

const enqueue = makeFunctionReference<"mutation">("pushed:enqueueBatch");
const enqueueBooked = makeFunctionReference<"mutation">("pushed:enqueueBooked");

/** Throws a `Fault` that says what did not hold. */
export async function play(
  seed: number,
  { restarts, cancels }: { restarts: boolean; cancels: boolean },
): Promise<Played> {
  const store = new WatchedStore();
  const { world } = await startVirtualApp({ seed, store });
  const played: Played = { jobs: 0, most: 0, restarts: 0, canceled: [], statuses: {} };
  try {
    await perturb(world, store, played, { restarts, cancels });
    await checkEnd(world, store);
    played.jobs = store.docs("jobs").length;
    played.most = store.most;
    for (const { status } of store.docs<JobRow>("jobs")) {
      played.statuses[status] = (played.statuses[status] ?? 0) + 1;
    }
    return played;
  } finally {
    await world.close();
  }
}

async function perturb(
  world: World,
  store: WatchedStore,
  played: Played,
  { restarts, cancels }: { restarts: boolean; cancels: boolean },
): Promise<void> {
  const { random } = world;
  const below = (n: number) => Math.floor(random.next() * n);
  // The first of each declares its queue, and so can be configured.
  await world.call("pushed:enqueueBatch", { payloads: [{ n: 0, ms: 10, noted: true }] });
  await world.call("pushed:enqueueBooked", { payloads: [{ n: 1, ms: 0 }] });
  for (const queue of QUEUES) {
    const overrides = { maxParallelism: MAX_PARALLELISM };
    const args = { queue, overrides };
    await world.call("operate:configureQueue", args, { componentPath: COMPONENT });
  }
  const client = world.httpClient();
  let n = 2;
  for (let i = 0; i < STEPS; i += 1) {
    const payloads = Array.from({ length: 1 + below(below(3) === 0 ? 12 : 2) }, () => {
      const ms = [0, 50, 300, 4_000][below(4)]!;
      return { n: n++, ms, noted: true, fails: below(6) === 0 ? 1 : 0 };
    });
    const booking = below(3) === 0;
    // What was asked of a backend that dies is never answered: nobody waits for it.
    void client.mutation(booking ? enqueueBooked : enqueue, { payloads }).catch(() => null);
    await world.advance(below(900));
    if (restarts && below(5) === 0) {
      played.restarts += 1;
      await world.restartBackend({ downMs: below(2_000) });
    }
    if (cancels && below(3) === 0) played.canceled.push(...(await cancelOne(world, store, below)));
  }
}

/** As somebody does in the dashboard. */
async function cancelOne(
  world: World,
  store: WatchedStore,
  below: (n: number) => number,
): Promise<string[]> {
  const open = store
    .docs<Doc & { state: { kind: string }; name: string }>(SCHEDULED_TABLE)
    .filter(({ state }) => state.kind === "pending" || state.kind === "inProgress");
  const victim = open[below(open.length)];
  if (victim === undefined) return [];
  const { database } = world.backend;
  const tx = database.begin();
  const scheduled = { namespace: COMPONENT, id: victim._id } as never;
  await world.run(cancelScheduled(tx, scheduled, world.now()));
  const done = await world.run(
    database.commit(tx, "somebody cancels").then(
      () => true,
      () => false,
    ),
  );
  return done ? [`${victim.name} ${victim.state.kind}`] : [];
}

/** Nobody makes trouble any more; somebody looks after the queues once, as a cron does. */
async function checkEnd(world: World, store: WatchedStore): Promise<void> {
  await world.advance(CALM_MS);
  await world.call("lib:watch", {}, { componentPath: COMPONENT });
  await world.advance(CALM_MS);
  must(store.violation === null, store.violation ?? "");
  const jobs = store.docs<JobRow>("jobs");
  const open = jobs.filter(({ status }) => ["pending", "running", "scheduled"].includes(status));
  must(open.length === 0, `a job of ${open[0]?.queue} is ${open[0]?.status}`);
  checkEffects(jobs, store.docs<Doc & { n: number; what: string }>("notes", ""));
  const awake = store.docs("lanes").filter(({ state }) => state !== "asleep");
  must(awake.length === 0, `a lane is ${String(awake[0]?.["state"])}`);
  const relied = store.docs("gates").filter(({ state }) => state !== "quiet");
  must(relied.length === 0, `a gate is ${String(relied[0]?.["state"])}`);
  must(
    store.docs("doors").every(({ open: isOpen }) => isOpen === false),
    "a door is open",
  );
  world.stats.reset();
  await world.advance(IDLE_MS);
  const idle = Object.keys(world.stats.snapshot().functions).filter((name) => !UPKEEP.test(name));
  must(idle.length === 0, `an idle queue calls ${idle.join(", ")}`);
}

/** Sessions are forgotten and jobs purged, seldom, and not because anything runs. */
const UPKEEP = /rollUp|purge/;

function checkEffects(
  jobs: readonly JobRow[],
  notes: readonly { n: number; what: string }[],
): void {
  for (const { queue, status, attempt, payload } of jobs) {
    const n = nOf(payload);
    if (n === null) continue;
    const count = (what: string) =>
      notes.filter((note) => note.n === n && note.what === what).length;
    if (queue === "pushed") {
      must(
        count("began") <= attempt,
        `an action was begun ${count("began")} times in ${attempt} attempts`,
      );
      if (status === "succeeded") must(count("ended") > 0, "a job succeeded that has not run");
    } else {
      const effects = status === "succeeded" ? 1 : 0;
      must(
        count("booked") === effects,
        `a ${status} mutation took effect ${count("booked")} times`,
      );
    }
  }
}

/** A small payload stands in the job's row. */
function nOf(payload: unknown): number | null {
  const text = JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const found = /"n":(\d+)/.exec(text);
  return found === null ? null : Number(found[1]);
}
