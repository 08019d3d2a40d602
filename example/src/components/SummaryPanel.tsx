/** The picture's summary, which Convex itself writes once the last tile is there: its progress, and its text. */
import { duration, useNow } from "../clock.js";
import {
  usePicture,
  usePictures,
  useSummarizeAgain,
  useSummary,
  useTiles,
  type Picture,
  type Summary,
  type Tile,
} from "../data.js";
import { tileName } from "../tileNames.js";
import { OUT_OF_REACH_ID, useOutOfReach } from "../useReach.js";
import { useSummaryView, type SummaryView } from "../useSummaryView.js";
import { useTask } from "../useTask.js";

export function SummaryPanel({ selected }: { selected: string | null }) {
  const newest = usePictures()?.[0];
  const named = usePicture(selected);
  const picture = selected === null ? newest : named;
  if (!picture) return null;
  return (
    <section className="panel summary" aria-labelledby="summary-title">
      <h2 id="summary-title">Summary</h2>
      <SummaryOf key={picture._id} picture={picture} />
    </section>
  );
}

function SummaryOf({ picture }: { picture: Picture }) {
  const row = useSummary(picture._id);
  const view = useSummaryView(row);
  const tiles = useTiles(picture._id);
  if (row === undefined || tiles === undefined) return <p className="empty">…</p>;
  return (
    <>
      <p className={`summary-state summary-${view.state}`} role="status">
        {view.state === "backingOff" ? <BackingOff {...view} /> : stateInWords(view)}
      </p>
      {row?.summary !== undefined && <Said summary={row.summary} tiles={tiles} />}
      {view.failures.length > 0 && (
        <ul className="summary-failures" aria-label="Attempts that failed">
          {view.failures.map(({ attempt, error }) => (
            <li key={attempt}>
              <b>attempt {attempt}</b> {error}
            </li>
          ))}
        </ul>
      )}
      {view.state === "failed" && <Again picture={picture} />}
    </>
  );
}

/** Apart, so that its clock begins when the wait does. */
function BackingOff({ attempt, dueAt }: SummaryView) {
  const seconds = Math.round((dueAt - useNow(!useOutOfReach())) / 1_000);
  return `Attempt ${attempt} failed. Convex tries again ${seconds < 1 ? "now" : `in ${seconds} s`}.`;
}

function stateInWords({ state, attempt, lane }: SummaryView): string {
  switch (state) {
    case "none":
      return "Convex writes one by itself as soon as every tile is drawn.";
    case "running":
      return attempt > 1 ? `Being written, attempt ${attempt}…` : "Being written…";
    case "succeeded":
      return `Written by ${lane ?? "Convex"}${attempt > 1 ? `, attempt ${attempt}` : ""}.`;
    case "failed":
      return `Attempt ${attempt} failed, and it was the last.`;
    default:
      return "Every tile is drawn. Convex is about to begin.";
  }
}

function Said({ summary, tiles }: { summary: Summary; tiles: readonly Tile[] }) {
  const { colours, brightest, darkest, slowest, workers, computeMs } = summary;
  const rest = 1 - colours.reduce((sum, { share }) => sum + share, 0);
  const nameOf = (index: number) => {
    const tile = tiles.find((one) => one.index === index);
    return tile === undefined ? `tile ${index}` : tileName(tile.region);
  };
  return (
    <>
      <ul className="colours" aria-label="Colours that cover most of it">
        {colours.map(({ colour, share }) => (
          <li key={colour} style={{ flexGrow: 100 * share }}>
            <i style={{ background: colour }} aria-hidden="true" />
            <span className="visually-hidden">{colour} </span>
            {percent(share)}
          </li>
        ))}
        {rest >= 0.01 && (
          <li style={{ flexGrow: 100 * rest }}>
            <i className="rest" aria-hidden="true" />
            <span className="visually-hidden">others </span>
            {percent(rest)}
          </li>
        )}
      </ul>
      <dl className="said">
        <Fact word="Brightest">{nameOf(brightest)}</Fact>
        <Fact word="Darkest">{nameOf(darkest)}</Fact>
        <Fact word="Slowest">{nameOf(slowest)}</Fact>
        <Fact word="Drawn by">
          {workers === 1 ? "1 worker" : `${workers} workers`}, {duration(computeMs)}
        </Fact>
      </dl>
    </>
  );
}

function Fact({ word, children }: { word: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function percent(share: number): string {
  return share < 0.01 ? "<1 %" : `${Math.round(100 * share)} %`;
}

function Again({ picture }: { picture: Picture }) {
  const again = useTask(useSummarizeAgain());
  const outOfReach = useOutOfReach();
  return (
    <>
      <button
        type="button"
        disabled={again.busy || outOfReach}
        aria-describedby={outOfReach ? OUT_OF_REACH_ID : undefined}
        onClick={() => void again.run({ picture: picture._id })}
      >
        Summarize it again
      </button>
      {again.error !== undefined && (
        <p role="alert" className="problem">
          {again.error}
        </p>
      )}
    </>
  );
}
