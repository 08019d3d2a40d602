/**
 * The messages between the backend and its threads. Arguments and results stay the JSON text that they are on either
 * side, so that nothing is taken apart on the way. Only types; nothing here runs.
 */
import type { JSONValue } from "convex/values";
import type { Called } from "../calling.js";
import type { CallFacts } from "../invoke.js";
import type { LogLine, ModuleSource } from "../types.js";
import type { Thrown } from "../uncaught.js";

/** How a thread is set up. */
export interface ThreadSetup {
  /** Answers to questions for which the thread stands still. */
  answers: MessagePort;
  /** One word: 1 when such an answer is there. */
  answered: SharedArrayBuffer;
}

/** A module without its map, which only the backend needs. */
export interface SentModule {
  source: Omit<ModuleSource, "sourceMap">;
  /** V8's code for it, from another thread. */
  code?: Uint8Array;
}

export type ToThread =
  /** A component's modules and variables, before the first call of one of its functions. */
  | { kind: "instance"; instance: number; env: [string, string][]; modules: SentModule[] }
  | CallMessage
  | Answer
  /** The call is over for its caller: it is to end, even inside an `await`. */
  | { kind: "abort"; call: number };

export interface CallMessage {
  kind: "call";
  call: number;
  instance: number;
  called: Called;
  facts: CallFacts;
  /** The call's randomness. */
  seed: Uint8Array;
  requestId: string;
  args: string;
}

export type Answer = { kind: "answer"; call: number; number: number } & Outcome;

export type Outcome =
  { ok: true; value: string } | { ok: false; message: string; data?: JSONValue };

export type FromThread =
  /** `task` is the operating system's number of the thread, where it tells. */
  | { kind: "ready"; task: number | null }
  /** The modules are evaluated, the function begins. */
  | { kind: "entered"; call: number }
  | { kind: "syscall"; call: number; number: number; operation: string; args: string }
  /** A synchronous system call for which the thread stands still. */
  | { kind: "ask"; call: number; operation: string; args: string }
  /** One that has no answer to wait for: a query is opened or closed, under the thread's own number. */
  | { kind: "stream"; call: number; stream: number; query: string | null }
  | { kind: "log"; call: number; level: LogLine["level"]; text: string }
  | Ended
  | { kind: "compiled"; instance: number; path: string; code: Uint8Array };

export type Ended = { kind: "ended"; call: number; observedTime: boolean } & (
  { ok: true; value: string } | { ok: false; thrown: Thrown }
);
