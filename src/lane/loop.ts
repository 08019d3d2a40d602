/**
 * The loop of a lane: runs its jobs, reports jobs that have ended together, and takes the next jobs, one call at a
 * time. No slow job holds up another: each runs by itself, and the loop waits for the one that ends first. It knows
 * nothing of contexts: its process provides how a job is run, how the component is called, and how many jobs a call may
 * bring.
 */
import {
  apartCallOf,
  HANDLERS_PER_STEP,
  LANE_LINGER_MS,
  LEASES_MAX,
  type Answer,
  type LaneJob,
  type LaneReply,
  type LaneStart,
  type LaneStep,
  type ProcessReport,
} from "../shared/index.js";
import { Outbox } from "../worker/outbox.js";
import type { Report } from "../worker/transport.js";
import type { Clock } from "../worker/clock.js";
import { Apart, type Execution, type ApartReport } from "./apart.js";
import type { Ended } from "./inline.js";

/** One call, before results are checked, and jobs made that are to follow. */
export type StepReport = Omit<LaneStep, "finished"> & { finished: Report[] };

/** The calls of a lane. */
export interface Lane {
  step(args: StepReport): Promise<LaneReply>;
  /** One job in a transaction of its own. */
  apart(args: ApartReport): Promise<Answer>;
  /** Runs one job. Never rejects. */
  run(job: LaneJob): Promise<Ended>;
}

/** The process, as its lanes use it. */
export interface Host {
  /** The fields that a call of this lane carries for the process. */
  says(loop: Loop): ProcessReport;
  /** The call was answered, or refused. */
  hears(loop: Loop, report: ProcessReport, reply: LaneReply | null): void;
  /** Runs one job when there is a place for it. */
  run(loop: Loop, job: LaneJob): Promise<Ended>;
}

