/** Checks that all is as promised, and reports each deviation; it does not stop at the first. */
import type { ConvexClient } from "convex/browser";
import { api } from "../../convex/_generated/api.js";
import type { Scene } from "../../convex/scene.js";
import { tileName } from "../../src/tileNames.js";
import { renderTile } from "../../worker/renderTile.js";
import type { SummaryRow } from "./follow.js";
import type { Held } from "./kill.js";
import type { Run, TileRun } from "./run.js";

export async function shortcomingsOf(
  client: ConvexClient,
  { picture, tiles }: Run,
  held: readonly Held[],
  victim: string,
): Promise<string[]> {
  const found: string[] = [];
  if (tiles.length !== picture.tileCount) {
    found.push(`${picture.tileCount} tiles were asked for, ${tiles.length} are there.`);
  }
  for (const run of tiles) {
    found.push(...(await shortcomingsOfTile(client, picture.scene, run)));
  }
  let anew = 0;
  for (const { id, attempt } of held) {
    const run = tiles.find(({ tile }) => tile.job === id);
    if (run === undefined) found.push(`A job that ${victim} held is of no tile of this picture.`);
    else if (wasReported(run, attempt, victim)) continue;
    else {
      anew += 1;
      found.push(...shortcomingsOfHeld(run, attempt, victim));
    }
  }
  if (anew === 0) found.push(`Nothing that ${victim} held when it was killed was drawn anew.`);
  return found;
}

/** On a busy machine a report may have been on its way for longer than the wait: then the tile was never lost. */
function wasReported(run: TileRun, attempt: number, victim: string): boolean {
  return run.attempt === attempt && run.worker === victim;
}

async function shortcomingsOfTile(
  client: ConvexClient,
  scene: Scene,
  { tile, jobStatus }: TileRun,
): Promise<string[]> {
  const name = tileName(tile.region);
  if (tile.status !== "succeeded")
    return [`${name} is ${tile.status}: ${tile.error ?? "no reason"}.`];
  if (jobStatus !== "succeeded") return [`${name} is drawn, but its job is ${jobStatus}.`];
  const pixels = await client.query(api.tiles.pixels, { tile: tile._id });
  if (pixels === null) return [`${name} is done, but its pixels are not there.`];
  const expected = tile.region.width * tile.region.height * 3;
  if (pixels.byteLength !== expected) {
    return [`${name} has ${pixels.byteLength} bytes of pixels instead of ${expected}.`];
  }
  // Drawing every tile again would cost as much as the picture. A coarse diagonal of them is enough to see a mix-up.
  if (tile.index % 11 === 0 && !Buffer.from(pixels).equals(draw(scene, tile.region))) {
    return [`${name} has other pixels than the same tile drawn here.`];
  }
  return [];
}

function shortcomingsOfHeld(run: TileRun, attempt: number, victim: string): string[] {
  const name = tileName(run.tile.region);
  const found: string[] = [];
  if (run.attempt !== attempt + 1) {
    found.push(`${name} was held at attempt ${attempt} and ended at attempt ${run.attempt}.`);
  }
  if (run.worker === victim) found.push(`${name} counts as drawn by ${victim}, which was killed.`);
  return found;
}

/** It is of the whole picture: every tile's worker and time are in it. */
export function shortcomingsOfSummary({ status, error, summary }: SummaryRow, run: Run): string[] {
  if (summary === undefined) return [`The summary is ${status}: ${error ?? "no reason"}.`];
  const workers = new Set(run.tiles.map(({ worker }) => worker)).size;
  const computeMs = run.tiles.reduce((sum, { tile }) => sum + (tile.computeMs ?? 0), 0);
  const isWhole = summary.workers === workers && Math.abs(summary.computeMs - computeMs) < 1;
  if (isWhole && summary.colours.length > 0) return [];
  return [`The summary is of something else: ${JSON.stringify(summary)}.`];
}

function draw(scene: Scene, region: TileRun["tile"]["region"]): Buffer {
  const work = renderTile(scene, region);
  for (;;) {
    const next = work.next();
    if (next.done === true) return Buffer.from(next.value);
  }
}
