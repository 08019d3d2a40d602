/** The page: one picture large, and beside it the workers, the waiting tiles, and the form for the next. */
import { ConnectionBanner } from "./components/ConnectionBanner.js";
import { Gallery } from "./components/Gallery.js";
import { Guard } from "./components/Guard.js";
import { Masthead } from "./components/Masthead.js";
import { NewPicture } from "./components/NewPicture.js";
import { Stage } from "./components/Stage.js";
import { SummaryPanel } from "./components/SummaryPanel.js";
import { Workers } from "./components/Workers.js";
import { useSelection } from "./useSelection.js";

export function App() {
  const [selected, select] = useSelection();
  return (
    <>
      <ConnectionBanner />
      <Masthead />
      <main className="bench">
        <Guard label="The picture">
          <Stage selected={selected} />
        </Guard>
        <aside className="side">
          <Guard label="The workers">
            <Workers selected={selected} />
          </Guard>
          <Guard label="The summary">
            <SummaryPanel selected={selected} />
          </Guard>
          <NewPicture onCreated={select} />
        </aside>
        <Guard label="The gallery">
          <Gallery selected={selected} onSelect={select} />
        </Guard>
      </main>
    </>
  );
}
