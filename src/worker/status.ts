/** The state of a worker, its counts, and the events of both. It knows nothing of calls. */
import { describe, type Attempts } from "./attempts.js";
import type { Clock } from "./clock.js";
import type { WorkerEvent, WorkerState, WorkerStatus } from "./events.js";

export interface StatusDeps {
  clock: Clock;
  name: string;
  attempts: Attempts;
  slots: () => { used: number; had: number };
  isQuiet: () => boolean;
  emit: (event: WorkerEvent) => void;
  /** Between two status events, in milliseconds; 0 for none. */
  statusMs: number;
}

export class Status {
  state: WorkerState = "starting";
  private since: number;
  private readonly startedAt: number;
  private done = 0;
  private cancelTimer = () => {};

  constructor(private readonly deps: StatusDeps) {
    this.since = deps.clock.date();
    this.startedAt = this.since;
  }

  start(): void {
    const { clock, statusMs, name, emit } = this.deps;
    if (statusMs === 0) return;
    this.cancelTimer = clock.after(statusMs, () => {
      emit({ kind: "status", name, ...this.now() });
      this.start();
    });
  }

  /** `stopped` is the last state. */
  is(state: WorkerState): void {
    if (state === this.state || this.state === "stopped") return;
    const before = this.state;
    this.state = state;
    this.since = this.deps.clock.date();
    if (state === "stopped") this.cancelTimer();
    this.deps.emit({ kind: "state", state, before });
  }

  /** An outcome is in the database. */
  recorded(): void {
    this.done += 1;
  }

  now(): WorkerStatus {
    const { attempts, slots, isQuiet } = this.deps;
    return {
      state: this.state,
      since: this.since,
      startedAt: this.startedAt,
      isQuiet: isQuiet(),
      slots: slots(),
      done: this.done,
      running: attempts
        .running()
        .filter(({ batch }) => batch !== "waiting")
        .map(describe),
    };
  }
}
