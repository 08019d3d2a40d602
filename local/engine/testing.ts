/**
 * What the engine's tests share: an environment whose time is virtual and whose interleaving is drawn from a seed, so
 * that a race that was seen once is seen every time; and transactions that retry as the platform's callers do.
 */
import type { Environment, Timer } from "../environment.js";
import { ConflictError } from "./conflict.js";
import type { Database, Doc, IndexRange, RangeBound, Transaction, Ts } from "./types.js";

/** 2026-01-01: far from zero, as real timestamps are. */
const START_MS = 1_767_225_600_000;
/** More attempts than any test needs: a livelock fails instead of hanging. */
const MAX_ATTEMPTS = 1000;

interface Waiting {
  at: number;
  resume: () => void;
}

/**
 * Whoever pauses waits until it is drawn, among all who are due; when nobody is due, time jumps to whoever is next.
 * Between two draws everything that can run has run.
 */
export function seededEnvironment(seed: number): Environment {
  const draw = generator(seed);
  const random = generator(seed ^ 0x5eed);
  let now = START_MS;
  let waiting: Waiting[] = [];
  let running = false;

  const step = () => {
    running = waiting.length > 0;
    // With nobody waiting, time stands still.
    if (!running) return;
    const soonest = waiting.reduce((least, { at }) => Math.min(least, at), Infinity);
    now = Math.max(now, soonest);
    const due = waiting.filter(({ at }) => at <= now);
    const next = due[Math.floor(draw() * due.length)]!;
    waiting = waiting.filter((one) => one !== next);
    next.resume();
    setImmediate(step);
  };
  const wait = (ms: number, resume: () => void): Timer => {
    const one = { at: now + ms, resume };
    waiting.push(one);
    if (!running) setImmediate(step);
    running = true;
    return { cancel: () => (waiting = waiting.filter((other) => other !== one)) };
  };
  const sleep = (ms: number) => new Promise<void>((resolve) => wait(ms, resolve));
  return {
    now: () => now,
    sleep,
    timer: wait,
    pause: () => sleep(0),
    spend: () => sleep(0),
    random,
    randomBytes: (length) => Uint8Array.from({ length }, () => Math.floor(random() * 256)),
  };
}

/** Mulberry32 (Tommy Ettinger, public domain): 32 bits of state, enough to tell runs apart. */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs a transaction until it commits, each time on a new snapshot. */
export async function transact<T>(
  database: Database,
  source: string,
  run: (transaction: Transaction) => Promise<T>,
): Promise<{ value: T; ts: Ts; conflicts: number }> {
  for (let conflicts = 0; conflicts < MAX_ATTEMPTS; conflicts++) {
    const transaction = database.begin();
    const value = await run(transaction);
    try {
      return { value, ts: await database.commit(transaction, source), conflicts };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await database.published(error.conflict.ts);
    }
  }
  throw new Error(`"${source}" has lost to others ${MAX_ATTEMPTS} times.`);
}

export function range(
  table: string,
  index: string,
  bounds: RangeBound[] = [],
  order: "asc" | "desc" = "asc",
): IndexRange {
  return { table, index, range: bounds, order };
}

/** The first `n` rows of a range, read as `take(n)` does: without asking for one more. */
export async function take(transaction: Transaction, where: IndexRange, n: number): Promise<Doc[]> {
  const rows: Doc[] = [];
  if (n === 0) return rows;
  for await (const doc of transaction.stream("", where)) {
    rows.push(doc);
    if (rows.length === n) break;
  }
  return rows;
}

export function collect(transaction: Transaction, where: IndexRange): Promise<Doc[]> {
  return take(transaction, where, Infinity);
}
