/**
 * The session's calls: one at a time, counted. A call without an answer is repeated under the same number until it is
 * answered, so that no job is leased to this session without its knowing, and no outcome is lost.
 *
 * The number goes on only when a call is answered. A rejected call used none up: had an earlier copy of it taken
 * effect after all, the next call under that number gets the reply that belongs to the copy, and its leases become
 * known. That is why a reply is applied by the ids in it, and not by the request.
 */
import { backoff, type Clock } from "./clock.js";
import { judge, type Failure } from "./errors.js";
import { REPEAT_MAX_MS, REPEAT_MIN_MS } from "./limits.js";
import type { CallName, WorkerEvent } from "./events.js";

export type CallEnd<Reply> =
  | {
      kind: "answered";
      reply: Reply;
      /** When the first copy was sent: leases in the reply cannot be older. */
      sentAt: number;
      repeats: number;
    }
  | Exclude<Failure, { kind: "unanswered" }>
  /** The worker has no more time. */
  | { kind: "gaveUp" };

export class Calls {
  private callSeq = 0;
  private answered = false;
  private calling = false;

  constructor(
    private readonly deps: {
      clock: Clock;
      emit: (event: WorkerEvent) => void;
      /** Aborts when the worker stops waiting for answers. */
      gaveUp: AbortSignal;
    },
  ) {}

  /** Whether the deployment has ever answered this session: from then on, a missing function is a passing thing. */
  get everAnswered(): boolean {
    return this.answered;
  }

  /** A number after the numbers of all calls that were made, should one that was given up still arrive. */
  get after(): number {
    return this.callSeq + 2;
  }

  /** Whether a call is on its way. */
  get isCalling(): boolean {
    return this.calling;
  }

  async run<Reply>(
    call: CallName,
    send: (callSeq: number) => Promise<Reply>,
  ): Promise<CallEnd<Reply>> {
    this.calling = true;
    try {
      const callSeq = this.callSeq + 1;
      const end = await this.ask(call, () => send(callSeq));
      if (end.kind === "answered") {
        this.callSeq = callSeq;
        this.answered = true;
      }
      return end;
    } finally {
      this.calling = false;
    }
  }

  /** A call that is not numbered: it changes nothing. It says nothing of the functions that the numbered calls need. */
  async ask<Reply>(call: CallName, send: () => Promise<Reply>): Promise<CallEnd<Reply>> {
    const { clock, emit, gaveUp } = this.deps;
    const sentAt = clock.now();
    for (let repeats = 0; ; repeats += 1) {
      const end = await unlessAborted(gaveUp, this.once(send));
      if (end === undefined) return { kind: "gaveUp" };
      if (end.kind === "answered") return { ...end, sentAt, repeats };
      if (end.kind !== "unanswered") return end;
      const inMs = backoff(clock, repeats, REPEAT_MIN_MS, REPEAT_MAX_MS);
      emit({ kind: "callRepeated", call, error: end.message, inMs });
      if (await this.pause(inMs)) return { kind: "gaveUp" };
    }
  }

  private async once<Reply>(send: () => Promise<Reply>) {
    try {
      return { kind: "answered" as const, reply: await send() };
    } catch (error) {
      return judge(error, this.answered);
    }
  }

  /** True if the worker gave up meanwhile. */
  private async pause(ms: number): Promise<boolean> {
    let cancel = () => {};
    const waited = new Promise<boolean>((resolve) => {
      cancel = this.deps.clock.after(ms, () => resolve(false));
    });
    const over = await unlessAborted(this.deps.gaveUp, waited);
    cancel();
    return over ?? true;
  }
}

/**
 * The value of the promise, or undefined when the signal aborts before. Nothing stays with the signal: it lives as long as the
 * worker, and in a race with one promise of that life each loser and each value would be kept as long.
 */
export async function unlessAborted<Value>(
  signal: AbortSignal,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  let stop = () => {};
  const aborted = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
