/**
 * For tests: push queues, in virtual time, and their final conditions after any fault. The store sees every commit, so that a
 * violation is noticed at any moment, and a test can inject a fault at a certain one.
 */
import type { StoredCommit } from "../../local/engine/store.js";
import { SCHEDULED_TABLE, type ScheduledRow } from "../../local/functions/scheduledTable.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import type { World } from "../../local/virtual/world.js";
import { onlyForgets } from "../support/forgetting.js";
import { startVirtualApp } from "../support/virtualApp.js";

export const COMPONENT = "conveyor";
/** One queue with an action as its handler, and one with a mutation: `tests/support/app/convex/traced.ts`. */
export const QUEUES = ["acted", "written"] as const;
const IDLE_MS = 600_000;
/** Jobs are counted and purged, seldom, and sessions forgotten: not because anything runs. */
const UPKEEP = /^count\/(rollUp|arrivals|purge)\b/;

export interface JobRow {
  _id: string;
  queue: string;
  status: string;
  attempt: number;
  resets: number;
  payload: unknown;
}
export type Doc = Record<string, unknown> & { _id: string };
export interface Note {
  n: number;
  what: string;
  at: number;
}

export class Fault extends Error {}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Fault(what);
}

/** Sees every commit: no more jobs run than may, at any moment. */
export class PushStore extends MemoryStore {
  private readonly running = new Map<string, string>();
  most = 0;
  violation: string | null = null;
  /** Whether the backend dies with this commit: neither it nor any after it is kept or answered. */
  diesBefore: (commit: StoredCommit) => boolean = () => false;
  /** Called when it is kept, before any other observer. */
  kept: (commit: StoredCommit) => void = () => {};

  constructor(readonly maxParallelism: number) {
    super();
  }

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const commit of commits) {
      if (this.diesBefore(commit)) return await new Promise(() => {});
      this.count(commit);
      await super.append([commit]);
      this.kept(commit);
    }
  }

  private count({ writes }: StoredCommit): void {
    for (const { namespace, table, id, doc } of writes) {
      if (namespace !== COMPONENT || table !== "jobs") continue;
      const { status, queue } = (doc ?? {}) as Partial<JobRow>;
      if (status === "running") this.running.set(id, queue!);
      else this.running.delete(id);
    }
    for (const name of QUEUES) {
      const count = [...this.running.values()].filter((queue) => queue === name).length;
      this.most = Math.max(this.most, count);
      if (count > this.maxParallelism) this.violation ??= `${count} jobs of ${name} run at once`;
    }
  }

  docs<Row = Doc>(table: string, namespace = COMPONENT): Row[] {
    const kept = this.contents().find(
      (one) => one.table.namespace === namespace && one.table.name === table,
    );
    return (kept?.docs ?? []) as Row[];
  }

  jobs(queue?: string): JobRow[] {
    return this.docs<JobRow>("jobs")
      .filter((job) => queue === undefined || job.queue === queue)
      .map((job) => ({ ...job, resets: job.resets ?? 0 }));
  }

  /** Of the component, and neither ended nor canceled. */
  open(): (ScheduledRow & Doc)[] {
    return this.docs<ScheduledRow & Doc>(SCHEDULED_TABLE).filter(
      ({ state }) => state.kind === "pending" || state.kind === "inProgress",
    );
  }

  notes(n?: number): Note[] {
    return this.docs<Note>("notes", "").filter((note) => n === undefined || note.n === n);
  }
}

export interface PushWorld {
  world: World;
  store: PushStore;
}

/** Both queues are declared, and may run so many jobs each. */
export async function startPushWorld(
  seed: number,
  given: { maxParallelism?: number; maxResets?: number; timeoutMs?: number } = {},
): Promise<PushWorld> {
  const { maxParallelism = 5, maxResets = 3 } = given;
  const store = new PushStore(maxParallelism);
  const { world } = await startVirtualApp({ seed, store });
  // The first of each declares its queue, and so can be configured.
  await enqueue(world, "acted", [{ n: 0, ms: 10 }]);
  await enqueue(world, "written", [{ n: 1, ms: 0 }]);
  for (const queue of QUEUES) {
    const overrides = { ...given, maxParallelism, maxResets };
    await world.call("operate:configureQueue", { queue, overrides }, { componentPath: COMPONENT });
  }
  return { world, store };
}

export interface Trace {
  n: number;
  ms: number;
  fails?: number;
  pad?: string;
}

