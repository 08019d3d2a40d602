/** Passes functions' log lines and ends to listeners. A listener that throws must not fail the function. */
import type { Spent } from "./account.js";
import type { Completion, LogLine } from "./types.js";

/** The kinds of wait before a function runs. */
export type WaitKind = "executor" | "queryPermit" | "mutationPermit" | "actionPermit";

/** A function has waited: for a place in the executor since the function was due, or for a permit to run. */
export interface Wait {
  kind: WaitKind;
  ms: number;
}

/** A transaction that is no function's ended: the scheduler's notes, the deletion of old rows. */
export interface Housekeeping {
  source: string;
  spent: Spent;
}

export interface Events {
  log(line: LogLine): void;
  completed(completion: Completion): void;
  waited(kind: WaitKind, ms: number): void;
  housekept(housekeeping: Housekeeping): void;
  onLog(listener: (line: LogLine) => void): () => void;
  onCompletion(listener: (completion: Completion) => void): () => void;
  onWait(listener: (wait: Wait) => void): () => void;
  onHousekeeping(listener: (housekeeping: Housekeeping) => void): () => void;
}

export function createEvents(): Events {
  const lines = new Set<(line: LogLine) => void>();
  const completions = new Set<(completion: Completion) => void>();
  const waits = new Set<(wait: Wait) => void>();
  const housekeepings = new Set<(housekeeping: Housekeeping) => void>();
  return {
    log: (line) => tell(lines, line),
    completed: (completion) => tell(completions, completion),
    waited: (kind, ms) => tell(waits, { kind, ms }),
    housekept: (housekeeping) => tell(housekeepings, housekeeping),
    onLog: (listener) => listen(lines, listener),
    onCompletion: (listener) => listen(completions, listener),
    onWait: (listener) => listen(waits, listener),
    onHousekeeping: (listener) => listen(housekeepings, listener),
  };
}

function listen<T>(listeners: Set<(event: T) => void>, listener: (event: T) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function tell<T>(listeners: Set<(event: T) => void>, event: T): void {
  for (const listener of listeners) {
    try {
      listener(event);
    } catch (error) {
      console.error("A listener of the function runner failed:", error);
    }
  }
}
