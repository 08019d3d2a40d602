/** What can be done to all jobs that the filter means, each after a question. */
import type { ReactNode } from "react";
import type { ListFilter } from "../../shared/index.js";
import { useManyDeeds } from "../actions/useQueueDeeds.js";
import type { ShownQueue } from "../../shared/index.js";
import { AskingButton } from "../parts/Confirm.js";
import { meantBy, filterWords, possible, type ManyKind } from "./meant.js";

const WORDS: Readonly<Record<ManyKind, { verb: string; isGrave: boolean; means: ReactNode }>> = {
  cancelMany: {
    verb: "Cancel",
    isGrave: true,
    means: "Those that wait end at once; the workers of those that run are asked to stop.",
  },
  retryMany: {
    verb: "Retry",
    isGrave: false,
    means: "They become claimable again and get all their attempts anew.",
  },
  deleteMany: {
    verb: "Delete",
    isGrave: true,
    means:
      "With their payloads, results, logs and output. It cannot be undone, and nobody is told.",
  },
};

export function ManyActions({
  queue: { state, may },
  filter,
}: {
  queue: ShownQueue;
  filter: ListFilter;
}) {
  const deeds = useManyDeeds(state.name);
  const meant = meantBy(filter);
  const allowed = possible(filter).filter((kind) => may.includes(kind));
  if (allowed.length === 0) return null;
  if (meant === null) {
    return <p className="cv-soft">What is done to many jobs cannot be chosen by their worker.</p>;
  }
  const done = {
    cancelMany: deeds.cancelMany,
    retryMany: deeds.retryMany,
    deleteMany: deeds.deleteMany,
  };
  return (
    <div className="cv-actions">
      {allowed.map((kind) => {
        const { verb, isGrave, means } = WORDS[kind];
        return (
          <AskingButton
            key={kind}
            label={`${verb} all`}
            described={`${verb} all ${filterWords(filter, kind)}`}
            title={`${verb} all ${filterWords(filter, kind)}?`}
            verb={verb}
            isGrave={isGrave}
            onConfirm={() => void done[kind](meant)}
          >
            <p>{means}</p>
          </AskingButton>
        );
      })}
    </div>
  );
}
