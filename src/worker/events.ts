/** The events and states of a worker. Nothing here runs. */
import type { Outcome, QuietBy, WorkerState } from "../shared/index.js";
import type { LogLevel } from "./types.js";

export type { WorkerState };

/** Which attempt an event is about. */
export interface OfJob {
  id: string;
  queue: string;
  attempt: number;
}

/** How a job was lost. */
export type LossReason =
  /** The deployment says that the job is no longer this worker's. */
  | "leaseLost"
  /** It was canceled: its outcome was refused. */
  | "canceled"
  /** No beat got through for a whole lease, by this process's own clock. */
  | "expired"
  /** The worker stops, and its grace is over. */
  | "stopping";

/** Why a handler was aborted. */
export type AbortReason =
  | LossReason
  /** It has answered each job of its batch: of the batch's signal alone. */
  | "answered"
  /** It ran longer than its job's `timeoutMs`. */
  | "timedOut";

/** A call of the workers' functions; subscriptions of `watch` by their kinds. */
export type CallName =
  "hello" | "claim" | "complete" | "heartbeat" | "report" | "hasWork" | "cancellations";

/** A worker at one moment. */
export interface WorkerStatus {
  state: WorkerState;
  /** Since when it has that state, in milliseconds since 1970. */
  since: number;
  /** Whether it claims nothing for now: by `quiet`, or by an operator. */
  isQuiet: boolean;
  /** Slots with running handlers, and all slots: its `concurrency`. */
  slots: { used: number; had: number };
  /** Since when it is there, in milliseconds since 1970. */
  startedAt: number;
  /** How many outcomes of its attempts are in the database, since then. */
  done: number;
  /** The attempts with running handlers. */
  running: OfJob[];
}

/** An event of a worker. */
export type WorkerEvent =
  /** The state is another now. */
  | { kind: "state"; state: WorkerState; before: WorkerState }
  /** It claims nothing from now on, or claims again: by the program's `quiet`, or by an operator of the deployment. */
  | { kind: "quiet"; isQuiet: boolean; by: QuietBy }
  /** The status, every `statusMs`. */
  | ({ kind: "status"; name: string } & WorkerStatus)
  | { kind: "started"; name: string; sessionKey: string; queues: string[] }
  /**
   * The token names queues that the deployment's functions do not serve: misspelt, or served by the functions of
   * another module.
   */
  | { kind: "queuesNotServed"; queues: string[] }
  | { kind: "claimed"; jobs: OfJob[] }
  /**
   * A handler has ended. `error` is the message of a failure, `trace` its class and stack, and the same of its causes.
   * `thrown` is the thrown value itself. It is not enumerable: an event with any thrown value goes into JSON.
   */
  | ({
      kind: "finished";
      outcome: Outcome["kind"];
      ms: number;
      error?: string;
      trace?: string;
      thrown?: unknown;
    } & OfJob)
  /** The outcome is in the database: `recorded` when an earlier, unanswered call had brought it there. */
  | ({ kind: "recorded"; answer: "ok" | "recorded" } & OfJob)
  /**
   * The job is lost; its handler's signal aborts, and its result will be dropped. `queueNotServed`: its handler has ended, and the
   * deployment, which serves its queue no longer, cannot check the result; the job went back.
   */
  | ({ kind: "leaseLost"; reason: LossReason | "queueNotServed" } & OfJob)
  /** The job is still this worker's, and its handler gets the signal to stop. */
  | ({ kind: "aborted"; reason: "canceled" | "timedOut" } & OfJob)
  /** The job was recorded as failed: its result, or a job to continue with, is too large or fits no validator. */
  | ({ kind: "resultRefused"; error: string } & OfJob)
  /** So many log entries, and characters of output, were not taken by the deployment and are gone. */
  | ({ kind: "reportRefused"; logs: number; output: number; error: string } & OfJob)
  /** A limit of `backPressure` is reached, and nothing is claimed until it is no more: then `by` is null. */
  | { kind: "backPressure"; by: "memory" | "cpu" | "check" | null }
  /** A hook has thrown, and the claim was left out. */
  | { kind: "hookFailed"; hook: "beforeClaim" | "backPressure"; error: string }
  /** The hook of a job has thrown. Its outcome is the same. */
  | ({ kind: "hookFailed"; hook: "afterJob"; error: string } & OfJob)
  /** A handler ended after its job was lost; its result is dropped. */
  | ({ kind: "resultDropped"; outcome: Outcome["kind"] } & OfJob)
  /** A handler went on after its signal; it no longer takes a slot. */
  | ({ kind: "handlerAbandoned" } & OfJob)
  /** A call was not answered; it is repeated. */
  | { kind: "callRepeated"; call: CallName; error: string; inMs: number }
  /** The deployment refused a call; nothing came of it. */
  | { kind: "callRejected"; call: CallName; error: string }
  | ({ kind: "log"; level: LogLevel; message: string; data?: unknown } & OfJob)
  | { kind: "stopping"; graceMs: number }
  /** `unrecorded` outcomes could not be recorded in time; their jobs go to other workers when the lease ends. */
  | { kind: "stopped"; unrecorded: number };
