/** The bulk actions on all jobs of the filter, each after a question. */
import type { ListFilter } from "../../shared/index.js";
import { useManyDeeds } from "../actions/useQueueDeeds.js";
import type { ShownQueue } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { JobsMeant } from "../labels.js";
import type { Labels } from "../labelOverrides.js";
import { AskingButton } from "../parts/Confirm.js";
import { meantBy, possible, type ManyKind } from "./meant.js";

export function ManyActions({
  queue: { state, may },
  filter,
}: {
  queue: ShownQueue;
  filter: ListFilter;
}) {
  const deeds = useManyDeeds(state.name);
  const labels = useLabels().bulk;
  const meant = meantBy(filter);
  const allowed = possible(filter).filter((kind) => may.includes(kind));
  if (allowed.length === 0) return null;
  if (meant === null) return <p className="cv-soft">{labels.noWorkerFilter}</p>;
  return (
    <div className="cv-actions">
      {allowed.map((action) => {
        const { text, ...words } = wordsOf(action, { ...filter, action }, labels);
        return (
          <AskingButton
            key={action}
            {...words}
            isGrave={action !== "retryMany"}
            onConfirm={() => void deeds[action](meant)}
          >
            <p>{text}</p>
          </AskingButton>
        );
      })}
    </div>
  );
}

function wordsOf(action: ManyKind, meant: JobsMeant, labels: Labels["bulk"]) {
  if (action === "cancelMany") {
    return {
      ...{ label: labels.cancelAll, described: labels.cancelMeant(meant), verb: labels.cancel },
      ...{ title: labels.cancelQuestion(meant), text: labels.cancelText },
    };
  }
  if (action === "retryMany") {
    return {
      ...{ label: labels.retryAll, described: labels.retryMeant(meant), verb: labels.retry },
      ...{ title: labels.retryQuestion(meant), text: labels.retryText },
    };
  }
  return {
    ...{ label: labels.deleteAll, described: labels.deleteMeant(meant), verb: labels.delete },
    ...{ title: labels.deleteQuestion(meant), text: labels.deleteText },
  };
}
