/** The parts of a worker's loop, made and connected. Nothing here decides anything. */
import type { Tracer } from "../shared/index.js";
import { Asking } from "./asking.js";
import { Attempts } from "./attempts.js";
import { batchingOf, largestOf } from "./batching.js";
import { Calls } from "./calls.js";
import { Cancellations } from "./cancellations.js";
import type { Clock } from "./clock.js";
import { messageOf, type Failure } from "./errors.js";
import type { CallName, WorkerEvent } from "./events.js";
import { Execution } from "./execution.js";
import { Following } from "./following.js";
import { Gate } from "./gate.js";
import { Gathering } from "./gathering.js";
import { Heart } from "./heart.js";
import type { Hooks } from "./hookTypes.js";
import { PRESENCE_DEFAULT_MS } from "./limits.js";
import type { OutputOptions, StopAfter } from "./options.js";
import { OnCall } from "./onCall.js";
import { Outbox } from "./outbox.js";
import { outcomeOfAbandoned } from "./outcome.js";
import type { Load } from "./pressure.js";
import { Recording } from "./recording.js";
import { Reports } from "./reports.js";
import { Status } from "./status.js";
import { Lifetime } from "./stopAfter.js";
import { Stopping } from "./stopping.js";
import type { Transport } from "./transport.js";
import type { AnyHandler } from "./batching.js";
import { Waker } from "./waker.js";

export interface LoopOptions {
  clock: Clock;
  /** Of the worker: a job that it has failed it leaves to other workers for a while. */
  name: string;
  /** The queues that it serves, of its handlers'. */
  queues: readonly string[];
  transport: Transport;
  handlers: ReadonlyMap<string, AnyHandler>;
  /** At the start: it may change. */
  concurrency: number;
  presenceMs: number;
  /** The workers alike, of which only a few follow the waiting jobs; absent, it follows them always. */
  peers?: string;
  /** How often it says that it lives while it stands by. */
  standbyMs?: number;
  /** The budget of its jobs' costs; absent, there is none. */
  maxCost?: number;
  output: Required<OutputOptions>;
  /** The end by itself. */
  stopAfter?: StopAfter;
  /** The grace of a stop that names none. */
  graceMs?: number;
  hooks?: Hooks;
  tracer?: Tracer;
  /** The measures of the runtime, for `backPressure`. */
  load?: Load;
  /** Labels and groups that it offers: conditions of a claim narrow them. */
  labels?: readonly string[];
  groups?: readonly string[];
  /** Queues that it claims from only when its other queues had nothing. */
  whenIdle?: readonly string[];
  /** How often it claims where nothing is followed. */
  pollMs?: number;
  /** Between two status events; absent or 0, there are none. */
  statusMs?: number;
  emit: (event: WorkerEvent) => void;
}

/** The loop, as its parts know it. */
export interface LoopSide {
  /** A slot or a lease has come free, or was taken. */
  changed: () => void;
  isBusy: () => boolean;
  slots: () => { used: number; had: number };
  isQuiet: () => boolean;
  /** It claims nothing, and learns from beats alone, where it follows nothing, that it may again. */
  mustBeSeen: () => boolean;
  /** For how many more jobs it has room. */
  room: () => number;
  stop: () => void;
  failed: (call: CallName, failure: Failure) => void;
  sideCallFailed: (call: CallName, error: unknown) => Failure["kind"];
  /** Nothing is waited for any more. */
  giveUp: () => void;
  gaveUp: AbortSignal;
}

export interface Parts {
  waker: Waker;
  outbox: Outbox;
  asking: Asking;
  following: Following;
  onCall: OnCall;
  calls: Calls;
  attempts: Attempts;
  heart: Heart;
  recording: Recording;
  reports: Reports;
  cancellations: Cancellations;
  execution: Execution;
  gathering: Gathering;
  stopping: Stopping;
  status: Status;
  lifetime: Lifetime;
  gate: Gate;
}

