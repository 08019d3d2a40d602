/** One tile on the plate: its state while it is drawn, and its pixels once they are there. */
import { useEffect, useState, type CSSProperties, type RefObject } from "react";
import type { Scene } from "../../convex/scene.js";
import { usePixels, type Tile } from "../data.js";
import { toImageData } from "../pixels.js";
import { tileName } from "../tileNames.js";
import { STATE_WORDS, useTileView, type TileView } from "../useTileView.js";
import { workerColor } from "../workerColor.js";

interface Props {
  readonly tile: Tile;
  readonly scene: Scene;
  readonly canvas: RefObject<HTMLCanvasElement | null>;
}

export function TileCell({ tile, scene, canvas }: Props) {
  const view = useTileView(tile);
  const rgb = usePixels(tile);
  const { region } = tile;
  // Tiles that were done before this page opened are simply there; only tiles that arrive are worth a flash.
  const [watched] = useState(tile.status === "unfinished");

  useEffect(() => {
    if (!rgb) return;
    canvas.current?.getContext("2d")?.putImageData(toImageData(rgb, region), region.x, region.y);
  }, [canvas, rgb, region]);

  const arrived = view.state === "succeeded" && Boolean(rgb);
  return (
    <div
      className={`cell cell-${arrived ? "arrived" : view.state}${watched ? " cell-watched" : ""}`}
      style={{ ...placeOf(tile, scene), ...(view.worker ? workerColor(view.worker) : {}) }}
      title={titleOf(tile, view)}
    >
      {view.state === "running" && <i style={{ height: `${view.percent}%` }} />}
      {MARKS[view.state] !== undefined && <b>{MARKS[view.state]}</b>}
    </div>
  );
}

const MARKS: Partial<Record<TileView["state"], string>> = {
  failed: "!",
  timedOut: "?",
  canceled: "×",
};

function placeOf({ region }: Tile, scene: Scene): CSSProperties {
  return {
    left: `${(100 * region.x) / scene.width}%`,
    top: `${(100 * region.y) / scene.height}%`,
    width: `${(100 * region.width) / scene.width}%`,
    height: `${(100 * region.height) / scene.height}%`,
  };
}

function titleOf(tile: Tile, { state, worker, attempt, error }: TileView): string {
  return [
    `${tileName(tile.region)}: ${STATE_WORDS[state]}`,
    ...(worker ? [worker] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(error ? [error] : []),
  ].join(" · ");
}
