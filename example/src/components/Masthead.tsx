/** The page's name, the queue in numbers, and the way to the dashboard. */
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
      <a href="dashboard.html">Dashboard</a>
    </header>
  );
}
