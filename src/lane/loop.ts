/**
 * The loop of a lane: runs what it is given, reports jobs that have ended together, and takes what comes next, one call at a
 * time. No slow job holds up another: each runs by itself, and the loop waits for the one that ends first. It knows nothing
 * of contexts: its process says how a job is run, how the component is called, and how many jobs a call may bring.
 */
import {
  HANDLERS_PER_STEP,
  LANE_LINGER_MS,
  type Answer,
  type LaneJob,
  type LaneReply,
  type LaneStart,
  type LaneStep,
  type Lease,
  type ProcessSaid,
} from "../shared/index.js";
import { Outbox, type Sending } from "../worker/outbox.js";
import type { Report } from "../worker/transport.js";
import type { Clock } from "../worker/clock.js";
import { outcomeOfThrown } from "./handlers.js";
import type { Ended } from "./inline.js";

/** One call, before whoever makes it has checked results, and made jobs of what is to follow. */
export type Said = Omit<LaneStep, "finished"> & { finished: Report[] };

/** How a lane reaches what it needs. */
export interface Lane {
  step(args: Said): Promise<LaneReply>;
  /** Hands one outcome over, to be recorded by the platform until that has succeeded. */
  later(args: { lane: string; finished: Report }): Promise<unknown>;
  /** Runs one job. Never rejects. */
  run(job: LaneJob): Promise<Ended>;
}

/** What a lane asks of its process, and tells it. */
export interface Host {
  /** What a call of this lane says of the process. */
  says(loop: Loop): ProcessSaid;
  /** The call was answered, or refused. */
  hears(loop: Loop, said: ProcessSaid, reply: LaneReply | null): void;
  /** Runs one job when there is a place for it. */
  run(loop: Loop, job: LaneJob): Promise<Ended>;
}

/** A job whose handler is a mutation. */
interface Execution {
  lease: Lease;
  /** How often it failed before. */
  failures: number;
  /** It was in a call that was refused, or too much beside others. */
  alone: boolean;
}

export class Loop {
  private n: number;
  private heard: number;
  private readonly running = new Set<string>();
  private readonly outbox: Outbox;
  /** Jobs whose handler is a mutation: it runs in a step. */
  private mutations: Execution[] = [];
  private looks = 0;
  private lookAt: number | null = null;
  private isOver = false;
  private wake: () => void = () => undefined;
  private handOver: string | undefined;
  /** Jobs that its last call has brought. */
  private brought = 0;

  constructor(
    private readonly lane: Lane,
    private readonly host: Host,
    readonly start: LaneStart,
    private readonly clock: Clock,
  ) {
    this.handOver = start.handOver;
    this.brought = start.jobs.length;
    this.outbox = new Outbox(clock);
    this.n = start.n;
    this.heard = start.heard ?? start.n;
  }

  async run(): Promise<void> {
    const { jobs, lookAfterMs } = this.start;
    if (this.heard < this.n) this.lookAt = this.clock.now();
    else if (lookAfterMs !== undefined) this.lookAt = this.clock.now() + lookAfterMs;
    this.begin(jobs);
    while (!this.isDone()) {
      await this.until();
      await this.linger();
      if (this.isDue()) await this.step();
    }
  }

  /** Jobs that it has been given and has not reported. */
  get held(): number {
    return this.running.size + this.outbox.size + this.mutations.length;
  }

  /** Jobs of it that take a place: they run, or wait for one. */
  get placed(): number {
    return this.running.size;
  }

  /** As many jobs as its next call is likely to bring: twice as many as the last, or as have ended. */
  get mayFill(): number {
    return 2 * Math.max(this.brought, this.outbox.size) + 2;
  }

  /** Whether its next call may be its last: it reports all that the lane has. */
  get mayLeave(): boolean {
    return this.running.size === 0;
  }

  private isDone(): boolean {
    return this.isOver && this.running.size + this.outbox.size + this.mutations.length === 0;
  }

  private begin(jobs: readonly LaneJob[]): void {
    for (const one of jobs) {
      const { id, attempt, failures } = one.job;
      if (one.handler?.kind === "mutation") {
        this.mutations.push({ lease: { id, attempt }, failures, alone: false });
        continue;
      }
      const key = `${id} ${attempt}`;
      this.running.add(key);
      void this.host.run(this, one).then((ended) => {
        this.running.delete(key);
        this.outbox.put({ id, attempt, queue: one.job.queue, ...ended });
        this.wake();
      });
    }
  }

