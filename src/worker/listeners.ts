/** The listeners to a worker's events. One that throws must not bring down the work it listens to. */
import type { WorkerEvent } from "./events.js";

type Kind = WorkerEvent["kind"];
type Listener<K extends Kind> = (event: Extract<WorkerEvent, { kind: K }>) => void;

export class Listeners {
  private readonly byKind = new Map<Kind, Set<Listener<any>>>();

  constructor(private readonly onEvent: (event: WorkerEvent) => void) {}

  /** Returns the function that ends the listening. */
  on<K extends Kind>(kind: K, listener: Listener<K>): () => void {
    const listeners = this.byKind.get(kind) ?? new Set();
    this.byKind.set(kind, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  readonly emit = (event: WorkerEvent): void => {
    for (const listener of [this.onEvent, ...(this.byKind.get(event.kind) ?? [])]) {
      try {
        listener(event);
      } catch (error) {
        console.error("[conveyor] a listener to a worker's events threw:", error);
      }
    }
  };
}
