/** Tells listeners what functions log and how they end. A listener that throws must not fail the function. */
import type { Completion, LogLine } from "./types.js";

export interface Events {
  log(line: LogLine): void;
  completed(completion: Completion): void;
  onLog(listener: (line: LogLine) => void): () => void;
  onCompletion(listener: (completion: Completion) => void): () => void;
}

export function createEvents(): Events {
  const lines = new Set<(line: LogLine) => void>();
  const completions = new Set<(completion: Completion) => void>();
  return {
    log: (line) => tell(lines, line),
    completed: (completion) => tell(completions, completion),
    onLog: (listener) => listen(lines, listener),
    onCompletion: (listener) => listen(completions, listener),
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
