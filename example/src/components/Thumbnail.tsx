/** A picture in the gallery: the tiles' previews put together, and how many are there. */
import { useEffect, useRef } from "react";
import { PREVIEW_SIDE } from "../../convex/scene.js";
import { dayAndTime } from "../clock.js";
import { useTiles, type Picture } from "../data.js";
import { toImageData } from "../pixels.js";
import { tallyOf } from "../tally.js";
import { gridOf } from "../tileNames.js";

export function Thumbnail({
  picture,
  current,
  onSelect,
}: {
  picture: Picture;
  current: boolean;
  onSelect: () => void;
}) {
  const tiles = useTiles(picture._id);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { columns, rows } = gridOf(picture.scene);
  const { succeeded, failed, canceled } = tallyOf(tiles ?? []);

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    for (const { preview, index } of tiles ?? []) {
      if (preview === undefined) continue;
      const square = { width: PREVIEW_SIDE, height: PREVIEW_SIDE };
      const [x, y] = [index % columns, Math.floor(index / columns)];
      context?.putImageData(toImageData(preview, square), x * PREVIEW_SIDE, y * PREVIEW_SIDE);
    }
  }, [tiles, columns]);

  return (
    <button type="button" className="thumbnail" aria-current={current} onClick={onSelect}>
      <canvas
        ref={canvas}
        width={columns * PREVIEW_SIDE}
        height={rows * PREVIEW_SIDE}
        aria-hidden="true"
      />
      <span className="thumbnail-title">{picture.title}</span>
      <span className="thumbnail-facts">
        {picture.scene.width} × {picture.scene.height}
        <br />
        {dayAndTime(picture._creationTime)}
      </span>
      <span className="thumbnail-facts">
        {succeeded === picture.tileCount ? "complete" : `${succeeded} of ${picture.tileCount}`}
        {canceled > 0 && `, ${canceled} canceled`}
        {failed > 0 && <span className="wanting">, {failed} failed</span>}
      </span>
    </button>
  );
}
