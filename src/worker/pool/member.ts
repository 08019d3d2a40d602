/** One process of a pool: its messages, the acknowledgements, its load, and its end. */
import type { ChildProcess } from "node:child_process";
import { errorText } from "../../shared/index.js";
import type { NumberedOrder, Order, ProcessLoad, Report } from "./messages.js";
import type { EndReason, OfProcess, ProcessStatus } from "./options.js";

/** As much of a child process as is used. */
export type Forked = Pick<ChildProcess, "pid" | "connected" | "kill" | "on"> & {
  send(message: NumberedOrder, callback: (error: Error | null) => void): boolean;
};

/** In place of a process that the system has refused to start. */
const NOT_STARTED = {
  pid: undefined,
  connected: false,
  kill: () => false,
  send: () => false,
};

export interface End {
  code: number | null;
  signal: string | null;
}

/** `now` and `date` of the clock. */
export interface StartedAt {
  now: number;
  date: number;
}

export interface MemberDeps {
  id: number;
  name: string;
  /** Of the pool: one that is lower is replaced by a rolling restart. */
  generation: number;
  fork: () => Forked;
  startedAt: StartedAt;
  onUnknown: (message: unknown) => void;
}

export class Member {
  readonly id: number;
  readonly generation: number;
  readonly startedAt: StartedAt;
  readonly ended: Promise<End>;
  /** Never rejects. A process that ends before is never ready. */
  readonly ready: Promise<void>;
  readyAt: number | undefined;
  /** The error that the process has told. */
  error: string | undefined;
  /** Decided by the pool before the end. */
  reason: EndReason | undefined;
  isQuiet = false;

  private readonly child: Omit<Forked, "on">;
  private readonly name: string;
  private lastOrder = 0;
  /** Each with the number of checks since, and its promise. */
  private readonly awaiting = new Map<number, { checks: number; resolve: () => void }>();
  private becomeReady = () => {};
  private load: ProcessLoad = {
    state: "starting",
    slots: { used: 0, had: 0 },
    done: 0,
    memoryBytes: 0,
  };

  constructor(private readonly deps: MemberDeps) {
    this.id = deps.id;
    this.name = deps.name;
    this.generation = deps.generation;
    this.startedAt = deps.startedAt;
    this.ready = new Promise((resolve) => (this.becomeReady = resolve));
    const child = this.forked();
    this.child = child ?? NOT_STARTED;
    child?.on("message", (message) => this.hear(message));
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null) => {
        this.load = { ...this.load, state: "stopped" };
        // Their promises stay open: each is awaited beside the end.
        this.awaiting.clear();
        resolve({ code, signal });
      };
      if (child === undefined) return end(null, null);
      child.on("exit", end);
      child.on("error", (error) => {
        this.error ??= error.message;
        // It was never started: then there is no exit either.
        if (child.pid === undefined) end(null, null);
      });
    });
  }

  /** Undefined where `fork` throws, as for an environment that is too large, or without memory. */
  private forked(): Forked | undefined {
    try {
      return this.deps.fork();
    } catch (error) {
      this.error = errorText(error);
      return undefined;
    }
  }

  get of(): OfProcess {
    return { id: this.id, name: this.name, pid: this.child.pid ?? 0 };
  }

  get status(): ProcessStatus {
    const isDraining = this.reason !== undefined && this.load.state !== "stopped";
    return {
      ...this.of,
      ...this.load,
      state: isDraining ? "draining" : this.load.state,
      isQuiet: this.isQuiet,
      startedAt: this.startedAt.date,
    };
  }

  /** Resolves when the process has acknowledged it, and never if the process ends before. */
  order(order: Order): Promise<void> {
    const id = ++this.lastOrder;
    if (order.type === "quiet" || order.type === "resume") this.isQuiet = order.type === "quiet";
    if (order.type === "start") this.isQuiet = order.isQuiet;
    const acknowledged = new Promise<void>((resolve) =>
      this.awaiting.set(id, { checks: 0, resolve }),
    );
    // An error is no more than a message that gets no acknowledgement.
    if (this.child.connected) this.child.send({ ...order, id }, () => {});
    return acknowledged;
  }

  /** Whether the orders reach it. */
  get isConnected(): boolean {
    return this.child.connected;
  }

  /**
   * One more check has come. A check counts and not the time: after a machine's sleep, or a block of the pool itself, the
   * acknowledgements that wait are read before the next check.
   *
   * @returns For how many checks its oldest order has been without an acknowledgement.
   */
  check(): number {
    let oldest = 0;
    for (const order of this.awaiting.values()) oldest = Math.max(oldest, (order.checks += 1));
    if (this.awaiting.size === 0) void this.order({ type: "ping" });
    return oldest;
  }

  kill(signal: "SIGTERM" | "SIGKILL"): void {
    this.child.kill(signal);
  }

  private hear(message: unknown): void {
    const report = message as Report | null;
    if (report?.type === "error") {
      this.error = String(report.message);
    } else if (report?.type === "acknowledged" && isLoad(report.load)) {
      this.load = report.load;
      // One that comes twice, or for no order, acknowledges nothing new.
      this.awaiting.get(report.id)?.resolve();
      this.awaiting.delete(report.id);
    } else if (report?.type === "ready" && isLoad(report.load)) {
      this.load = report.load;
      this.becomeReady();
    } else {
      this.deps.onUnknown(message);
    }
  }
}

/** A module can send the pool anything. */
function isLoad(load: Partial<ProcessLoad> | undefined): boolean {
  return typeof load?.state === "string" && typeof load.memoryBytes === "number" && !!load.slots;
}
