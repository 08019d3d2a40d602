/**
 * The cost of serving many queues for workers outside of Convex under light load, as counts in virtual time: twelve jobs per
 * second in all. Never as times.
 */
import { describe, expect, test } from "vitest";
import { counts } from "../../local/counts.js";
import { count } from "../../bench/figures/count.js";
import { play } from "../../bench/play.js";
import { conflictsOf, ofMany } from "../../bench/scenarios/workersOfManyQueues.js";

const SECONDS = counts(8, 12);
const SEEDS = counts([1], [1, 2, 3]);

async function playPair(queues: number, workers: number, seed: number, filled = queues) {
  const one = ofMany(queues, workers, { seconds: SECONDS, filled });
  const played = await play("many", one, { seed });
  const { documentsRead, bytesRead, documentsReadBehind, bytesReadBehind } = count(
    "many",
    one,
    played,
  );
  return {
    conflicts: conflictsOf(played),
    refused: [...played.workers.errors, ...played.told.errors],
    lost: played.lost,
    again: played.watched.again,
    // Upkeep depends on the number of queues in which jobs have ended.
    documents: documentsRead - documentsReadBehind,
    bytes: bytesRead - bytesReadBehind,
  };
}

const FLEETS = [
  [1, 8],
  [12, 8],
  [12, 2],
] as const;

describe.each(FLEETS.slice(0, counts(1, 3)))("%i queues and %i workers", (queues, workers) => {
  test("conflict at 2 in 100 jobs at most; each job is done once, and no call is refused", async () => {
    const conflicts: number[] = [];
    for (const seed of SEEDS) {
      const { refused, lost, again, ...played } = await playPair(queues, workers, seed);
      expect({ refused, lost, again }).toEqual({ refused: [], lost: 0, again: 0 });
      conflicts.push(played.conflicts);
    }
    expect(conflicts.reduce((sum, one) => sum + one, 0) / SEEDS.length).toBeLessThanOrEqual(2);
  });
});

test("a job costs the same to read, however many empty queues its workers serve besides", async () => {
  const one = await playPair(1, 4, 1);
  const many = await playPair(30, 4, 1, 1);
  expect(many.documents).toBeLessThanOrEqual(one.documents * 1.1);
  // Each worker's row names the queues that it serves.
  expect(many.bytes).toBeLessThanOrEqual(one.bytes * 1.3);
});
