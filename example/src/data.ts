/**
 * Everything the page reads and does, as hooks: the only file of the page that knows how the functions are called.
 * Each hook that reads is `undefined` while it loads.
 */
import { useJob } from "convex-conveyor/react";
import { useConvexConnectionState, useMutation, useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { api } from "../convex/_generated/api.js";
import type { Doc, Id } from "../convex/_generated/dataModel.js";
import type { Summary } from "../convex/summary.js";

export type Picture = Doc<"pictures">;
export type PictureId = Id<"pictures">;
export type Tile = FunctionReturnType<typeof api.tiles.ofPicture>[number];
export type WorkerRow = FunctionReturnType<typeof api.queue.farm.workers>[number];
export type Change = NonNullable<FunctionReturnType<typeof api.pictures.change>>;
export type SummaryRow = Doc<"summaries">;
export type { Summary };
export type Counts = FunctionReturnType<typeof api.queue.farm.counts>;

export function usePictures(): Picture[] | undefined {
  return useQuery(api.pictures.list);
}

/** A picture that is not in the gallery any more can still be shown: its address names it. */
export function usePicture(picture: string | null): Picture | null | undefined {
  return useQuery(api.pictures.get, picture === null ? "skip" : { picture });
}

/** The cancel or retry that is under way for a picture, and how far it is; `null` if there is none. */
export function useChange(picture: PictureId): Change | null | undefined {
  return useQuery(api.pictures.change, { picture });
}

export function useTiles(picture: PictureId): Tile[] | undefined {
  return useQuery(api.tiles.ofPicture, { picture });
}

/** `null` while the tile has no pixels. Asks only for the pixels of finished tiles. */
export function usePixels(tile: Tile): ArrayBuffer | null | undefined {
  return useQuery(api.tiles.pixels, tile.status === "succeeded" ? { tile: tile._id } : "skip");
}

/**
 * The job of a tile that is not finished: its worker, and how far it is. A finished tile needs no job to say how it
 * ended.
 */
export function useTileJob(tile: Tile) {
  return useJob(api.jobs, tile.status === "unfinished" ? tile.job : "skip");
}

/** `null` while the picture has tiles that are not drawn: its summary has not been enqueued yet. */
export function useSummary(picture: PictureId): SummaryRow | null | undefined {
  return useQuery(api.summaries.ofPicture, { picture });
}

/** The job of a summary that is not there yet. */
export function useSummaryJob(row: SummaryRow | null | undefined) {
  return useJob(api.jobs, row?.status === "unfinished" ? row.job : "skip");
}

/** Its attempts, failed ones included. */
export function useSummaryAttempts(row: SummaryRow | null | undefined) {
  return useJob(api.jobs, row ? row.job : "skip", { attempts: true })?.attempts;
}

export function useSummarizeAgain() {
  return useMutation(api.summaries.again);
}

export function useWorkers(): WorkerRow[] | undefined {
  return useQuery(api.queue.farm.workers, {});
}

export function useCounts(): Counts | undefined {
  return useQuery(api.queue.farm.counts, {});
}

export function useCreatePicture() {
  return useMutation(api.pictures.create);
}

export function useCancelPicture() {
  return useMutation(api.pictures.cancel);
}

export function useRetryPicture() {
  return useMutation(api.pictures.retry);
}

/** Whether the backend is reached, and whether it ever was since the page was opened. */
export function useConnection(): { connected: boolean; everConnected: boolean } {
  const { isWebSocketConnected, hasEverConnected } = useConvexConnectionState();
  return { connected: isWebSocketConnected, everConnected: hasEverConnected };
}
