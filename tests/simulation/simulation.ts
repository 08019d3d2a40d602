/**
 * One seed's world while it runs: the backend with the app, programs outside, a service that handlers report to, and the callers.
 * Parts act on it; checkers observe it.
 */
import type { ConvexHttpClient } from "convex/browser";
import { anyApi, makeFunctionReference } from "convex/server";
import type { SandboxPool } from "../../local/functions/sandboxPool.js";
import type { StoredCommit } from "../../local/engine/store.js";
import type { Program } from "../../local/virtual/program.js";
import { createWorld, type World } from "../../local/virtual/world.js";
import { SCOPED } from "./app/names.js";
import { LEDGER_URL } from "./app/turns.js";
import { COMPONENT, type Built } from "./deployment.js";
import { ObservedStore, type Commit, type Row, type Tables } from "./observed.js";
import type { Asked, Checker, Facts, Run, Watching } from "./part.js";
import { EFFECTS_HOST, effectsChecked } from "./ownHandlers.js";
import type { Plan, Planned, QueueName, WorkerSpec } from "./plan.js";
import type { Trace } from "./trace.js";
import { isRows } from "./workloads/rows.js";
import { hasScope, PREFIX } from "./workloads/scope.js";
import { comesLater } from "./workloads/fleet.js";
import { deployedIn, hasSecond } from "./workloads/secondMount.js";

/** The most that a seed comes to is a third of this; each job of a large world has as many more. */
const EVENTS_MAX = 150_000;
const EVENTS_OF_A_JOB = 10_000;

export interface Violation {
  checker: string;
  at: number;
  how: string;
}

export interface Surroundings {
  built: Built;
  sandboxes: SandboxPool;
  checkers: readonly Checker[];
  trace: Trace;
}

export class Simulation implements Facts {
  readonly runs: Run[] = [];
  readonly asked: Asked[] = [];
  readonly violations: Violation[] = [];
  /** By event that coverage expects: how often it has happened. */
  readonly marks = new Map<string, number>();
  /** Jobs that were ever there, oldest first. */
  readonly jobs: { id: string; queue: QueueName; n: number }[] = [];
  readonly programs = new Map<string, Program>();
  /** Called with every commit, after the checkers: for faults that wait for a moment. */
  readonly watchers = new Set<(commit: Commit) => void>();
  /** Whether a commit of this function is refused as if another had come before it. */
  refuses: (author: string) => boolean = () => false;
  /** How far a snapshot query's data lags behind its transaction. */
  snapshotLagMs: () => number = () => 0;
  world!: World;
  token = "";
  /** Of the second mount, where there is one. */
  tokenOfSecond = "";
  /** Of workers that are bound to groups. */
  readonly #scoped = new Map<string, string>();
  readonly store: ObservedStore;
  #startedAt = 0;
  #eventsAtStart = 0;
  #producer!: ConvexHttpClient;
  #names = 0;
  readonly #watching: { checker: string; watching: Watching }[];
  readonly #numbers = new Map<string, string>();

