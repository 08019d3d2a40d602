/** A picture's title, its progress, its workers, and its operations. */
import { duration } from "../clock.js";
import type { Picture, Tile } from "../data.js";
import { tallyOf, type Tally } from "../tally.js";
import { Announcer } from "./Announcer.js";
import { PictureActions } from "./PictureActions.js";
import { WorkerName } from "./WorkerName.js";

export function PictureHead({
  picture,
  tiles,
}: {
  picture: Picture;
  tiles: readonly Tile[] | undefined;
}) {
  const tally = tallyOf(tiles ?? []);
  return (
    <div className="picture-head">
      <div className="picture-words">
        <h2 id="picture-title">{picture.title}</h2>
        <p className="facts">{factsOf(picture, tally)}</p>
      </div>
      <PictureActions picture={picture} tally={tally} />
      <progress
        className={tally.failed > 0 ? "meter meter-failed" : "meter"}
        max={picture.tileCount}
        value={tally.succeeded}
        aria-label="Tiles drawn"
      />
      <p className="shares">
        <span>
          <b>{tally.succeeded}</b> of {picture.tileCount} tiles
        </span>
        {tally.byWorker.map(([worker, count]) => (
          <span key={worker}>
            <WorkerName name={worker} /> {count}
          </span>
        ))}
        {tally.canceled > 0 && <span className="canceled">{tally.canceled} canceled</span>}
        {tally.failed > 0 && <span className="wanting">{tally.failed} failed</span>}
      </p>
      {tiles !== undefined && <Announcer title={picture.title} tally={tally} />}
    </div>
  );
}

function factsOf({ scene }: Picture, { computeMs }: Tally): string {
  const set = scene.fractal.kind === "julia" ? "Julia set" : "Mandelbrot set";
  const samples = scene.samples ** 2;
  return [
    set,
    `${scene.width} × ${scene.height}`,
    `${samples} ${samples === 1 ? "sample" : "samples"} a pixel`,
    `up to ${scene.maxIterations} iterations`,
    ...(computeMs > 0 ? [`${duration(computeMs)} of arithmetic`] : []),
  ].join(" · ");
}