export async function enqueue(
  world: World,
  queue: (typeof QUEUES)[number],
  payloads: readonly Trace[],
  options?: { runAfter?: number; timeoutMs?: number },
): Promise<string[]> {
  const path = queue === "acted" ? "traced:enqueue" : "traced:enqueueWritten";
  const args = { payloads, ...(options === undefined ? {} : { options }) };
  return (await world.call(path, args)) as string[];
}

/** Jobs of both kinds, some of which fail once. Their calls are not awaited: the backend may die before. */
export function load({ world }: PushWorld): void {
  const jobs = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ n: from + i, ms: 200 + 50 * i, fails: +(i === 1) }));
  void enqueue(world, "acted", jobs(10, 8)).catch(() => null);
  void enqueue(world, "written", jobs(30, 6)).catch(() => null);
}

/** The app's own cron watches queues without traffic. */
export async function watch(world: World): Promise<void> {
  await world.call("lib:watch", {}, { componentPath: COMPONENT });
}

/**
 * The final conditions once faults have stopped: every job has ended; none has run more often than its handler may; at no moment
 * more ran than may; all lanes sleep, all slots are free, no lane is relied on, and nothing is called any more. Throws a `Fault`
 * that names the broken condition.
 */
export async function checkRest({ world, store }: PushWorld): Promise<void> {
  must(store.violation === null, store.violation ?? "");
  const open = store.jobs().filter(({ status }) => OPEN.has(status));
  must(open.length === 0, `a job of ${open[0]?.queue} is ${open[0]?.status}`);
  for (const job of store.jobs()) checkEffects(job, store);
  checkProcesses(store);
  const relied = store.docs("gates").filter(({ state }) => state !== "quiet");
  must(relied.length === 0, `a gate is ${String(relied[0]?.["state"])}`);
  const doors = store.docs("doors").filter((door) => door["open"] !== false);
  must(doors.length === 0, "a door is open");
  world.stats.reset();
  await world.advance(IDLE_MS);
  const called = Object.keys(world.stats.snapshot().functions);
  const idle = called.filter((name) => !UPKEEP.test(name.replace(`${COMPONENT}/`, "")));
  must(idle.length === 0, `an idle queue calls ${idle.join(", ")}`);
  const sessions = store.docs("sessions");
  const forgets = ({ name, scheduledTime }: ScheduledRow & Doc) =>
    name === "tend/janitor.js:sweep" &&
    onlyForgets({ kind: "janitor", dueAt: scheduledTime }, sessions, world.clock.now());
  const left = store.open().filter((row) => !UPKEEP.test(row.name) && !forgets(row));
  must(left.length === 0, `${left[0]?.name} is still to be run`);
}

/** No lane is awake, no process runs, and no row of processes and waiting queues remains. */
function checkProcesses(store: PushStore): void {
  const sessions = store.docs("sessions").filter(({ lane }) => lane !== undefined);
  const awake = sessions.filter(({ state }) => state === "active");
  must(awake.length === 0, `${String(awake[0]?.["name"])} is awake`);
  must(sessions.length === store.docs("lanes").length, "a lane has no row of its leases");
  const taken = store.docs("processes").filter(({ state }) => state !== "free");
  must(taken.length === 0, `a process is ${String(taken[0]?.["state"])}`);
  for (const table of ["grants", "handOvers", "waitingQueues"]) {
    const left = store.docs(table).length;
    must(left === 0, `${left} rows of ${table} are left`);
  }
}

const OPEN: ReadonlySet<string> = new Set(["pending", "running", "scheduled"]);

/** An action begins once an attempt at most; a mutation has its effect once, if and only if its job has succeeded. */
function checkEffects(job: JobRow, store: PushStore): void {
  const { queue, status, attempt } = job;
  const notes = store.notes(nOf(job, store)).map(({ what }) => what);
  if (queue === "written") {
    must(
      notes.length === (status === "succeeded" ? 1 : 0),
      `a ${status} mutation took effect ${notes.length} times`,
    );
    return;
  }
  const begun = notes.filter((what) => what.startsWith("began"));
  must(new Set(begun).size === begun.length, `one attempt ran twice: ${begun.join(", ")}`);
  must(begun.length <= attempt, `an action began ${begun.length} times in ${attempt} attempts`);
  const hasRun = status !== "succeeded" || notes.includes(`ended ${attempt}`);
  must(hasRun, "a job succeeded that has not run");
}

/** A small payload stands in the job's row, a large one in a row of its own. */
function nOf({ payload }: JobRow, store: PushStore): number {
  const { row } = payload as { row?: string };
  const stored =
    row === undefined ? payload : store.docs("payloads").find(({ _id }) => _id === row);
  const text = JSON.stringify(stored, (_key, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  return Number(/"n":(\d+)/.exec(text)![1]);
}
