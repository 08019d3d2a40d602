/** The end of each tile, put together from the app's rows and their jobs. */
import { jobCalls } from "convex-conveyor";
import type { ConvexClient } from "convex/browser";
import { api } from "../../convex/_generated/api.js";
import type { Doc, Id } from "../../convex/_generated/dataModel.js";
import type { Tile } from "./follow.js";

export interface TileRun {
  readonly tile: Tile;
  readonly jobStatus: string;
  readonly attempt: number;
  readonly worker: string;
  /** From the enqueue to the start of the attempt that succeeded. */
  readonly waitMs: number;
  readonly runMs: number;
}

export interface Run {
  readonly picture: Doc<"pictures">;
  readonly tiles: readonly TileRun[];
}

export async function readRun(client: ConvexClient, id: Id<"pictures">): Promise<Run> {
  const picture = await client.query(api.pictures.get, { picture: id });
  if (picture === null) throw new Error("The picture is gone.");
  const rows = await client.query(api.tiles.ofPicture, { picture: id });
  return { picture, tiles: await Promise.all(rows.map((tile) => readTile(client, tile))) };
}

async function readTile(client: ConvexClient, tile: Tile): Promise<TileRun> {
  const job = await client.query(...jobCalls(api.jobs).status(tile.job));
  if (job === null) throw new Error(`The job of tile ${tile.index} is gone.`);
  const { status: jobStatus, attempt, enqueuedAt } = job;
  const none = { worker: "–", waitMs: NaN, runMs: NaN };
  if (job.status !== "succeeded") return { tile, jobStatus, attempt, ...none };
  const { worker, startedAt, finishedAt } = job;
  const waitMs = startedAt - enqueuedAt;
  return { tile, jobStatus, attempt, worker, waitMs, runMs: finishedAt - startedAt };
}
