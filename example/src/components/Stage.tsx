/** The large view: the selected picture, or a text while there is none. */
import { usePicture, usePictures, useTiles, type Picture } from "../data.js";
import { Notice } from "./Notice.js";
import { PictureHead } from "./PictureHead.js";
import { Plate } from "./Plate.js";
import { TileTable } from "./TileTable.js";

/** Shows the selected picture; without a selection, the newest. */
export function Stage({ selected }: { selected: string | null }) {
  const pictures = usePictures();
  const named = usePicture(selected);
  const picture = selected === null ? pictures?.[0] : named;

  if (selected !== null && named === null) {
    return (
      <Notice title="There is no such picture">
        The address names one that this deployment does not have. Choose one below, or ask for a new
        one.
      </Notice>
    );
  }
  if (picture) return <PictureOnStage key={picture._id} picture={picture} />;
  if (pictures?.length === 0) return <EmptyStage />;
  return <section className="stage stage-loading" aria-busy="true" aria-label="Loading" />;
}

function PictureOnStage({ picture }: { picture: Picture }) {
  const tiles = useTiles(picture._id);
  return (
    <section className="stage" aria-labelledby="picture-title">
      <PictureHead picture={picture} tiles={tiles} />
      <Plate picture={picture} tiles={tiles ?? []} />
      {tiles !== undefined && <TileTable tiles={tiles} />}
    </section>
  );
}

function EmptyStage() {
  return (
    <section className="stage">
      <div className="plate-empty">
        <h2>Nothing on the bench yet</h2>
        <p>
          Ask for a picture. It is cut into tiles, each tile becomes a job, and the workers take
          them one by one.
        </p>
        <a className="button" href="#new-picture">
          Draw the first picture
        </a>
      </div>
    </section>
  );
}
