/** The handler of the queue `tiles`: from a job's payload to its result. Knows nothing of leases or of the wire. */
import type { Job } from "convex-conveyor/worker";
import type { Region, Scene } from "../convex/scene.js";
import { previewOf } from "./preview.js";
import { renderTile } from "./renderTile.js";
import { runInSlices } from "./slices.js";

export type Tile = { scene: Scene; region: Region; fragile: boolean };

/** The part of its job that it needs. */
export type DrawJob = Pick<Job<"tiles", Tile>, "attempt" | "payload" | "signal" | "progress">;

export async function drawTile({
  payload: { scene, region, fragile },
  attempt,
  signal,
  progress,
}: DrawJob): Promise<{ rgb: ArrayBuffer; preview: ArrayBuffer; computeMs: number }> {
  // The page asks for it, to show a failure: only a first attempt fails, so that a retry heals it.
  if (fragile && attempt === 1) {
    throw new Error("This tile was asked to fail once. Retry it and it will be drawn.");
  }
  const { result, computeMs } = await runInSlices(renderTile(scene, region), {
    signal,
    onSlice: (rows) => progress({ percent: Math.round((100 * rows) / region.height) }),
  });
  return { rgb: result.buffer, preview: previewOf(result, region).buffer, computeMs };
}
