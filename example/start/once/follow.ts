/** Watches a picture's tiles as the page does: by subscription, without polling. */
import type { ConvexClient } from "convex/browser";
import type { FunctionReturnType } from "convex/server";
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
  let seen: readonly Tile[] = [];
  let stop = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(standing(seen, patienceMs))), patienceMs);
      const look = (tiles: readonly Tile[]): void => {
        seen = tiles;
        if (tiles.length > 0 && enough(tiles)) resolve(tiles);
      };
      stop = client.onUpdate(api.tiles.ofPicture, { picture }, look, reject);
    });
  } finally {
    clearTimeout(timer);
    stop();
  }
}

function standing(tiles: readonly Tile[], patienceMs: number): string {
  const counts = new Map<string, number>();
  for (const { status } of tiles) counts.set(status, (counts.get(status) ?? 0) + 1);
  const words = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  return `Gave up after ${patienceMs / 1000} s. The tiles: ${words || "none"}.`;
}
