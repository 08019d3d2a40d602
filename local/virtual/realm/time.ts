/** The globals of a realm that tell time and wait. */
import type { Branch } from "../branch.js";

/**
 * The result of `setTimeout` in Node: also a number, and with a method that lets the process end, which does nothing
 * here.
 */
class Timeout {
  cancel: () => void = () => {};

  constructor(readonly id: number) {}

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    this.cancel();
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }
}

type Callback = (...args: unknown[]) => void;

/** A `setTimeout` of no time is one of a millisecond, as in Node and in browsers. */
const MIN_DELAY_MS = 1;
/** Longer ones are taken for the shortest: Node's bound, with a warning there. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function timeGlobals(place: Branch, enter: (run: () => void) => void) {
  const timeouts = new Map<number, Timeout>();
  let last = 0;

  const start = (repeat: boolean, run: Callback, ms: unknown, args: unknown[]): Timeout => {
    const timeout = new Timeout(++last);
    timeouts.set(timeout.id, timeout);
    const delay = Number(ms ?? 0);
    const bounded = delay >= MIN_DELAY_MS && delay <= MAX_DELAY_MS ? delay : MIN_DELAY_MS;
    const wait = (): void => {
      const timer = place.timer(bounded, () => {
        if (repeat) wait();
        else timeouts.delete(timeout.id);
        enter(() => run(...args));
      });
      timeout.cancel = () => {
        timer.cancel();
        timeouts.delete(timeout.id);
      };
    };
    wait();
    return timeout;
  };
  const clear = (timeout?: Timeout | number | null): void => {
    if (typeof timeout === "number") timeouts.get(timeout)?.cancel();
    else timeout?.cancel();
  };
  const setImmediate = (run: Callback, ...args: unknown[]): Timeout => {
    const timeout = new Timeout(++last);
    const timer = place.timer(0, () => enter(() => run(...args)));
    timeout.cancel = () => timer.cancel();
    return timeout;
  };
  const startedAt = place.now();
  const monotonic = (): number => place.trueNow() - trueStart;
  const trueStart = place.trueNow();

  return {
    Date: clockedDate(() => Math.floor(place.now())),
    performance: {
      now: monotonic,
      timeOrigin: startedAt,
      mark: () => {},
      measure: () => {},
      getEntriesByName: () => [],
      clearMarks: () => {},
      clearMeasures: () => {},
    },
    setTimeout: (run: Callback, ms?: unknown, ...args: unknown[]) => start(false, run, ms, args),
    setInterval: (run: Callback, ms?: unknown, ...args: unknown[]) => start(true, run, ms, args),
    setImmediate,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    AbortSignal: timedSignals((ms, run) => void place.timer(ms, () => enter(run))),
  };
}

/** `Date` with another clock; everything that is given a time stays the language's. */
export function clockedDate(now: () => number): DateConstructor {
  return new Proxy(Date, {
    get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
    construct: (target, args: unknown[], newTarget: DateConstructor) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    apply: () => new Date(now()).toString(),
  });
}

/** `AbortSignal.timeout` waits too. */
function timedSignals(wait: (ms: number, run: () => void) => void): typeof AbortSignal {
  const timeout = (ms: number): AbortSignal => {
    const controller = new AbortController();
    const reason = () =>
      new DOMException("The operation was aborted due to timeout", "TimeoutError");
    wait(ms, () => controller.abort(reason()));
    return controller.signal;
  };
  return new Proxy(AbortSignal, {
    get: (target, name) => (name === "timeout" ? timeout : (Reflect.get(target, name) as unknown)),
  });
}
