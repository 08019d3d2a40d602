/** What the charts show, as a table: for those who cannot see them, and for those who want the figures. */
import { useState } from "react";
import type { Percentiles, Stats } from "../../shared/index.js";
import { duration, numeral } from "../words.js";
import { titleOf } from "./series.js";

const COLUMNS = ["Enqueued", "Started", "Succeeded", "Failed", "Timed out", "Canceled"];

export function PeriodTable({ stats }: { stats: Stats }) {
  // Sixty rows of nine are not written for nobody.
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="cv-details" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>The figures as a table</summary>
      {isOpen && <Figures stats={stats} />}
    </details>
  );
}

function Figures({ stats: { per, periods } }: { stats: Stats }) {
  return (
    <div className="cv-scroll" tabIndex={0} role="group" aria-label={`Figures of each ${per}`}>
      <table className="cv-table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">Waited, p50 / p95 / p99</th>
            <th scope="col">Ran, p50 / p95 / p99</th>
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

const threeOf = (of: Percentiles | null) =>
  of === null ? "–" : `${duration(of.p50)} / ${duration(of.p95)} / ${duration(of.p99)}`;
