/**
 * One straight line of time: each call commits before the next begins, and scheduled functions run when they are due. The steps
 * before the point where orders part, and the ones after all of them, are played along such a line.
 */
import type { Enqueued, JobOptions, QueueDeclaration } from "../../src/shared/index.js";
import { COMPONENT } from "../races/deployment.js";
import { declaring } from "../support/declaring.js";
import { Violation } from "../races/world.js";
import type { Point } from "./point.js";
import { answerOf, type Begun, type Call, type Transactions } from "./transactions.js";

export const LEASE_MS = 10_000;
/** One function after another without end, in a time that stands still or nearly so. */
const RUNS_MAX = 500;

export type Row = { _id: string; status?: unknown; [field: string]: unknown };

export class Line {
  point: Point;
  token = "";
  queues: QueueDeclaration[] = [
    { name: "tiles", config: { leaseMs: LEASE_MS, maxResets: 3, shards: 1 } },
  ];

  constructor(readonly transactions: Transactions) {
    this.point = transactions.first;
  }

  /** Another line of the same world, which goes on from this point. */
  after(point: Point): Line {
    const { token, queues } = this;
    return Object.assign(new Line(this.transactions), { point, token, queues });
  }

  async open(): Promise<void> {
    const onComplete = await this.app<string>("handle");
    this.declare(this.queue.name, { onComplete });
    const asked = { name: "orders", queues: null };
    this.token = (await this.do<{ token: string }>(mutation("operate:createToken", asked))).token;
  }

  /** Of the app that is mounted over the component. */
  async app<T = unknown>(name: string, args: object = {}): Promise<T> {
    return await this.do<T>({ ...mutation(`app:${name}`, args), namespace: "" });
  }

  /** A queue like the first, except for `config`. Of one name, the last declaration counts. */
  declare(name: string, config: Partial<QueueDeclaration["config"]>): QueueDeclaration {
    const declared = { name, config: { ...this.queue.config, ...config } };
    const others = this.queues.filter((queue) => queue.name !== name);
    this.queues = name === this.queue.name ? [declared, ...others] : [...others, declared];
    return declared;
  }

  /** The one that is meant where none is named. */
  get queue(): QueueDeclaration {
    return this.queues[0]!;
  }

  get now(): number {
    return this.transactions.now;
  }

  /** Begins, commits, answers. Queues that the call finds undeclared are declared by a commit before it. */
  async do<T = unknown>(call: Call): Promise<T> {
    const declare = (args: object) => this.#do(mutation("lib:declare", args));
    return await declaring(call.args, declare, () => this.#do<T>(call));
  }

  async #do<T = unknown>(call: Call): Promise<T> {
    const begun = await this.transactions.run(this.point, call);
    const answer = call.row === undefined ? answerOf<T>(begun) : (undefined as T);
    // No other transaction was there to conflict with.
    if (begun.commits) this.point = this.point.commit(begun.transaction, call.path)!;
    return answer;
  }

  /** They all begin here, and commit one after the other; none of them may conflict. */
  async meet(...calls: Call[]): Promise<unknown[]> {
    const begun: Begun[] = [];
    for (const call of calls) begun.push(await this.transactions.run(this.point, call));
    for (const { transaction, call } of begun) {
      const next = this.point.commit(transaction, call.path);
      if (next === null) throw new Error(`${call.path} conflicts, where it should only overlap.`);
      this.point = next;
    }
    return begun.map((one) => answerOf(one));
  }

  /** Lets time go by, and runs the functions that are due in it. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (let runs = 0; ; runs += 1) {
      const [next] = this.transactions.due(this.point, until);
      if (next === undefined) break;
      if (runs === RUNS_MAX) throw new Violation("the world does not come to rest");
      this.transactions.now = Math.max(this.now, next.row!.due!);
      await this.do(next);
    }
    this.transactions.now = until;
  }

  /** Until just when the earliest of the janitor's sweeps is due, and before it runs. */
  async untilSweep(): Promise<void> {
    const sweeps = this.rows("timers").filter(({ kind }) => kind === "janitor");
    const due = sweeps.map((timer) => timer["dueAt"] as number);
    if (due.length === 0) throw new Error("No sweep is due: nothing has been leased.");
    await this.pass(Math.max(0, Math.min(...due) - 1 - this.now));
    this.transactions.now += 1;
  }

  rows(table: string, namespace = COMPONENT): Row[] {
    return this.point.rows<Row>(namespace, table);
  }

  job(id: string): Row {
    return this.rows("jobs").find(({ _id }) => _id === id)!;
  }

  async enqueue(count = 1): Promise<string[]> {
    const enqueued = await this.do<Enqueued[]>(this.enqueues(count));
    return enqueued.map(({ id }) => id);
  }

  enqueues(count = 1, queue = this.queue): Call {
    const jobs = Array.from({ length: count }, (_, n) => ({ payload: { n } }));
    return mutation("lib:enqueue", { queue, jobs });
  }

  /** One job with these options. */
  enqueuesOne(options: JobOptions, queue = this.queue): Call {
    return mutation("lib:enqueue", { queue, jobs: [{ payload: 1, options }] });
  }

  async enqueueOne(options: JobOptions): Promise<string> {
    const [enqueued] = await this.do<Enqueued[]>(this.enqueuesOne(options));
    return enqueued!.id;
  }

  replaces(id: string, options: JobOptions = {}): Call {
    return mutation("lib:replace", { id, queue: this.queue, job: { payload: 1, options } });
  }

  /** The subscription of a session's worker: requests to end jobs. */
  cancellations(sessionKey: string): Call {
    return { ...mutation("lib:cancellations", { token: this.token, sessionKey }), kind: "query" };
  }

  cancels(id: string): Call {
    return mutation("operate:cancelJob", { id });
  }

  retries(id: string): Call {
    return mutation("operate:retryJob", { id });
  }

  /** Whether there is work in any queue. */
  asks(): Call {
    const args = { token: this.token, queues: this.queues.map(({ name }) => name) };
    return { ...mutation("lib:hasWork", args), kind: "query" };
  }
}

export function mutation(path: string, args: object = {}): Call {
  return { kind: "mutation", namespace: COMPONENT, path, args };
}
