/** The tiles as a table: for screen readers, for phones, and for exact reading. */
import { useState } from "react";
import { duration } from "../clock.js";
import type { Tile } from "../data.js";
import { tileName } from "../tileNames.js";
import { STATE_WORDS, useTileView } from "../useTileView.js";
import { WorkerName } from "./WorkerName.js";

export function TileTable({ tiles }: { tiles: readonly Tile[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="tile-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Every tile in words</summary>
      {open && (
        <table>
          <thead>
            <tr>
              <th scope="col">Tile</th>
              <th scope="col">State</th>
              <th scope="col">Worker</th>
              <th scope="col">Attempt</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {tiles.map((tile) => (
              <TileRow key={tile._id} tile={tile} />
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

function TileRow({ tile }: { tile: Tile }) {
  const { state, worker, attempt, percent, error } = useTileView(tile);
  return (
    <tr>
      <th scope="row">{tileName(tile.region)}</th>
      <td className={`state-${state}`}>
        {STATE_WORDS[state]}
        {state === "running" && ` (${percent} %)`}
        {error !== undefined && <small>{error}</small>}
      </td>
      <td>{worker === undefined ? "–" : <WorkerName name={worker} />}</td>
      <td>{attempt === 0 ? "–" : attempt}</td>
      <td>{tile.computeMs === undefined ? "–" : duration(tile.computeMs)}</td>
    </tr>
  );
}
