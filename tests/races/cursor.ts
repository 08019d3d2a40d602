/**
 * The string that travels with claims, parsed by code of its own: a check of the component must not use the component's parser.
 */
export interface Bound {
  order: number;
  shard: number;
  seq: bigint;
  creationTime: number;
}

/** By queue its epoch, then its bounds, equal ones together. */
type Wire = Record<string, [epoch: number, ...alike: Alike[]]>;
type Alike = [seq: string, creationTime: number, ...places: [order: number, ...shards: number[]][]];

export function boundsIn(cursor: string): [queue: string, bounds: Bound[]][] {
  // Bounds for some groups or budgets only stand under names that no queue has.
  const ofQueues = Object.entries(JSON.parse(cursor) as Wire).filter(([name]) => name[0] !== "#");
  return ofQueues.map(([queue, [, ...alike]]) => [
    queue,
    alike.flatMap(([seq, creationTime, ...places]) =>
      places.flatMap(([order, ...shards]) =>
        shards.map((shard) => ({ order, shard, seq: BigInt(seq), creationTime })),
      ),
    ),
  ]);
}
