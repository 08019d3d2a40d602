/** Commit timestamps (`seq`) count nanoseconds since 1970; everything else here counts milliseconds. Pure. */

const NANOS_PER_MS = 1_000_000n;

/** The commit timestamp of this instant, in milliseconds: fractions of one are left out. */
export function commitTimeOf(ms: number): bigint {
  return BigInt(Math.floor(ms)) * NANOS_PER_MS;
}

/** When a commit was, in whole milliseconds. */
export function msOfCommit(seq: bigint): number {
  return Number(seq / NANOS_PER_MS);
}
