/** When leases end, and when the janitor has to check them. Pure. */
import { IDLE_GRID_MS, LEASE_GRID_MAX_MS, LEASE_GRID_PART } from "./limits.js";
import { LANE_WATCH_MS } from "./pushLimits.js";
/** The part of a session's lease that says when it ends. */
interface HeldLease {
  leaseMs?: number;
  graceMs?: number;
  timeoutAt?: number;
}

/** When a session that was last seen then is lost, with all its leases: with the shortest of them, and its grace. */
export function lostAt(leases: readonly HeldLease[], seenAt: number): number {
  return (
    seenAt +
    Math.min(...leases.map(({ leaseMs = LANE_WATCH_MS, graceMs = 0 }) => leaseMs + graceMs))
  );
}

/**
 * When the janitor has to check these leases: one of their attempts may have run long enough before they are lost. Rounded up,
 * so that leases which end together are found together. The exact times decide which leases have ended.
 *
 * A session that is checked at `known` anyhow is checked then still, as long as half of the time is left. A check that comes
 * too early finds no lost lease, and writes the exact time. Each new time leaves a dead entry in the index, and a sweep passes
 * all of the last four minutes. Of 16 workers with jobs of a second these were 1,160, two for each worker and second. With
 * leases of a minute they are two for each minute.
 */
export function expiry(leases: readonly HeldLease[], seenAt: number, known?: number): number {
  if (leases.length === 0) return roundUp(seenAt, IDLE_GRID_MS);
  const lost = lostAt(leases, seenAt);
  const grid = Math.min(LEASE_GRID_MAX_MS, Math.floor((lost - seenAt) / LEASE_GRID_PART));
  const at = Math.min(roundUp(lost, grid), firstTimeout(leases));
  const isKept = known !== undefined && known <= at && known - seenAt >= (at - seenAt) / 2;
  return isKept ? known : at;
}

/** When the first of these attempts has run long enough; `Infinity` where none is bounded. */
export function firstTimeout(leases: readonly HeldLease[]): number {
  return Math.min(...leases.map(({ timeoutAt }) => timeoutAt ?? Number.POSITIVE_INFINITY));
}

export function roundUp(instant: number, grid: number): number {
  return Math.ceil(instant / grid) * grid;
}
