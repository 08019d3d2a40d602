/**
 * Reports: the progress, log entries and output of all jobs in one call, one call at a time, at most so often. Progress
 * goes as it is when its turn comes; log entries and output are repeated until the deployment has answered for them,
 * and the last of them go before the outcome does.
 *
 * A call that is refused is taken apart, each job's part alone, so that one which cannot be recorded holds up no other;
 * alone it is tried a few times more, and then given up, with an event that says so. It is given up at once where none was
 * taken for a while, since outcomes wait for it, and where the token has written as much as it may: then progress goes on.
 * A call without an answer is repeated; where it never has one, while the beats of its jobs have, it counts as refused.
 */
import {
  isConveyorError,
  LEASES_MAX,
  REPORT_MAX_BYTES,
  REPORT_MAX_ITEMS,
} from "../shared/index.js";
import type { ReportAnswer } from "../shared/index.js";
import { describe, type Attempt, type Attempts } from "./attempts.js";
import { backoff, type Clock } from "./clock.js";
import { messageOf, type Failure } from "./errors.js";
import { REPEAT_MAX_MS, REPEAT_MIN_MS, REPORT_INTERVAL_MS, REPORT_REFUSALS_MAX } from "./limits.js";
import { UnsentReports, type Refused, type ReportBatch } from "./unsentReports.js";
import type { Transport } from "./transport.js";
import type { WorkerEvent } from "./events.js";
import type { OutputOptions } from "./options.js";

interface Pending {
  readonly attempt: Attempt;
  readonly unsent: UnsentReports;
  /** Since when text waits for more. */
  textSince: number;
  /** The handler has ended: the rest is sent at once. */
  isLast: boolean;
  /** It was in a call that was refused. */
  alone: boolean;
  /** How often it was refused alone. */
  refusals: number;
  /** Which call last carried something of it. */
  turn: number;
  done: (() => void)[];
}

type Taken = { of: Pending; reported: ReportBatch }[];

export interface ReportsDeps {
  clock: Clock;
  transport: Pick<Transport, "report">;
  attempts: Attempts;
  output: Required<OutputOptions>;
  emit: (event: WorkerEvent) => void;
  /** Reports a failed call, and judges it. */
  failed: (error: unknown) => Failure["kind"];
}

const ALL_SAID = "The job has said all that it may.";

export class Reports {
  private readonly pending = new Map<Attempt, Pending>();
  private cancelTimer = () => {};
  private lastSentAt = -Infinity;
  private failures = 0;
  /** Calls that were refused since one was taken. */
  private refusals = 0;
  /** Calls without an answer since one was taken, with a beat in between that was answered; and when the last of them ended. */
  private unheard = 0;
  private failedAt = Infinity;
  private notBefore = -Infinity;
  private sending = false;
  private stopped = false;
  private turns = 0;

  constructor(private readonly deps: ReportsDeps) {}

  /** The unsent reports of the attempt; to be followed by {@link changed}. */
  of(attempt: Attempt): UnsentReports {
    const known = this.pending.get(attempt);
    if (known !== undefined) return known.unsent;
    const { id, attempt: number } = attempt.job;
    const unsent = new UnsentReports({ id, attempt: number });
    this.pending.set(attempt, {
      ...{ attempt, unsent, textSince: 0, isLast: false, alone: false, refusals: 0, turn: 0 },
      done: [],
    });
    return unsent;
  }

  /** Something was reported. */
  changed(attempt: Attempt): void {
    const pending = this.pending.get(attempt);
    if (pending === undefined || this.stopped) return;
    if (pending.textSince === 0) pending.textSince = this.deps.clock.now();
    this.schedule();
  }

  /** Sends the rest of an attempt that has ended. Null if nothing is; resolves when nothing more can be done. */
  flush(attempt: Attempt): Promise<void> | null {
    const pending = this.pending.get(attempt);
    const surplus = pending?.unsent.takeSurplus() ?? 0;
    if (pending !== undefined) this.tellRefused(pending, { logs: surplus, output: 0 }, ALL_SAID);
    pending?.unsent.forgetProgress();
    if (pending === undefined || pending.unsent.isEmpty || this.stopped) {
      this.pending.delete(attempt);
      return null;
    }
    pending.isLast = true;
    const { clock } = this.deps;
    const done = new Promise<void>((resolve) => pending.done.push(resolve));
    // Without a timer: the outcome waits for it.
    if (this.sending || clock.now() < this.notBefore) this.schedule();
    else void this.send();
    return done;
  }

  /** Nothing more is sent, and no flush is waited for. */
  stop(): void {
    this.stopped = true;
    this.cancelTimer();
    for (const pending of [...this.pending.values()]) this.finish(pending);
  }

  // --- When -------------------------------------------------------------------------------------

  private schedule(): void {
    if (this.sending || this.stopped) return;
    this.cancelTimer();
    this.forgetLost();
    const dueAt = Math.min(...[...this.pending.values()].map((pending) => this.dueAt(pending)));
    if (dueAt === Infinity) return;
    const { clock } = this.deps;
    const wait = Math.max(0, Math.max(dueAt, this.notBefore) - clock.now());
    this.cancelTimer = clock.after(wait, () => void this.send());
  }