export function partsOf(options: LoopOptions, loop: LoopSide): Parts {
  const { clock, transport, presenceMs, output, name, maxCost, emit: tell } = options;
  const emit = (event: WorkerEvent): void => {
    if (event.kind === "recorded") status.recorded();
    tell(event);
  };
  const waker = new Waker(clock);
  const outbox = new Outbox(clock);
  const { hooks = {} } = options;
  const asking = new Asking(clock, options.queues, name, {
    whenIdle: options.whenIdle ?? [],
    pollMs: options.pollMs,
  });
  const following = new Following({
    ...{ transport, asking, maxCost },
    answered: () => {
      onCall.looksAgain();
      waker.wake();
    },
    failed: (error) => void loop.sideCallFailed("hasWork", error),
  });
  const calls = new Calls({ clock, emit, gaveUp: loop.gaveUp });
  const attempts = new Attempts({
    ...{ clock, emit, changed: loop.changed },
    abandoned: (attempt) => execution.conclude(attempt, outcomeOfAbandoned(attempt)),
  });
  const onCall: OnCall = new OnCall({
    ...{ clock, transport, asking, following, room: loop.room },
    ...{ peers: options.peers, presenceMs: options.standbyMs },
    beat: () => heart.hurry(),
    changed: () => {
      heart.schedule();
      waker.wake();
    },
  });
  const heart: Heart = new Heart({
    ...{ clock, transport, attempts, onCall },
    presenceMs: () => (loop.mustBeSeen() && presenceMs === 0 ? PRESENCE_DEFAULT_MS : presenceMs),
    isCalling: () => calls.isCalling,
    hearsCancellations: () => cancellations.isLive,
    failed: (error) => void loop.sideCallFailed("heartbeat", error),
  });
  const recording = new Recording({
    ...{ attempts, outbox, transport, emit },
    failed: (error) => void loop.sideCallFailed("complete", error),
  });
  const reports = new Reports({
    ...{ clock, transport, attempts, output, emit },
    failed: (error) => loop.sideCallFailed("report", error),
  });
  const cancellations = new Cancellations({
    ...{ clock, transport, attempts },
    failed: (error) =>
      emit({ kind: "callRejected", call: "cancellations", error: messageOf(error) }),
  });
  const gathering: Gathering = new Gathering({
    ...{ clock, changed: loop.changed },
    batching: (queue) => batchingOf(options.handlers.get(queue))!,
    slots: loop.slots,
    largest: largestOf(options.handlers),
    begin: (batch, ended) => execution.beginBatch(batch, ended),
    unwanted: (attempt) => execution.endUnbegun(attempt),
    giveBack: (attempt) => {
      lifetime.began(-1);
      execution.conclude(attempt, { kind: "released" });
    },
  });
  const execution: Execution = new Execution({
    ...{ clock, attempts, reports, outbox, emit, handlers: options.handlers, hooks, name },
    ...(options.tracer === undefined ? {} : { tracer: options.tracer }),
    gather: (attempt) => gathering.add(attempt),
    mayBegin: () => stopping.phase === "working",
    unserved: (error) => loop.failed("claim", { kind: "unserved", error }),
    reported: () => waker.wake(),
  });
  const stopping: Stopping = new Stopping({
    ...{ clock, isBusy: loop.isBusy },
    graceOver: () => {
      gathering.tell();
      for (const attempt of attempts.running()) {
        attempts.stop(attempt);
        execution.conclude(attempt, { kind: "released" });
      }
      attempts.dropLost();
      gathering.end();
    },
    reportsOver: () => reports.stop(),
    over: loop.giveUp,
  });
  const status: Status = new Status({
    ...{ clock, name, attempts, slots: loop.slots, isQuiet: loop.isQuiet, emit: tell },
    statusMs: options.statusMs ?? 0,
  });
  const lifetime = new Lifetime({
    ...{ clock, limits: options.stopAfter ?? {} },
    // A stop in progress has a grace of its own.
    stop: () => (stopping.phase === "working" ? loop.stop() : undefined),
  });
  const gate = new Gate({
    ...{ clock, hooks, emit, load: options.load },
    offered: {
      queues: options.queues,
      labels: options.labels ?? [],
      groups: options.groups ?? [],
    },
    status: () => status.now(),
    peek: (wanted = {}) => transport.peek(wanted),
    wake: () => waker.wake(),
  });
  return {
    ...{ waker, outbox, asking, following, onCall, calls, attempts, heart, recording, reports },
    ...{ cancellations, execution, gathering, stopping, status, lifetime, gate },
  };
}
