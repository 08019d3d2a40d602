/** The counts of a picture's tiles, made on the page: no row of the database is written by every tile. */
import type { Tile } from "./data.js";

export interface Tally {
  readonly total: number;
  readonly succeeded: number;
  readonly unfinished: number;
  /** Failed or timed out. */
  readonly failed: number;
  readonly canceled: number;
  readonly computeMs: number;
  /** Finished tiles by worker, most first. */
  readonly byWorker: readonly (readonly [worker: string, tiles: number])[];
}

export function tallyOf(tiles: readonly Tile[]): Tally {
  const byWorker = new Map<string, number>();
  let succeeded = 0;
  let unfinished = 0;
  let canceled = 0;
  let computeMs = 0;
  for (const tile of tiles) {
    if (tile.status === "unfinished") unfinished++;
    if (tile.status === "canceled") canceled++;
    if (tile.status !== "succeeded") continue;
    succeeded++;
    computeMs += tile.computeMs ?? 0;
    if (tile.worker !== undefined) {
      byWorker.set(tile.worker, (byWorker.get(tile.worker) ?? 0) + 1);
    }
  }
  return {
    total: tiles.length,
    succeeded,
    unfinished,
    failed: tiles.length - succeeded - unfinished - canceled,
    canceled,
    computeMs,
    byWorker: [...byWorker].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)),
  };
}
