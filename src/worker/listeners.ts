/** The listeners to a worker's events. One that throws must not bring down the work it listens to. */
import type { WorkerEvent } from "./events.js";
import { isPromise } from "./pressure.js";

type Kind = WorkerEvent["kind"];
type Listener<K extends Kind> = (event: Extract<WorkerEvent, { kind: K }>) => void;

/** A worker's event as a platform's `EventTarget` has it: a `CustomEvent`, its `detail` the event itself. */
export interface WorkerCustomEvent<K extends Kind = Kind> {
  readonly type: K;
  readonly detail: Extract<WorkerEvent, { kind: K }>;
}

/** As of any `EventTarget`. */
export interface ListenOptions {
  once?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

type CustomListener<K extends Kind> = (event: WorkerCustomEvent<K>) => void;

export class Listeners {
  private readonly byKind = new Map<Kind, Set<Listener<any>>>();
  /** Made by its first listener. */
  private target: EventTarget | undefined;
  private readonly guards = new WeakMap<CustomListener<any>, (event: Event) => void>();

  constructor(private readonly onEvent: (event: WorkerEvent) => void) {}

  /** Returns the function that ends the listening. */
  on<K extends Kind>(kind: K, listener: Listener<K>): () => void {
    const listeners = this.byKind.get(kind) ?? new Set();
    this.byKind.set(kind, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  addEventListener<K extends Kind>(
    kind: K,
    listener: CustomListener<K>,
    { once = false, signal }: ListenOptions = {},
  ): void {
    this.target ??= new EventTarget();
    // Node ends a process in which a listener of an `EventTarget` throws.
    const guard =
      this.guards.get(listener) ??
      ((event) => callListener(listener, event as unknown as WorkerCustomEvent<K>));
    this.guards.set(listener, guard);
    this.target.addEventListener(kind, guard, {
      once,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  removeEventListener<K extends Kind>(kind: K, listener: CustomListener<K>): void {
    this.target?.removeEventListener(kind, this.guards.get(listener) ?? null);
  }

  readonly emit = (event: WorkerEvent): void => {
    for (const listener of [this.onEvent, ...(this.byKind.get(event.kind) ?? [])])
      callListener(listener, event);
    this.target?.dispatchEvent(new CustomEvent(event.kind, { detail: event }));
  };
}

/** Also a listener that is `async`: Node ends a process in which a promise is rejected and none hears of it. */
export function callListener<Event>(
  listener: (event: Event) => unknown,
  event: Event,
  whose = "a worker's",
): void {
  const told = (error: unknown) =>
    console.error(`[conveyor] a listener to ${whose} events threw:`, error);
  try {
    const returned = listener(event);
    if (isPromise(returned)) returned.then(undefined, told);
  } catch (error) {
    told(error);
  }
}
