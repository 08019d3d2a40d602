/** The picture itself: one canvas for all pixels, so that tiles join without a seam, and a cell over each tile. */
import { useRef } from "react";
import type { Picture, Tile } from "../data.js";
import { columnName, gridOf, rowName } from "../tileNames.js";
import { Rule } from "./Rule.js";
import { TileCell } from "./TileCell.js";

export function Plate({ picture, tiles }: { picture: Picture; tiles: readonly Tile[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = picture.scene;
  const { columns, rows } = gridOf(picture.scene);
  const drawn = tiles.filter(({ status }) => status === "succeeded").length;
  return (
    <div className="plate">
      <Rule side="top" count={columns} nameOf={columnName} />
      <Rule side="left" count={rows} nameOf={rowName} />
      <div className="plate-image" style={{ aspectRatio: `${width} / ${height}` }}>
        <canvas
          ref={canvas}
          width={width}
          height={height}
          role="img"
          aria-label={`${picture.title}, ${drawn} of ${picture.tileCount} tiles drawn`}
        />
        <div className="cells" aria-hidden="true">
          {tiles.map((tile) => (
            <TileCell key={tile._id} tile={tile} scene={picture.scene} canvas={canvas} />
          ))}
        </div>
      </div>
    </div>
  );
}
