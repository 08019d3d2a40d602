/**
 * The one door through which time, randomness and waiting come into the local backend.
 *
 * On the wall clock (`wallEnvironment`) the backend is a server. Given another implementation, a virtual clock with a
 * seed, the same engine is a simulator. So nothing else under `local/` may call `Date.now`, `Math.random`,
 * `crypto.getRandomValues`, `setTimeout` or `setImmediate`.
 */
export interface Environment {
  /** Milliseconds since the epoch, with a fraction. */
  now(): number;
  /** Resolves after at least `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Calls `run` once after at least `ms` milliseconds, unless canceled. */
  timer(ms: number, run: () => void): Timer;
  /** A point at which other work may run: every database call of a function passes through one. */
  pause(): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
  /** `length` bytes from the same source as `random`. */
  randomBytes(length: number): Uint8Array;
}

export interface Timer {
  cancel(): void;
}

/** The wall clock, and the operating system's randomness. */
export const wallEnvironment: Environment = {
  now: fineNow,
  sleep: (ms) => new Promise((resolve) => startTimer(ms, resolve)),
  timer: startTimer,
  pause: () => new Promise((resolve) => setImmediate(resolve)),
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

/** How far the fine clock may be from the system's before it is set right. */
const MAX_DRIFT_MS = 10;
let origin = performance.timeOrigin;

/** The fine clock stands still while the machine sleeps and does not hear of it when the system's clock is set. */
function fineNow(): number {
  const drift = Date.now() - (origin + performance.now());
  if (Math.abs(drift) > MAX_DRIFT_MS) origin += drift;
  return origin + performance.now();
}

/** Node's timers hold 31 bits, and a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer of any length: what does not fit into one of Node's is waited for in pieces. */
function startTimer(ms: number, run: () => void): Timer {
  let handle: NodeJS.Timeout;
  const wait = (left: number) => {
    handle = setTimeout(
      () => (left > MAX_TIMER_MS ? wait(left - MAX_TIMER_MS) : run()),
      Math.min(left, MAX_TIMER_MS),
    );
  };
  wait(ms);
  return { cancel: () => clearTimeout(handle) };
}
