/** Time and chance, injected, so that tests run a worker's hours in milliseconds and always the same way. */
export interface Clock {
  /** Milliseconds that only go forward: leases are measured by it, and a corrected system time must not end them. */
  now(): number;
  /** Milliseconds since 1970: about the same for all callers at one moment, on any machine. */
  date(): number;
  /** Calls back once; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /** 0 up to, not including, 1. */
  random(): number;
}

/** A longer timer would fire at once: it is set again and again. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  date: Date.now,
  after: (ms, run) => {
    let isOff = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // Timers know whole milliseconds: one that is cut off fires before its time, and is set again at once, and again.
    const fired = new Promise<void>((fire) => {
      const set = (left: number) => {
        const next = left > TIMER_MAX_MS ? () => set(left - TIMER_MAX_MS) : fire;
        timer = setTimeout(next, Math.min(Math.ceil(left), TIMER_MAX_MS));
      };
      set(ms);
    });
    // By a promise: a timer that a suite fakes fires outside the function that has set it, where no call is its own;
    // code after a promise goes on inside.
    void fired.then(() => {
      if (!isOff) run();
    });
    return () => {
      isOff = true;
      clearTimeout(timer);
    };
  },
  random: Math.random,
};

/** Waits for the end of the work, so long at most. */
export async function atMost(
  clock: Clock,
  ms: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => (cancel = clock.after(ms, resolve)));
  await Promise.race([work, late]);
  cancel();
}

/** Doubles from `min` to `max` with each time before, times a random half to whole. */
export function backoff(clock: Clock, times: number, min: number, max: number): number {
  const full = Math.min(max, min * 2 ** Math.min(times, 30));
  return full * (0.5 + clock.random() / 2);
}
