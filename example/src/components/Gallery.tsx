/** The newest pictures, small. */
import { usePictures } from "../data.js";
import { Thumbnail } from "./Thumbnail.js";

export function Gallery({
  selected,
  onSelect,
}: {
  selected: string | null;
  onSelect: (picture: string) => void;
}) {
  const pictures = usePictures();
  if (pictures === undefined || pictures.length === 0) return null;
  const current = selected ?? pictures[0]?._id;
  return (
    <section className="gallery" aria-labelledby="gallery-title">
      <h2 id="gallery-title">Pictures</h2>
      <ul>
        {pictures.map((picture) => (
          <li key={picture._id}>
            <Thumbnail
              picture={picture}
              current={picture._id === current}
              onSelect={() => onSelect(picture._id)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}
