/** Names for tiles that people can point at: letters for rows, numbers for columns, as on a chessboard or a map. */
import { TILE_SIZE, type Region, type Scene } from "../convex/scene.js";

export function tileName({ x, y }: Pick<Region, "x" | "y">): string {
  return rowName(y / TILE_SIZE) + columnName(x / TILE_SIZE);
}

/** At most 16 rows: the letters suffice. */
export function rowName(row: number): string {
  return String.fromCharCode(65 + row);
}

export function columnName(column: number): string {
  return String(column + 1);
}

export function gridOf(scene: Pick<Scene, "width" | "height">): { columns: number; rows: number } {
  return {
    columns: Math.ceil(scene.width / TILE_SIZE),
    rows: Math.ceil(scene.height / TILE_SIZE),
  };
}