export class Loop {
  private callSeq: number;
  private lastAckedCall: number;
  private readonly running = new Set<string>();
  private readonly outbox: Outbox;
  /** Jobs with a mutation as their handler: it runs in a step, or apart. */
  private mutations: Execution[] = [];
  private readonly apart: Apart;
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
    this.apart = new Apart(
      (said) => lane.apart(said),
      clock,
      () => this.wake(),
    );
    this.callSeq = start.callSeq;
    this.lastAckedCall = start.lastAckedCall ?? start.callSeq;
  }

  async run(): Promise<void> {
    const { jobs, lookAfterMs } = this.start;
    if (this.lastAckedCall < this.callSeq) this.lookAt = this.clock.now();
    else if (lookAfterMs !== undefined) this.lookAt = this.clock.now() + lookAfterMs;
    this.begin(jobs);
    while (!this.isDone()) {
      await this.until();
      await this.linger();
      if (this.isDue()) await this.step();
    }
  }

  /** Jobs of it that take a place: they run, or wait for one. */
  get placed(): number {
    return this.running.size;
  }

  /** As many jobs as its next call is likely to bring: twice as many as the last, or as have ended. */
  get mayFill(): number {
    return 2 * Math.max(this.brought, this.outbox.size + this.apart.over.length) + 2;
  }

  /** Whether it calls by itself, though none of its jobs ends. */
  get polls(): boolean {
    return this.lookAt !== null;
  }

  /** Whether its next call may be its last: it reports all that the lane has. */
  get mayLeave(): boolean {
    return this.pending === 0;
  }

  /** Jobs of which it hears by itself. */
  private get pending(): number {
    return this.running.size + this.apart.size;
  }

  /** Jobs of which its next call may say that they are over. */
  private get ended(): number {
    return this.outbox.size + this.apart.over.length;
  }

  private isDone(): boolean {
    return this.isOver && this.pending + this.ended + this.mutations.length === 0;
  }

  private begin(jobs: readonly LaneJob[]): void {
    for (const one of jobs) {
      const { id, attempt, failures } = one.job;
      if (one.handler?.kind === "mutation") {
        const execution = { ...apartCallOf(one.job), failures };
        if (this.apart.isHot) void this.apart.execute(execution);
        else this.mutations.push(execution);
        continue;
      }
      const key = `${id} ${attempt}`;
      this.running.add(key);
      void this.host.run(this, one).then((ended) => {
        this.running.delete(key);
        const report = { id, attempt, queue: one.job.queue, ...ended };
        if (this.apart.isHot) void this.apart.record(report);
        else this.outbox.put(report);
        this.wake();
      });
    }
  }

  /** Until there is something to report, or a poll is due. */
  private async until(): Promise<void> {
    if (this.isDue()) return;
    const dueAt = this.lookAt ?? Infinity;
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
   * Outcomes within a moment are reported together, while other jobs run: fewer calls, which write the lane's row and
   * change its cap less often, so that lanes conflict less.
   */
  private async linger(): Promise<void> {
    if (this.pending === 0 || this.ended === 0 || this.mutations.length > 0) return;
    await new Promise<void>((resolve) => {
      const forget = this.clock.after(LANE_LINGER_MS, resolve);
      this.wake = () => {
        if (this.pending > 0) return;
        forget();
        resolve();
      };
    });
    this.wake = () => undefined;
  }

  private isDue(): boolean {
    const now = this.clock.now();
    if (this.mutations.length + this.ended > 0) return true;
    // Nothing is held and no poll is due: the last call has to be made.
    if (!this.isOver && this.pending === 0 && this.lookAt === null) return true;
    return !this.isOver && this.lookAt !== null && this.lookAt <= now;
  }

  private async step(): Promise<void> {
    const { reports } = this.outbox.next();
    const execute = this.mutations.slice(0, HANDLERS_PER_STEP);
    const ended = this.apart.over.slice(0, LEASES_MAX);
    this.callSeq += 1;
    const { callSeq, lastAckedCall } = this;
    const isLook = this.lookAt !== null && this.lookAt <= this.clock.now();
    const { lane, generation } = this.start;
    const { handOver } = this;
    const reported = this.host.says(this);
    let delivered: LaneReply | null = null;
    try {
      const reply = await this.lane.step({
        ...{
          lane,
          generation,
          callSeq,
          lastAckedCall,
          finished: reports,
          looks: this.looks,
          in: reported,
        },
        execute: execute.map(({ id, attempt }) => ({ id, attempt })),
        sentAt: Date.now(),
        ...(handOver === undefined ? {} : { handOver }),
        ...(ended.length === 0 ? {} : { over: ended }),
      });
      delivered = reply;
      this.lastAckedCall = callSeq;
      this.handOver = undefined;
      this.apart.forget(ended);
      for (const answer of reply.answers) this.settle(answer);
      this.goApart(reports, execute);
      this.hear(reply, isLook, reports.length + ended.length);
    } catch {
      this.goApart(reports, execute);
      this.lookAt = this.clock.now() + REFUSED_WAIT_MS;
    }
    this.host.hears(this, reported, delivered);
  }

  private hear(reply: LaneReply, isLook: boolean, ended: number): void {
    // A call that has lost records ends and takes nothing: the next one takes the jobs.
    const isAgain = reply.jobs.length === 0 && reply.lookAfterMs === 0;
    this.brought = isAgain ? Math.max(this.brought, ended) : reply.jobs.length;
    if (reply.jobs.length > 0) this.looks = 0;
    else if (isLook) this.looks += 1;
    this.lookAt = reply.lookAfterMs === null ? null : this.clock.now() + reply.lookAfterMs;
    this.isOver = reply.isOver;
    this.begin(reply.jobs);
  }

  /** With any answer, the lane has nothing more to report of it. */
  private settle({ id, attempt }: Answer): void {
    this.outbox.settle(id, attempt);
    this.mutations = this.mutations.filter((one) => one.id !== id || one.attempt !== attempt);
  }

  /** The jobs of a call without an answer have lost in it, or were too much for one transaction. */
  private goApart(reports: readonly Report[], execute: readonly Execution[]): void {
    const left = reports.filter(({ id, attempt }) => this.outbox.settle(id, attempt) !== undefined);
    const unrun = execute.filter((one) => this.mutations.includes(one));
    if (left.length + unrun.length > 0) this.apart.lost();
    this.mutations = this.mutations.filter((one) => !unrun.includes(one));
    for (const report of left) void this.apart.record(report);
    for (const one of unrun) void this.apart.execute(one);
  }
}

/** Until a lane with a refused call polls again. */
const REFUSED_WAIT_MS = 1_000;
