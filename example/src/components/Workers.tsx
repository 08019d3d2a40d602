/** The workers: each with its last beat and its jobs, and the lanes in which Convex works itself. */
import { useNow } from "../clock.js";
import {
  usePicture,
  usePictures,
  useTiles,
  useWorkers,
  type PictureId,
  type Tile,
  type WorkerRow,
} from "../data.js";
import { useOutOfReach } from "../useReach.js";
import { WorkerCard } from "./WorkerCard.js";

/** Workers that left longer ago, or fell silent with nothing in hand, are history. */
const REMEMBERED_MS = 10 * 60_000;

export function Workers({ selected }: { selected: string | null }) {
  const workers = useWorkers();
  // Without a backend there are no beats, and no worker is called silent for that.
  const now = useNow(!useOutOfReach());
  const newest = usePictures()?.[0];
  const named = usePicture(selected);
  const shown = (selected === null ? newest : named)?._id;
  const present = workers?.filter(
    ({ state, lastSeenAt }) => state === "working" || now - lastSeenAt < REMEMBERED_MS,
  );
  return (
    <section className="panel" aria-labelledby="workers-title">
      <h2 id="workers-title">Workers</h2>
      {present?.length === 0 && (
        <p className="empty">
          Nobody has taken a tile yet; workers show up here with their first. To start one more:{" "}
          <code>npx tsx example/worker/main.ts</code>.
        </p>
      )}
      {present !== undefined && present.length > 0 && shown === undefined && (
        <WorkerList workers={present} tiles={[]} now={now} />
      )}
      {present !== undefined && present.length > 0 && shown !== undefined && (
        <WorkersOn picture={shown} workers={present} now={now} />
      )}
    </section>
  );
}

/** Knows the shown picture's tiles, so that a worker's jobs can be named. The page has them anyway. */
function WorkersOn(props: { picture: PictureId; workers: readonly WorkerRow[]; now: number }) {
  const tiles = useTiles(props.picture);
  return <WorkerList workers={props.workers} tiles={tiles ?? []} now={props.now} />;
}

function WorkerList({
  workers,
  tiles,
  now,
}: {
  workers: readonly WorkerRow[];
  tiles: readonly Tile[];
  now: number;
}) {
  // By name: in order of the last beat, cards would change places every second.
  const sorted = [...workers].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return (
    <ul className="workers">
      {sorted.map((worker) => (
        <WorkerCard key={worker.session} worker={worker} tiles={tiles} now={now} />
      ))}
    </ul>
  );
}