  /** Until there is something to say, or to look for. */
  private async until(): Promise<void> {
    if (this.isDue()) return;
    const dueAt = Math.min(this.outbox.nextDueAt() ?? Infinity, this.lookAt ?? Infinity);
    await new Promise<void>((resolve) => {
      const forget =
        dueAt === Infinity
          ? () => undefined
          : this.clock.after(Math.max(0, dueAt - this.clock.now()), resolve);
      this.wake = () => {
        forget();
        resolve();
      };
    });
    this.wake = () => undefined;
  }

  /**
   * What ends within a moment is reported together, while others run: fewer calls, which write the lane's row and change
   * its cap less often, so that lanes meet each other less.
   */
  private async linger(): Promise<void> {
    if (this.running.size === 0 || this.outbox.size === 0 || this.mutations.length > 0) return;
    await new Promise<void>((resolve) => {
      const forget = this.clock.after(LANE_LINGER_MS, resolve);
      this.wake = () => {
        if (this.running.size > 0) return;
        forget();
        resolve();
      };
    });
    this.wake = () => undefined;
  }

  private isDue(): boolean {
    const now = this.clock.now();
    if (this.mutations.length > 0 || (this.outbox.nextDueAt() ?? Infinity) <= now) return true;
    // Nothing is held and nobody says when to look: the last word has to be said.
    if (!this.isOver && this.running.size === 0 && this.outbox.size === 0 && this.lookAt === null)
      return true;
    return !this.isOver && this.lookAt !== null && this.lookAt <= now;
  }

  private async step(): Promise<void> {
    const sending = this.outbox.next();
    const execute = sending.alone ? [] : this.nextMutations();
    if (sending.handOver) return await this.giveAway(sending);
    this.n += 1;
    const { n, heard } = this;
    const isLook = this.lookAt !== null && this.lookAt <= this.clock.now();
    const { lane, generation } = this.start;
    const { handOver } = this;
    const said = this.host.says(this);
    let told: LaneReply | null = null;
    try {
      const reply = await this.lane.step({
        ...{ lane, generation, n, heard, finished: sending.reports, looks: this.looks, in: said },
        execute: execute.map(({ lease }) => lease),
        sentAt: Date.now(),
        ...(handOver === undefined ? {} : { handOver }),
        ...(sending.deferCallbacks ? { deferCallbacks: true } : {}),
      });
      told = reply;
      this.heard = n;
      this.handOver = undefined;
      this.hear(reply, isLook, execute);
    } catch (error) {
      this.outbox.reject(sending);
      this.refused(execute, error);
      this.lookAt = this.clock.now() + REFUSED_WAIT_MS;
    }
    this.host.hears(this, said, told);
  }

  private nextMutations(): Execution[] {
    const alone = this.mutations.find((one) => one.alone);
    return alone === undefined ? this.mutations.slice(0, HANDLERS_PER_STEP) : [alone];
  }

  private hear(reply: LaneReply, isLook: boolean, execute: readonly Execution[]): void {
    for (const answer of reply.answers) this.settle(answer);
    // Those without an answer were too much beside others.
    for (const one of execute) one.alone = true;
    this.brought = reply.jobs.length;
    if (reply.jobs.length > 0) this.looks = 0;
    else if (isLook) this.looks += 1;
    this.lookAt = reply.lookAfterMs === null ? null : this.clock.now() + reply.lookAfterMs;
    this.isOver = reply.isOver;
    this.begin(reply.jobs);
  }

  /** Whatever was answered, the lane has nothing more to say of it. */
  private settle({ id, attempt }: Answer): void {
    this.outbox.settle(id, attempt);
    this.mutations = this.mutations.filter(
      ({ lease }) => lease.id !== id || lease.attempt !== attempt,
    );
  }

  /** A handler brought the transaction down: each is run alone, and what fails alone has failed. */
  private refused(execute: readonly Execution[], error: unknown): void {
    const [only] = execute;
    if (execute.length === 1 && only!.alone) {
      const job = { ...only!.lease, failures: only!.failures };
      this.settle({ ...only!.lease, answer: "ok" });
      this.outbox.put({ ...only!.lease, queue: "", outcome: outcomeOfThrown(error, job) });
    }
    for (const one of execute) one.alone = true;
  }

  private async giveAway(sending: Sending): Promise<void> {
    const { lane } = this.start;
    try {
      await this.lane.later({ lane, finished: sending.reports[0]! });
      this.outbox.handedOver(sending);
    } catch {
      this.outbox.reject(sending);
    }
  }
}

/** Until a lane whose call was refused looks again. */
const REFUSED_WAIT_MS = 1_000;