  private dueAt({ unsent, isLast, textSince }: Pending): number {
    if (unsent.isEmpty) return Infinity;
    if (isLast) return -Infinity;
    const soonest = this.lastSentAt + REPORT_INTERVAL_MS;
    const { flushOn, flushChars, flushMs } = this.deps.output;
    const text = unsent.unsentText;
    if (unsent.isReady || text.length > flushChars || hasMatch(flushOn, text)) return soonest;
    return Math.max(soonest, textSince + flushMs);
  }

  /** Reports of lost jobs are dropped. */
  private forgetLost(): void {
    for (const pending of [...this.pending.values()]) {
      const { state } = pending.attempt;
      if (state === "lost" || state === "gone") this.finish(pending);
    }
  }

  // --- Sending ----------------------------------------------------------------------------------

  private async send(): Promise<void> {
    const { clock, transport } = this.deps;
    const taken = this.take();
    if (taken.length === 0) return;
    this.sending = true;
    this.lastSentAt = clock.now();
    try {
      const answers = await transport.report({
        updates: taken.flatMap(({ reported }) => reported.updates),
        logs: taken.flatMap(({ reported }) => reported.logs),
        output: taken.flatMap(({ reported }) => reported.output),
      });
      this.failures = 0;
      this.refusals = 0;
      this.unheard = 0;
      this.failedAt = Infinity;
      this.notBefore = -Infinity;
      this.answered(taken, answers);
    } catch (error) {
      if (!this.stopped) this.notAnswered(taken, error);
    } finally {
      this.sending = false;
      this.schedule();
    }
  }

  private take(): Taken {
    this.forgetLost();
    // Reports with a waiting outcome first, and then in turn: one that talks without end holds up no other.
    const waiting = [...this.pending.values()]
      .filter(({ unsent }) => !unsent.isEmpty)
      .sort((a, b) => Number(b.isLast) - Number(a.isLast) || a.turn - b.turn);
    this.turns += 1;
    const single = waiting.find(({ alone }) => alone);
    const room = { items: REPORT_MAX_ITEMS, bytes: REPORT_MAX_BYTES };
    const taken: Taken = [];
    for (const of of single === undefined ? waiting.slice(0, LEASES_MAX) : [single]) {
      const reported = of.unsent.take(room, of.isLast);
      of.textSince = 0;
      if (reported.updates.length + reported.logs.length + reported.output.length === 0) continue;
      of.turn = this.turns;
      taken.push({ of, reported });
    }
    return taken;
  }

  private answered(taken: Taken, answers: readonly ReportAnswer[]): void {
    const { attempts } = this.deps;
    for (const { of, reported } of taken) {
      const { id, attempt: number } = of.attempt.job;
      const answer = answers.find((one) => one.id === id && one.attempt === number);
      // The call had no room for it: it is said again.
      if (answer === undefined) continue;
      if (answer.answer === "leaseLost" || answer.answer === "recorded") {
        attempts.lose(answer);
        this.finish(of);
        continue;
      }
      if (answer.answer === "canceled") attempts.cancel(answer);
      of.alone = false;
      of.refusals = 0;
      this.tellRefused(of, of.unsent.confirm(reported, answer), ALL_SAID);
      if (of.isLast && of.unsent.isEmpty) this.finish(of);
    }
  }

  private notAnswered(taken: Taken, error: unknown): void {
    if (this.deps.failed(error) === "rejected") return this.refused(taken, error);
    const isHeard = taken.some(
      ({ of: { attempt } }) => attempt.expiresAt - attempt.job.leaseMs > this.failedAt,
    );
    this.failedAt = this.deps.clock.now();
    if (isHeard) this.unheard += 1;
    if (isHeard && this.unheard >= REPORT_REFUSALS_MAX) return this.refused(taken, error);
    this.wait(this.failures);
    this.failures += 1;
  }

  private refused(taken: Taken, error: unknown): void {
    const given = taken.map(({ of }) => of);
    if (isConveyorError(error, "quotaExceeded")) {
      for (const of of given) this.giveUp(of, error);
      return;
    }
    this.refusals += 1;
    for (const of of given) of.alone = true;
    const [of] = given;
    if (of === undefined || given.length > 1) return this.wait(0);
    of.refusals += 1;
    if (of.refusals < REPORT_REFUSALS_MAX && this.refusals <= 2 * REPORT_REFUSALS_MAX)
      return this.wait(of.refusals);
    of.unsent.forgetProgress();
    this.giveUp(of, error);
  }

  private wait(times: number): void {
    const { clock } = this.deps;
    this.notBefore = clock.now() + backoff(clock, times, REPEAT_MIN_MS, REPEAT_MAX_MS);
  }

  private giveUp(of: Pending, error: unknown): void {
    this.tellRefused(of, of.unsent.drop(), messageOf(error));
    of.alone = false;
    of.refusals = 0;
    if (of.isLast) this.finish(of);
  }

  private tellRefused({ attempt }: Pending, { logs, output }: Refused, error: string): void {
    if (logs + output === 0) return;
    this.deps.emit({ kind: "reportRefused", logs, output, error, ...describe(attempt) });
  }

  private finish(pending: Pending): void {
    this.pending.delete(pending.attempt);
    for (const done of pending.done) done();
  }
}

/** A pattern with the flag `g` remembers where it was; this one must not. */
function hasMatch(pattern: RegExp, text: string): boolean {
  return text !== "" && text.search(pattern) >= 0;
}
