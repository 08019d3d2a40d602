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
  /** A point at which other work may run, and that takes no time of its own. */
  pause(): Promise<void>;
  /**
   * Takes the time that a step of work takes on the platform, and is a point at which other work may run: every database
   * call of a function passes through one. On the wall clock the work itself has taken its time, so this is a `pause`.
   */
  spend(step: Step): Promise<void>;
  /**
   * JavaScript's own time for a piece of work, by the model, in milliseconds: charged against the limit of a function. It
   * passes in `spend`. Absent on the wall clock, where it is measured.
   */
  userTime?(of: UserWork): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** `length` bytes from the same source as `random`. */
  randomBytes(length: number): Uint8Array;
  /**
   * Passes on work that the machine does by itself, such as a digest on another thread. The moment of its end is not
   * under control, so a virtual clock stands still for it, and gives results back in the order in which they were asked
   * for.
   */
  outside<T>(work: Promise<T>): Promise<T>;
  /** The network, as actions see it. */
  fetch: typeof fetch;
}

export interface Timer {
  cancel(): void;
}

/** A function starts, or makes one system call. */
export type UserWork = "start" | "call";

/** A finished piece of work, for a clock that models how long it takes. */
export type Step =
  /**
   * Rows fetched at once: at most `wanted`, when that is known. Tombstones are the dead index entries that were passed to
   * find them. `isThere`: the transaction has them already, and nothing is fetched.
   */
  | {
      kind: "read";
      documents: number;
      bytes: number;
      tombstones: number;
      wanted?: number;
      isThere?: boolean;
    }
  | { kind: "write"; bytes: number }
  /** A commit on its way to the disk. */
  | { kind: "persist"; documents: number; bytes: number }
  /** A function begins in a context of its own; `nested` when another function called it. */
  | { kind: "context"; nested: boolean }
  /** The scheduler has found a function that is due, and starts it. */
  | { kind: "dispatch" }
  /** A permit that a function waited for changes hands. */
  | { kind: "permit" };

/** The wall clock, and the operating system's randomness. */
export const wallEnvironment: Environment = {
  now: fineNow,
  sleep: (ms) => new Promise((resolve) => startTimer(ms, resolve)),
  timer: startTimer,
  pause,
  spend: pause,
  random: () => Math.random(),
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  outside: (work) => work,
  fetch: (...args) => fetch(...args),
};

function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How far the fine clock may be from the system's before it is set right. */
const MAX_DRIFT_MS = 10;
let origin = performance.timeOrigin;

/** The fine clock stands still while the machine sleeps and does not follow when the system's clock is set. */
function fineNow(): number {
  const drift = Date.now() - (origin + performance.now());
  if (Math.abs(drift) > MAX_DRIFT_MS) origin += drift;
  return origin + performance.now();
}

/** Node's timers hold 31 bits, and a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer of any length: a longer time than one of Node's is waited for in pieces. */
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
