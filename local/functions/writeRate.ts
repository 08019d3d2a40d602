/**
 * How fast a deployment may write: the bytes of all commits of the last second, documents and index entries of system
 * tables included. Checked when a mutation begins, and only then: a mutation that has begun may commit, however much it
 * writes, so a window can go over by the commits under way. There is no other burst.
 */
import type { Database } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { PlatformError } from "./errors.js";
import { WRITE_RATE_WINDOW_MS } from "./limits.js";

export interface WriteRate {
  /** Throws `TooManyWritesError` while the last second has had more than the limit. */
  check(): void;
  close(): void;
}

export function createWriteRate(
  env: Environment,
  database: Database,
  bytesPerSecond: number,
): WriteRate {
  const limit = (bytesPerSecond * WRITE_RATE_WINDOW_MS) / 1000;
  /** In the order of time; entries before `first` have left the window. */
  let window: { at: number; bytes: number }[] = [];
  let total = 0;
  /** After the clock was set back, the age of the entries is not known. */
  const forgetFuture = () => {
    if ((window.at(-1)?.at ?? -Infinity) > env.now()) [window, total] = [[], 0];
  };
  const forget = () => {
    const horizon = env.now() - WRITE_RATE_WINDOW_MS;
    let left = 0;
    while (left < window.length && window[left]!.at < horizon) total -= window[left++]!.bytes;
    if (left > 0) window = window.slice(left);
  };
  const stop = database.onPublish(({ bytes }) => {
    forgetFuture();
    window.push({ at: env.now(), bytes });
    total += bytes;
    // So that a deployment that only its scheduler writes to, say, does not keep a day of them.
    if (window.length % FORGET_EVERY === 0) forget();
  });
  return {
    check() {
      if (total <= limit) return;
      forgetFuture();
      forget();
      if (total > limit) throw new TooManyWritesError(bytesPerSecond);
    },
    close: stop,
  };
}

/** Dropping from the front of a list costs its length, so it is done for many at once. */
const FORGET_EVERY = 256;

export class TooManyWritesError extends PlatformError {
  constructor(bytesPerSecond: number) {
    super(
      429,
      "TooManyWrites",
      `Too many writes per second. Your deployment is limited to ${amount(bytesPerSecond)} written per second, ` +
        `index entries and the system's own rows included. Write less at once, or use a larger deployment class.`,
    );
  }
}

function amount(bytes: number): string {
  const mib = bytes / (1 << 20);
  return mib >= 0.1 ? `${Number(mib.toFixed(1))} MiB` : `${bytes} bytes`;
}