  constructor(
    readonly plan: Plan,
    readonly given: Surroundings,
  ) {
    this.store = new ObservedStore(
      () => this.now(),
      (commit) => this.#seen(commit),
    );
    this.#watching = given.checkers.map((checker) => ({
      checker: checker.name,
      watching: checker.watch({
        plan,
        tables: this.tables,
        runs: this.runs,
        asked: this.asked,
        now: () => this.now(),
        date: () => this.date(),
        happened: (what) => this.happened(`${checker.name}: ${what}`),
        broken: (how) => this.#broken(checker.name, how),
        nameOf: (job) => this.nameOf(job),
      }),
    }));
  }

  get tables(): Tables {
    return this.store.tables;
  }

  async start(): Promise<void> {
    const { plan, given } = this;
    this.world = await createWorld({
      seed: plan.seed,
      class: plan.class,
      jitter: plan.jitter,
      store: this.store,
      refuses: (author) => this.refuses(author),
      snapshotLagMs: () => this.snapshotLagMs(),
      deployment: deployedIn(this, given.built.deployment),
      runner: { sandboxes: given.sandboxes },
    });
    this.#startedAt = this.world.now();
    this.#eventsAtStart = this.world.clock.events;
    this.world.network.serve(new URL(LEDGER_URL).host, {
      fetch: async (request) => this.#told((await request.json()) as Omit<Run, "at">),
    });
    const checked = effectsChecked();
    this.world.network.serve(EFFECTS_HOST, {
      fetch: async (request) => {
        const wrong = await checked(request);
        this.given.trace.add("effect", new URL(request.url).pathname, wrong ?? "well");
        if (wrong !== null) this.#broken("own handlers", wrong);
        return new Response(null, { status: 204 });
      },
    });
    this.#producer = this.world.httpClient("producer");
    const { token } = await this.world.call("tokens:create", { name: "fleet", queues: null });
    this.token = token as string;
    if (hasSecond(plan)) {
      const ofSecond = await this.world.call("second:create", { name: "fleet", queues: null });
      this.tokenOfSecond = (ofSecond as { token: string }).token;
    }
    for (const name of SCOPES) {
      if (!hasScope(plan)) continue;
      const groups = name === "byQuery" ? "byQuery" : { prefix: PREFIX };
      const made = await this.world.call("tokens:create", { name, queues: [SCOPED], groups });
      this.#scoped.set(name, (made as { token: string }).token);
    }
    await this.world.call("calls:setUp", { queues: { ...plan.queues, ...plan.crowd } });
    for (const spec of plan.workers.filter(({ name }) => !comesLater(plan, name)))
      await this.startWorker(spec);
  }

  now = (): number => (this.world === undefined ? 0 : this.world.now() - this.#startedAt);

  date = (): number => this.world.now();

  /** Until then, or until a promise is broken. */
  async goTo(at: number): Promise<void> {
    const ms = at - this.now();
    if (ms <= 0 || this.violations.length > 0) return;
    let isOver = false;
    const timer = this.world.clock.timer(ms, () => (isOver = true));
    await this.world.until(() => isOver || this.violations.length > 0 || this.#isEndless());
    timer.cancel();
  }

  /** Something goes round and round. */
  #isEndless(): boolean {
    const most = EVENTS_MAX + (this.plan.jobs ?? 0) * EVENTS_OF_A_JOB;
    if (this.world.clock.events - this.#eventsAtStart < most) return false;
    this.#broken("simulation", `it does not end: ${most} events have happened`);
    return true;
  }

  /** A program that serves queues as an app's would. One that has ended may be started again under the same name. */
  async startWorker(spec: WorkerSpec): Promise<void> {
    const { batch, token, ...given } = spec;
    const program = await this.world.program("", {
      code: this.given.built.worker,
      name: `${spec.name} (${++this.#names})`,
      env: {
        WORKER: JSON.stringify({ ...given, ...(this.plan.parts.includes("batches") && { batch }) }),
        CONVEX_URL: this.world.url,
        CONVEYOR_TOKEN:
          spec.isOfSecond === true
            ? this.tokenOfSecond
            : ((token && this.#scoped.get(token)) ?? this.token),
      },
      onLine: (line) => this.#printed(spec, line),
    });
    this.programs.set(spec.name, program);
    this.stood(spec.name, true);
  }

  /** A program serves from now on, or does so no more. */
  stood(worker: string, isUp: boolean): void {
    this.#watched((watching) => watching.stood?.(worker, isUp));
  }

  /**
   * Calls a function of `app/calls.ts` as a client does, and does not wait: checkers receive the answer, and the returned object
   * keeps it. `name` is of the client, each with a link of its own.
   */
  ask(what: string, args: object, client: ConvexHttpClient = this.#producer): Asked {
    const asked: Asked = { what, args, at: this.now() };
    this.asked.push(asked);
    const answered = () => {
      asked.answeredAt = this.now();
      this.given.trace.add("answer", what, asked.error ?? asked.reply);
      this.#watched((watching) => watching.answered?.(asked));
    };
    client.mutation(anyApi["calls"]![what] as never, args as never, { skipQueue: true }).then(
      (reply: unknown) => {
        asked.reply = reply;
        answered();
      },
      (error: unknown) => {
        asked.error = String(error);
        answered();
      },
    );
    return asked;
  }

  /** Until every call that will be answered has been: a request on its way may still arrive. */
  async settle(): Promise<void> {
    let isOver = false;
    const timer = this.world.clock.timer(ON_ITS_WAY_MS, () => (isOver = true));
    await this.world.until(
      () => isOver || this.asked.every(({ answeredAt }) => answeredAt !== undefined),
    );
    timer.cancel();
  }

  /** Runs a query, as a page does, without waiting for the answer. */
  look(what: string, args: object): void {
    const query = makeFunctionReference<"query">(`calls:${what}`);
    this.#producer.query(query, args as never).catch(() => null);
  }

  happened(what: string): void {
    this.marks.set(what, (this.marks.get(what) ?? 0) + 1);
  }

  broken(how: string): void {
    this.#broken("simulation", how);
  }

  nameOf(job: string): string {
    return this.#numbers.get(job) ?? job;
  }

  /** Ids of jobs in it are their names. */
  named(line: string): string {
    return line.replace(ID, (id) => this.#numbers.get(id) ?? id);
  }

  /** The job at this fraction of all jobs ever enqueued; `null` while there is none. */
  pick(fraction: number, of: (row: Row | undefined) => boolean = () => true) {
    const fitting = this.jobs.filter(({ id }) => of(this.tables.get("jobs", id)));
    return fitting[Math.floor(fraction * fitting.length)] ?? null;
  }

  /** All is at rest: last words of the checkers. */
  ended(): void {
    this.#watched((watching) => watching.end?.());
  }

  /** Nothing is kept any more. */
  gone(): void {
    this.#watched((watching) => watching.gone?.());
  }

  async close(): Promise<void> {
    for (const program of this.programs.values()) program.kill();
    await this.world?.close();
  }

  /** For `given.trace`: an event is done. */
  performs(event: Planned): void {
    this.given.trace.add("does", event.do, { ...event, do: undefined, at: undefined });
  }

  #seen(commit: Commit): void {
    for (const { namespace, table, id, before, after } of commit.changes) {
      if (namespace !== COMPONENT || table !== "jobs" || before !== null || after === null)
        continue;
      const n = numberOf(after, commit, this.tables);
      if (n < 0) continue;
      this.jobs.push({ id, queue: after["queue"] as QueueName, n });
      this.#numbers.set(id, `${after["queue"] as string} ${n}`);
    }
    this.given.trace.commit(commit, (id) => this.nameOf(id));
    this.#watched((watching) => watching.commit?.(commit));
    for (const watcher of [...this.watchers]) watcher(commit);
  }

  #printed({ name: worker, isOfSecond }: WorkerSpec, line: string): void {
    this.given.trace.add(worker, line);
    // Checkers that hear of workers know the jobs of the first mount.
    if (isOfSecond === true) return;
    const said = parsed(line);
    // Lines of other origin, such as the official client's complaints, are only traced.
    if (said === undefined) return;
    this.#watched((watching) => watching.printed?.(worker, said));
  }

  #told(told: Omit<Run, "at">): Response {
    const run = { ...told, at: this.now() };
    // A proxy that repeats requests tells twice of one run.
    if (!this.runs.some((one) => one.run === run.run && one.what === run.what)) {
      this.runs.push(run);
      this.given.trace.add("handler", `${run.what} ${this.nameOf(run.job)}`, run.attempt);
      this.#watched((watching) => watching.ran?.(run));
    }
    return new Response(null, { status: 204 });
  }

  /** One that throws must not make the backend take a commit for one that failed. */
  #watched(tell: (watching: Watching) => void): void {
    for (const { checker, watching } of this.#watching) {
      try {
        tell(watching);
      } catch (error) {
        this.#broken(checker, `cannot tell: ${String((error as Error).stack)}`);
      }
    }
  }

  #broken(checker: string, how: string): void {
    this.violations.push({ checker, at: this.now(), how });
    this.given.trace.add("BROKEN", checker, how);
  }
}

/** Whether the backend kept something of the component's in it. */
export function ofComponent({ writes }: StoredCommit): boolean {
  return writes.some(({ namespace }) => namespace === COMPONENT);
}

/** By which a job is known. A small payload stands in its row, a large one in a row of its own, in the same commit. */
function numberOf({ payload, queue }: Row, { changes }: Commit, tables: Tables): number {
  if (isRows(queue))
    return (tables.ofApp(queue as string, payload.inline as string)?.["n"] ?? -1) as number;
  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === "bigint" ? Number(inner) : inner,
    );
  const own = NUMBER.exec(text(payload));
  if (own !== null) return Number(own[1]);
  const apart = changes.find(
    ({ table, id, after }) => table === "payloads" && after !== null && text(payload).includes(id),
  );
  return Number(NUMBER.exec(text(apart?.after))?.[1] ?? -1);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

const SCOPES = ["byQuery", "byPrefix"];
const ID = /\b[0-9a-z]{32}\b/g;
/** Longer than the slowest link takes both ways, and a mutation for all its tries. */
const ON_ITS_WAY_MS = 20_000;

const NUMBER = /"n":(-?\d+)/;
