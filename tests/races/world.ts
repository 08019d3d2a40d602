/**
 * One round's world: a queue of the app, worker sessions that call the component as workers do, and ways to make calls overlap.
 * The answers are kept for `invariants.ts`.
 */
import { convexToJson, jsonToConvex, type Value } from "convex/values";
import type { QueryResult } from "../../local/functions/types.js";
import type { Answer, ClaimedJob, Finished, QueueDeclaration } from "../../src/shared/index.js";
import { declaring } from "../support/declaring.js";
import { COMPONENT } from "./deployment.js";
import type { Stage } from "./stage.js";

export const LEASE_MS = 10_000;
/** Pauses after which a call that races begins, at most: about as many as a short call has. */
const START_PAUSES = 24;
/** More than any snapshot lags behind, in commits; a claim that finds nothing is one. */
const CLAIM_TRIES = 6;
export const RESTLESS = "the world does not come to rest";
const CALLER = { identity: { kind: "none" }, publicOnly: false, requestId: "race" } as const;

/** A broken invariant. Any other error is a fault of the test or of the backend. */
export class Violation extends Error {}

export function must(holds: boolean, violation: string): void {
  if (!holds) throw new Violation(violation);
}

export class World {
  /** Cursors that calls returned, each with the commit count at which it was known. */
  readonly cursors: { cursor: string; since: number }[] = [];
  /** Answers of `hasWork`, each with its read set. */
  readonly looks: { hasWork: boolean; ts: bigint; reads: QueryResult["reads"] }[] = [];
  token = "";
  queue!: QueueDeclaration;

  constructor(readonly stage: Stage) {}

  async open(config: Partial<QueueDeclaration["config"]> = {}): Promise<void> {
    const onComplete = (await this.call("", "app:handle")) as string;
    const queue = { leaseMs: LEASE_MS, maxResets: 3, shards: 1, onComplete, ...config };
    this.queue = { name: "tiles", config: queue };
    const made = await this.call(COMPONENT, "operate:createToken", { name: "races", queues: null });
    this.token = (made as { token: string }).token;
  }

  /** A queue that the call finds undeclared is declared by a transaction before it. */
  async call(namespace: string, path: string, args: object = {}): Promise<unknown> {
    const declare = (queues: object) => this.#call(COMPONENT, "lib:declare", queues);
    return await declaring(args, declare, () => this.#call(namespace, path, args));
  }

  async #call(namespace: string, path: string, args: object): Promise<unknown> {
    const json = convexToJson(args as Value);
    const result = await this.stage.runner.mutation({ namespace, path }, json, CALLER);
    if (result.ok) return jsonToConvex(result.value);
    throw Object.assign(new Error(`${path}: ${result.message}`), { data: result.data });
  }

  /** Begins all of them now, each after a few pauses that the seed draws. */
  async meet(...calls: (() => Promise<unknown>)[]): Promise<void> {
    await Promise.all(
      calls.map(async (call) => {
        const pauses = Math.floor(this.stage.clock.random() * START_PAUSES);
        for (let i = 0; i < pauses; i += 1) await this.stage.clock.pause();
        await call();
      }),
    );
  }

  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.stage.onRestless = () => reject(new Violation(RESTLESS));
      void this.stage.clock.sleep(ms).then(resolve);
    });
  }

  /** Until the janitor's next sweep is due: it begins together with the caller's next calls. */
  async untilSweep(): Promise<void> {
    const sweeps = (await this.rows("timers")).filter(({ kind }) => kind === "janitor");
    const due = sweeps.map((timer) => timer["dueAt"] as number);
    if (due.length === 0) throw new Error("No sweep is due: nothing has been leased.");
    await this.sleep(Math.max(0, Math.min(...due) - this.stage.clock.now()));
  }

  /** The latest rows of a table of the component. */
  async rows(table: string): Promise<{ _id: string; [field: string]: unknown }[]> {
    const latest = this.stage.commits.at(-1)!.state;
    return await rowsOf(latest, COMPONENT, table);
  }

  async enqueue(count = 1): Promise<string[]> {
    const jobs = Array.from({ length: count }, (_, n) => ({ payload: { n } }));
    const reply = await this.call(COMPONENT, "lib:enqueue", { queue: this.queue, jobs });
    return (reply as { id: string }[]).map(({ id }) => id);
  }

  async cancel(id: string): Promise<boolean> {
    const reply = await this.call(COMPONENT, "operate:cancelJob", { id });
    return (reply as { canceled: boolean }).canceled;
  }

  async retry(id: string): Promise<boolean> {
    const reply = await this.call(COMPONENT, "operate:retryJob", { id });
    return (reply as { retried: boolean }).retried;
  }

  async hasWork(): Promise<void> {
    const address = { namespace: COMPONENT, path: "lib:hasWork" };
    const args = { token: this.token, queues: [this.queue.name] };
    const result = await this.stage.runner.query(address, args, CALLER);
    if (!result.ok) throw new Error(result.message);
    this.looks.push({ hasWork: result.value === true, ts: result.ts, reads: result.reads });
  }

  session(name: string): Session {
    return new Session(this, name);
  }

  learn(cursor: string | undefined): string | undefined {
    if (cursor !== undefined) this.cursors.push({ cursor, since: this.stage.commits.length - 1 });
    return cursor;
  }
}

