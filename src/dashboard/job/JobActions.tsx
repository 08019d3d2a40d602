/** The actions on a job in its status; an action that `authorize` refuses has no button. */
import { useId, useRef } from "react";
import type { DashboardJob } from "../../shared/index.js";
import { isFinished } from "../../shared/index.js";
import { useJobDeeds } from "../actions/useJobDeeds.js";
import { useLabels, useLinks } from "../frame/context.js";
import { AskingButton } from "../parts/Confirm.js";
import { queuePlace } from "../places.js";

export function JobActions({ shown: { job, may } }: { shown: DashboardJob }) {
  const { queue, id } = job;
  const labels = useLabels();
  const words = labels.jobActions;
  const title = job.name ?? labels.job.unnamed(id);
  const deeds = useJobDeeds({ queue, id, title });
  const { go } = useLinks();
  const isOver = isFinished(job.status);
  const isAsked = job.status === "running" && job.cancelRequestedAt !== undefined;
  return (
    <div className="cv-actions">
      {may.includes("retry") && isOver && (
        <AskingButton
          label={words.retry}
          title={words.retryQuestion(title)}
          verb={words.retry}
          onConfirm={() => void deeds.retry()}
        >
          <p>{words.retryText}</p>
        </AskingButton>
      )}
      {may.includes("cancel") && !isOver && !isAsked && (
        <CancelButton
          title={title}
          isRunning={job.status === "running"}
          onCancel={(reason) => void deeds.cancel(reason)}
        />
      )}
      {may.includes("delete") && (
        <AskingButton
          label={words.delete}
          title={words.deleteQuestion(title)}
          verb={words.delete}
          isGrave
          onConfirm={() => {
            // This page will be empty. A failure is reported on the list.
            go(queuePlace(queue, { filter: { status: job.status } }));
            void deeds.delete();
          }}
        >
          <p>
            {words.deleteText} {job.status === "running" && words.deleteRunning}
          </p>
        </AskingButton>
      )}
    </div>
  );
}

function CancelButton({
  title,
  isRunning,
  onCancel,
}: {
  title: string;
  isRunning: boolean;
  onCancel: (reason?: string) => void;
}) {
  const id = useId();
  const reason = useRef<HTMLInputElement>(null);
  const words = useLabels().jobActions;
  return (
    <AskingButton
      label={words.cancel}
      title={words.cancelQuestion(title)}
      verb={words.cancelVerb}
      isGrave
      onConfirm={() => onCancel(reason.current?.value.trim() || undefined)}
    >
      <p>{isRunning ? words.cancelRunning : words.cancelWaiting}</p>
      <div className="cv-field">
        <label htmlFor={id}>{words.reason}</label>
        <input ref={reason} id={id} className="cv-input" autoComplete="off" maxLength={200} />
      </div>
    </AskingButton>
  );
}
