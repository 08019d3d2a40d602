/** The page's name, and the queue in numbers. */
import { Guard } from "./Guard.js";
import { QueueCounts } from "./QueueCounts.js";

export function Masthead() {
  return (
    <header className="masthead">
      <h1>
        Render farm <small>a Conveyor example</small>
      </h1>
      <Guard label="The queue">
        <QueueCounts />
      </Guard>
    </header>
  );
}
