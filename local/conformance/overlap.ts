/**
 * Finds out whether two transactions conflict, from outside and for certain.
 *
 * The first makes the case's reads, lets time pass, and commits; the second writes and commits meanwhile. Commit timestamps show
 * the order: if the first committed after the second, and its committed attempt had begun before that, the two overlapped and did
 * not conflict. If that attempt began after the second's commit, and the first took at least twice its holding time, an earlier
 * attempt of it was thrown away: they conflicted. In every other case they missed each other, on a slow machine for instance, and
 * are tried again with more time.
 */
import { expect } from "vitest";
import { api } from "./app/convex/_generated/api.js";
import type { Step } from "./app/convex/rows.js";
import { commitTs, newGroup } from "./case.js";
import type { Target } from "./target.js";

const FIRST_HOLD_MS = 90;
const TRIES = 6;

export interface Meeting {
  /** Rows that are there before, by their `n`. Steps name them by their place in this list. */
  rows?: number[];
  reads: Step[];
  writes: Step[];
}

export interface Met {
  conflicts: boolean;
  /** The results of the reading steps in the attempt that committed. */
  seen: unknown[];
  group: string;
}

export async function meet(target: Target, meeting: Meeting): Promise<Met> {
  for (let t = 0, ms = FIRST_HOLD_MS; t < TRIES; t++, ms *= 2) {
    const met = await meetOnce(target, meeting, ms);
    if (met !== null) return met;
  }
  throw new Error(`The two transactions missed each other ${TRIES} times.`);
}

async function meetOnce(target: Target, meeting: Meeting, ms: number): Promise<Met | null> {
  const { rows: ns = [], reads, writes } = meeting;
  const group = newGroup();
  const ids = await target.mutation(api.rows.seed, { group, ns });
  const sentAt = performance.now();
  const steps = [...reads, { op: "hold" as const, ms }];
  const first = target.mutation(api.rows.write, { group, ids, steps }).then((result) => ({
    ...result,
    tookMs: performance.now() - sentAt,
  }));
  // It is awaited below, and may fail before.
  first.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, ms / 3));
  const second = await target.mutation(api.rows.write, { group, ids, steps: writes });
  const { startedAt, tookMs, seen, ts: firstTs } = await first;
  const [ts, secondTs] = [commitTs(firstTs), commitTs(second.ts)];
  // Ends of the millisecond in which the attempt began.
  const [from, until] = [BigInt(startedAt) * 1_000_000n, BigInt(startedAt + 1) * 1_000_000n];
  const conflicts = from >= secondTs - 1_000_000n && tookMs >= 2 * ms;
  if (until <= secondTs && secondTs < ts) {
    return { conflicts: false, seen: seen, group };
  }
  return conflicts ? { conflicts, seen: seen, group } : null;
}

export async function conflicts(target: Target, meeting: Meeting): Promise<void> {
  expect(await meet(target, meeting)).toMatchObject({ conflicts: true });
}

export async function passes(target: Target, meeting: Meeting): Promise<void> {
  expect(await meet(target, meeting)).toMatchObject({ conflicts: false });
}
