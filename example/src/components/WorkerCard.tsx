/** One worker: alive or silent, and which tiles it holds; or a lane, which is Convex itself at work. */
import { ago } from "../clock.js";
import type { Tile, WorkerRow } from "../data.js";
import { tileName } from "../tileNames.js";
import { WorkerName } from "./WorkerName.js";

/** Holding something and silent for longer than two heartbeats: worth a different word before the lease is over. */
const SILENT_AFTER_MS = 4_000;

/** A worker without jobs beats once per minute: two beats in a row are missing. */
const IDLE_SILENT_AFTER_MS = 150_000;

export function WorkerCard({
  worker,
  tiles,
  now,
}: {
  worker: WorkerRow;
  tiles: readonly Tile[];
  now: number;
}) {
  const mood = moodOf(worker, now);
  return (
    <li className={`worker worker-${mood}`}>
      <WorkerName name={worker.name} />
      <span className="mood">
        {mood === "working" && worker.isLane ? laneMood(worker) : MOODS[mood]}
      </span>
      <span className="beat">
        {mood === "working" && <i className="pulse" key={worker.lastSeenAt} aria-hidden="true" />}
        {worker.isLane ? "inside Convex" : `last beat ${ago(worker.lastSeenAt, now)}`}
      </span>
      <span className="holding">{holdingOf(worker, tiles)}</span>
    </li>
  );
}

type Mood = "working" | "ready" | "asleep" | "silent" | "gone";

const MOODS: Record<Mood, string> = {
  working: "drawing",
  ready: "ready",
  asleep: "asleep",
  silent: "silent",
  gone: "gone",
};

/** Before it sleeps it polls a few times for more. */
function laneMood({ holding }: WorkerRow): string {
  return holding.length > 0 ? "writing" : "awake";
}

export function moodOf({ state, lastSeenAt, isLane }: WorkerRow, now: number): Mood {
  // It has no beat: Convex knows by itself whether it runs.
  if (isLane) return state === "working" ? "working" : "asleep";
  if (state === "stopped") return "gone";
  const silence = now - lastSeenAt;
  if (state === "waiting" || state === "starting")
    return silence > IDLE_SILENT_AFTER_MS ? "silent" : "ready";
  return silence > SILENT_AFTER_MS ? "silent" : "working";
}

export function holdingOf({ holding }: WorkerRow, tiles: readonly Tile[]): string {
  if (holding.length === 0) return "holds nothing";
  const names = holding.map(({ id, queue, attempt }) => {
    if (queue !== "tiles") return "a summary";
    const tile = tiles.find(({ job }) => job === id);
    const name = tile === undefined ? "a tile of another picture" : tileName(tile.region);
    return attempt > 1 ? `${name} (attempt ${attempt})` : name;
  });
  return `holds ${[...new Set(names)].join(", ")}`;
}
