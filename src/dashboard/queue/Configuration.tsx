/** How a queue is configured, and where each value comes from. */
import type { QueueState } from "../../shared/index.js";
import { Ago } from "../parts/Times.js";
import { configRows, type ConfigRow } from "./configRows.js";

const SOURCES: Readonly<Record<ConfigRow["source"], string>> = {
  override: "Changed at run time",
  code: "Code",
  default: "Default",
};

export function Configuration({ state }: { state: QueueState }) {
  return (
    <>
      <p className="cv-soft">
        As code declared it <Ago at={state.declaredAt} />, and as people changed it since.
      </p>
      <div className="cv-scroll" tabIndex={0} role="group" aria-label="Configuration in force">
        <table className="cv-table cv-config">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">In force</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {configRows(state).map(({ field, label, value, source, declared }) => (
              <tr key={field}>
                <th scope="row">
                  {label} <code className="cv-code cv-soft">{field}</code>
                </th>
                <td>{value}</td>
                <td>
                  <span className={source === "override" ? "cv-tag cv-tag-strong" : "cv-soft"}>
                    {SOURCES[source]}
                  </span>
                  {declared !== undefined && <span className="cv-soft"> code says {declared}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
