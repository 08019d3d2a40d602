/** A job's payload, result and error. */
import type { JobStatus } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Panel } from "../parts/Panel.js";
import { ValueText } from "../parts/ValueText.js";
import { Failure } from "./Timeline.js";

export function Carried({ job, payload }: { job: JobStatus; payload: unknown }) {
  const labels = useLabels().job;
  const about = `${job.queue}/${job.id}`;
  return (
    <>
      <Panel title={labels.payload} of={about}>
        <ValueText value={payload} label={labels.payload} />
      </Panel>
      {job.status === "succeeded" && (
        <Panel title={labels.result} of={about}>
          <ValueText value={job.result} label={labels.result} />
        </Panel>
      )}
      {"error" in job && (
        <Panel title={labels.error} of={about}>
          <Failure text={job.error} />
        </Panel>
      )}
      {job.lastError !== undefined && (
        <Panel title={labels.lastError} of={about}>
          <Failure text={job.lastError} />
        </Panel>
      )}
    </>
  );
}
