/** Watches a picture's tiles, and its summary, as the page does: by subscription, without polling. */
import type { ConvexClient } from "convex/browser";
import type { FunctionArgs, FunctionReference, FunctionReturnType } from "convex/server";
import { api } from "../../convex/_generated/api.js";
import type { Id } from "../../convex/_generated/dataModel.js";

export type Tile = FunctionReturnType<typeof api.tiles.ofPicture>[number];

/** Resolves with the tiles as soon as they are as wanted. Rejects with how they stand when patience is over. */
export async function tilesThat(
  client: ConvexClient,
  picture: Id<"pictures">,
  enough: (tiles: readonly Tile[]) => boolean,
  patienceMs: number,
): Promise<readonly Tile[]> {
  return await valueThat(
    client,
    api.tiles.ofPicture,
    { picture },
    {
      enough: (tiles) => tiles.length > 0 && enough(tiles),
      standing: (tiles = []) => standing(tiles),
      patienceMs,
    },
  );
}

export type SummaryRow = NonNullable<FunctionReturnType<typeof api.summaries.ofPicture>>;

/** Resolves with the picture's summary once it has ended, well or badly. */
export async function summaryThatEnded(
  client: ConvexClient,
  picture: Id<"pictures">,
  patienceMs: number,
): Promise<SummaryRow> {
  const row = await valueThat(
    client,
    api.summaries.ofPicture,
    { picture },
    {
      enough: (row) => row !== null && row.status !== "unfinished",
      standing: (row) => `The summary: ${row?.status ?? "not asked for"}.`,
      patienceMs,
    },
  );
  return row!;
}

interface Wanted<Value> {
  enough: (value: Value) => boolean;
  /** The state, for the error after a wait in vain. */
  standing: (last: Value | undefined) => string;
  patienceMs: number;
}

async function valueThat<Query extends FunctionReference<"query">>(
  client: ConvexClient,
  query: Query,
  args: FunctionArgs<Query>,
  { enough, standing, patienceMs }: Wanted<FunctionReturnType<Query>>,
): Promise<FunctionReturnType<Query>> {
  let seen: FunctionReturnType<Query> | undefined;
  let stop = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const giveUp = () =>
        reject(new Error(`Gave up after ${patienceMs / 1000} s. ${standing(seen)}`));
      timer = setTimeout(giveUp, patienceMs);
      const look = (value: FunctionReturnType<Query>): void => {
        seen = value;
        if (enough(value)) resolve(value);
      };
      stop = client.onUpdate(query, args, look, reject);
    });
  } finally {
    clearTimeout(timer);
    stop();
  }
}

function standing(tiles: readonly Tile[]): string {
  const counts = new Map<string, number>();
  for (const { status } of tiles) counts.set(status, (counts.get(status) ?? 0) + 1);
  const words = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  return `The tiles: ${words || "none"}.`;
}