/** A worker's process, as far as the component sees it. */
export class Session {
  #n = 0;
  #cursor: string | undefined;

  constructor(
    private readonly world: World,
    readonly name: string,
  ) {}

  async claim(max = 1): Promise<ClaimedJob[]> {
    const args = {
      ...this.#identity(),
      callSeq: this.#next(),
      name: this.name,
      ...this.#request(max),
    };
    const reply = (await this.world.call(COMPONENT, "lib:claim", args)) as {
      jobs: ClaimedJob[];
      cursor: string;
    };
    this.#cursor = this.world.learn(reply.cursor);
    return reply.jobs;
  }

  /** Claims until there is something: a snapshot may be older than the jobs. */
  async claimed(max = 1): Promise<ClaimedJob[]> {
    for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
      const jobs = await this.claim(max);
      if (jobs.length > 0) return jobs;
    }
    return [];
  }

  /** Reports successes, and claims as many as `claim` in the same call. Gives each report's answer. */
  async complete(jobs: readonly { id: string; attempt: number }[], claim = 0) {
    const finished = jobs.map(({ id, attempt }): Finished => ({
      id,
      attempt,
      outcome: { kind: "succeeded", result: 1 },
    }));
    const next = claim === 0 ? {} : { claim: this.#request(claim) };
    const args = { ...this.#identity(), callSeq: this.#next(), finished, ...next };
    const reply = (await this.world.call(COMPONENT, "lib:complete", args)) as {
      answers: Answer[];
      jobs: ClaimedJob[];
      cursor?: string;
    };
    this.#cursor = this.world.learn(reply.cursor) ?? this.#cursor;
    return { answers: reply.answers.map(({ answer }) => answer), jobs: reply.jobs };
  }

  async beat(jobs: readonly { id: string; attempt: number }[]): Promise<Answer["answer"][]> {
    const leases = jobs.map(({ id, attempt }) => ({ id, attempt }));
    const args = { ...this.#identity(), leases };
    const reply = await this.world.call(COMPONENT, "lib:heartbeat", args);
    return (reply as { answers: Answer[] }).answers.map(({ answer }) => answer);
  }

  async tend(): Promise<void> {
    await this.world.call(COMPONENT, "lib:tend", { queues: [] });
  }

  #identity() {
    return { token: this.world.token, sessionKey: `session-${this.name}` };
  }

  #next(): number {
    this.#n += 1;
    return this.#n;
  }

  #request(max: number) {
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    return { queues: [this.world.queue], max, ...cursor };
  }
}

export async function rowsOf(
  state: Stage["commits"][number]["state"],
  namespace: string,
  table: string,
): Promise<{ _id: string; [field: string]: unknown }[]> {
  const rows = [];
  const system = table.startsWith("_");
  const range = { table, index: "by_creation_time", range: [], order: "asc" as const, system };
  for await (const row of state.stream(namespace, range)) rows.push(row);
  return rows;
}
