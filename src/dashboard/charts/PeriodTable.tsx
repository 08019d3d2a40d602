/** The data of the charts as a table, for screen readers and for exact figures. */
import { useState } from "react";
import type { Percentiles, Stats } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { Labels } from "../labelOverrides.js";
import { numeral } from "../words.js";
import { titleOf } from "./series.js";

const columnsOf = ({ statuses, charts }: Labels) => [
  charts.enqueued,
  charts.started,
  statuses.succeeded,
  statuses.failed,
  statuses.timedOut,
  statuses.canceled,
];

export function PeriodTable({ stats }: { stats: Stats }) {
  // A closed table has no rows: sixty rows of nine cells are slow to draw.
  const [isOpen, setIsOpen] = useState(false);
  const { table } = useLabels().charts;
  return (
    <details className="cv-details" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{table}</summary>
      {isOpen && <Figures stats={stats} />}
    </details>
  );
}

function Figures({ stats: { per, periods } }: { stats: Stats }) {
  const labels = useLabels();
  const { charts, times, page } = labels;
  const threeOf = (of: Percentiles | null) =>
    of === null ? page.none : [of.p50, of.p95, of.p99].map((ms) => times.duration(ms)).join(" / ");
  return (
    <div className="cv-scroll" tabIndex={0} role="group" aria-label={charts.tableOf(per)}>
      <table className="cv-table">
        <thead>
          <tr>
            <th scope="col">{charts.from}</th>
            {columnsOf(labels).map((name, n) => (
              <th key={n} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">{charts.latencyColumn}</th>
            <th scope="col">{charts.runTimeColumn}</th>
          </tr>
        </thead>
        <tbody>
          {periods.toReversed().map((period) => (
            <tr key={period.at}>
              <th scope="row">{titleOf(period.at, per)}</th>
              <td>{numeral(period.enqueued)}</td>
              <td>{numeral(period.started)}</td>
              <td>{numeral(period.succeeded)}</td>
              <td>{numeral(period.failed)}</td>
              <td>{numeral(period.timedOut)}</td>
              <td>{numeral(period.canceled)}</td>
              <td>{threeOf(period.waitMs)}</td>
              <td>{threeOf(period.runMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
