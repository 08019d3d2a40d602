/**
 * A subscription that rests where its answer changes at full speed: live as long as changes are far apart, and else asked for
 * again only so often. Without timers or clients of its own, so that it can be driven by any.
 *
 * A subscribed query runs again with each change of its read set, as fast as the backend can, and each run is a
 * function call; a query cannot read an older snapshot instead, which only mutations may. So here, once two changes
 * have come within `everyMs`, the subscription is given up for `everyMs` and then taken up again: that gives the answer
 * of that moment, and the next change after it. It asks for nothing while nothing changes.
 */

/** The rest of a query at full speed: it runs twice in this time, or three times where its unsubscribe comes late. */
export const CALM_EVERY_MS = 3_000;

/** Where answers come from: `read` is the last one while subscribed, `undefined` before the first. */
export interface Source<T> {
  subscribe: (onAnswer: () => void) => () => void;
  read: () => T | undefined;
}

export interface Timers {
  now: () => number;
  /** Returns the function that cancels it. */
  after: (ms: number, run: () => void) => () => void;
}

export class CalmWatch<T> {
  readonly #listeners = new Set<() => void>();
  /** The last answer, to be shown while it rests. */
  #held: (() => T | undefined) | undefined;
  #unsubscribe: (() => void) | undefined;
  #callOff: (() => void) | undefined;
  #answeredAt = -Infinity;
  /** How many want it awake, since their own change is to be seen at once. */
  #wakers = 0;
  readonly #waiting = new Set<() => void>();

  constructor(
    private readonly source: Source<T>,
    private readonly everyMs: number,
    private readonly timers: Timers,
  ) {}

  get isResting(): boolean {
    return this.#callOff !== undefined;
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /** As `onUpdate` of a watch: subscribed while there is a listener. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#subscribe();
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#stop();
      this.#held = undefined;
      this.#answeredAt = -Infinity;
    };
  }

  /** Throws the query's error. */
  read(): T | undefined {
    const answer = this.source.read();
    return answer === undefined ? this.#held?.() : answer;
  }

  /** Ends a rest, and lets none begin until it is `release`d. Settles with the answer of now, but no later than a rest would end. */
  async wake(): Promise<void> {
    this.#wakers += 1;
    if (!this.isResting) return;
    await new Promise<void>((resolve) => {
      const callOff = this.timers.after(this.everyMs, resolve);
      this.#waiting.add(() => {
        callOff();
        resolve();
      });
      this.#callOff?.();
      this.#goOn();
    });
  }

  release(): void {
    this.#wakers -= 1;
  }

  #subscribe(): void {
    this.#unsubscribe = this.source.subscribe(() => this.#answered());
  }

  #stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#callOff?.();
    this.#callOff = undefined;
  }

  #answered(): void {
    const now = this.timers.now();
    const isSoon = now - this.#answeredAt < this.everyMs;
    this.#answeredAt = now;
    this.#held = heldOf(this.source);
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    if (isSoon && this.#wakers === 0) this.#rest();
    for (const listener of [...this.#listeners]) listener();
  }

  #rest(): void {
    this.#stop();
    this.#callOff = this.timers.after(this.everyMs, () => this.#goOn());
  }

  /** After a rest. A source that has an answer, since another subscription shares it, calls no listener with it. */
  #goOn(): void {
    this.#callOff = undefined;
    this.#subscribe();
    if (hasAnswer(this.source)) this.#answered();
  }
}

/** An error is one. */
function hasAnswer(source: Source<unknown>): boolean {
  try {
    return source.read() !== undefined;
  } catch {
    return true;
  }
}

/** The source's current answer or error, kept. */
function heldOf<T>(source: Source<T>): () => T | undefined {
  try {
    const answer = source.read();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
