/** A queue's configuration, with the source of each value. */
import type { QueueState } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Timed } from "../parts/Timed.js";
import { Ago } from "../parts/Times.js";
import { configRows } from "./configRows.js";

export function Configuration({ state }: { state: QueueState }) {
  const labels = useLabels();
  const words = labels.configuration;
  return (
    <>
      <p className="cv-soft">
        <Timed text={words.declared}>
          <Ago at={state.declaredAt} />
        </Timed>
      </p>
      <div className="cv-scroll" tabIndex={0} role="group" aria-label={words.table}>
        <table className="cv-table cv-config">
          <thead>
            <tr>
              <th scope="col">{words.setting}</th>
              <th scope="col">{words.value}</th>
              <th scope="col">{words.source}</th>
            </tr>
          </thead>
          <tbody>
            {configRows(state, labels).map(({ field, label, value, source, declared }) => (
              <tr key={field}>
                <th scope="row">
                  {label} <code className="cv-code cv-soft">{field}</code>
                </th>
                <td>{value}</td>
                <td>
                  <span className={source === "override" ? "cv-tag cv-tag-strong" : "cv-soft"}>
                    {words[source]}
                  </span>
                  {declared !== undefined && (
                    <span className="cv-soft"> {words.declaredValue(declared)}</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
