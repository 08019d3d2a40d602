/** One tile as a person sees it: the app's row and, while it is unfinished, its job put together. */
import { useTileJob, type Tile } from "./data.js";

export interface TileView {
  readonly state: "waiting" | "running" | "succeeded" | "failed" | "timedOut" | "canceled";
  readonly worker: string | undefined;
  /** 0 before the first. */
  readonly attempt: number;
  readonly percent: number;
  readonly error: string | undefined;
}

export const STATE_WORDS: Record<TileView["state"], string> = {
  waiting: "waiting",
  running: "being drawn",
  succeeded: "done",
  failed: "failed",
  timedOut: "timed out",
  canceled: "canceled",
};

export function useTileView(tile: Tile): TileView {
  const job = useTileJob(tile);
  const { status, worker, attempt = 0, error } = tile;
  if (status !== "unfinished") {
    return { state: status, worker, attempt, percent: status === "succeeded" ? 100 : 0, error };
  }
  const none = { worker: undefined, percent: 0, error: undefined };
  if (job?.status !== "running") return { state: "waiting", attempt: job?.attempt ?? 0, ...none };
  return {
    ...none,
    state: "running",
    worker: job.worker,
    attempt: job.attempt,
    percent: percentOf(job.progress),
  };
}

/** Progress is any value of a worker, and is checked first. */
function percentOf(progress: unknown): number {
  if (typeof progress !== "object" || progress === null || !("percent" in progress)) return 0;
  const percent = Number(progress.percent);
  return Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : 0;
}
