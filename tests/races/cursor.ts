/** The string that travels with claims, read by itself: what checks the component must not take its word for it. */
export interface Bound {
  order: number;
  shard: number;
  seq: bigint;
  creationTime: number;
}

/** By queue its epoch, then its bounds, those that are alike together. */
type Wire = Record<string, [epoch: number, ...alike: Alike[]]>;
type Alike = [seq: string, creationTime: number, ...places: [order: number, ...shards: number[]][]];

export function boundsIn(cursor: string): [queue: string, bounds: Bound[]][] {
  // What holds for some groups or budgets only stands under names that no queue has.
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
