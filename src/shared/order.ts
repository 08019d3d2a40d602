/**
 * The arithmetic of `jobs.order`: where a job lies in the index before its shard and commit. Pure.
 *
 * Whole numbers, never negative: a default priority written as `-priority` would be `-0`, which is another index key
 * than `0`, so that jobs of one path would be invisible to the other.
 */

export const PRIORITY_DEFAULT = 0;
export const PRIORITY_MIN = -10;
export const PRIORITY_MAX = 10;

/** `order` of every status that is ordered by commit alone. */
export const ORDER_BY_COMMIT = 0;

/** `order` of a pending job that is paused: behind every band, where no claim looks. */
export const ORDER_PAUSED = 1_000;

/**
 * The band of a pending job: higher priorities first, and within one priority returned jobs (reset, released) before new ones.
 * Returned jobs have a new `seq`, as every job that becomes claimable must, and keep their turn by the band.
 *
 * In a circular queue the first band of a priority is for items that have never completed a round, and the second for all
 * further ones: never worked first, then least recently worked.
 */
export function pendingOrder(returned: boolean, priority: number = PRIORITY_DEFAULT): number {
  if (!Number.isInteger(priority) || priority < PRIORITY_MIN || priority > PRIORITY_MAX) {
    throw new Error(
      `A priority is a whole number from ${PRIORITY_MIN} to ${PRIORITY_MAX}: ${priority}`,
    );
  }
  return 2 * (PRIORITY_MAX - priority) + (returned ? 0 : 1);
}

/** The bands of one priority, in the order in which they are claimed. */
export function bandsOf(priority: number): readonly [returned: number, fresh: number] {
  return [pendingOrder(true, priority), pendingOrder(false, priority)];
}
