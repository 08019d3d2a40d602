/**
 * The shard of a queue that each claimer reads first. Pure arithmetic: claimers need not agree on it, since a claimer with a
 * wrong rank only waits, or conflicts with another over a job that one of them gets.
 */

/**
 * The shards that the worker of this rank owns, among so many live workers: between them they own every shard.
 *
 * With fewer workers than shards the shards are dealt round; with more, several share one.
 */
export function ownShards(rank: number, workers: number, shards: number): number[] {
  if (workers >= shards) return [rank % shards];
  const own: number[] = [];
  for (let shard = rank % workers; shard < shards; shard += workers) own.push(shard);
  return own;
}

/** A worker's turn among the workers of the same shards: it is the `index`th of `sharers`. */
export interface Turn {
  index: number;
  sharers: number;
}

/** The turn of the worker of this rank. */
export function turnOf(rank: number, workers: number, shards: number): Turn {
  if (workers <= shards) return { index: 0, sharers: 1 };
  const shard = rank % shards;
  return {
    index: Math.floor(rank / shards),
    sharers: Math.floor((workers - 1 - shard) / shards) + 1,
  };
}

/**
 * Whether a job is first this worker's among the workers that share its shard. It goes by the job's id and not by its position,
 * which another worker sees differently a moment later: by position, two workers of a shard met at every second claim, and
 * sixteen claimers of eight shards ran out of retries.
 */
export function hasTurn(id: string, { index, sharers }: Turn): boolean {
  return stableHash(id) % sharers === index;
}

/** All other shards, from a random one on, so that two thieves seldom begin at the same door. */
export function foreignShards(own: readonly number[], shards: number, random: number): number[] {
  const start = Math.floor(random * shards);
  const foreign: number[] = [];
  for (let i = 0; i < shards; i += 1) {
    const shard = (start + i) % shards;
    if (!own.includes(shard)) foreign.push(shard);
  }
  return foreign;
}

/** A stable number for an id. FNV-1a, 32 bits. */
export function stableHash(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}
