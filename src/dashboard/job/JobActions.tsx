/** What can be done to a job as it stands; what the reader may not do is not there. */
import { useId, useRef } from "react";
import type { DashboardJob } from "../../shared/index.js";
import { isFinished } from "../../shared/index.js";
import { useJobDeeds } from "../actions/useJobDeeds.js";
import { useLinks } from "../frame/context.js";
import { AskingButton } from "../parts/Confirm.js";
import { queuePlace } from "../places.js";

export function JobActions({ shown: { job, may } }: { shown: DashboardJob }) {
  const { queue, id } = job;
  const title = job.name ?? `Job ${id}`;
  const deeds = useJobDeeds({ queue, id, title });
  const { go } = useLinks();
  const isOver = isFinished(job.status);
  const isAsked = job.status === "running" && job.cancelRequestedAt !== undefined;
  return (
    <div className="cv-actions">
      {may.includes("retry") && isOver && (
        <AskingButton
          label="Retry"
          title={`Retry ${title}?`}
          verb="Retry"
          onConfirm={() => void deeds.retry()}
        >
          <p>It becomes claimable again, with all its attempts anew. Its result or error goes.</p>
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
          label="Delete"
          title={`Delete ${title}?`}
          verb="Delete"
          isGrave
          onConfirm={() => {
            // There will be nothing here. If it fails, it is said there.
            go(queuePlace(queue, { filter: { status: job.status } }));
            void deeds.delete();
          }}
        >
          <p>
            With its payload, result, log and output. It cannot be undone, and nobody is told.
            {job.status === "running" && " Its worker is asked to stop."}
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
  return (
    <AskingButton
      label="Cancel"
      title={`Cancel ${title}?`}
      verb="Cancel the job"
      isGrave
      onConfirm={() => onCancel(reason.current?.value.trim() || undefined)}
    >
      <p>
        {isRunning ? "Its worker is asked to stop." : "It ends at once. A retry brings it back."}
      </p>
      <div className="cv-field">
        <label htmlFor={id}>Why (if you like)</label>
        <input ref={reason} id={id} className="cv-input" autoComplete="off" maxLength={200} />
      </div>
    </AskingButton>
  );
}
