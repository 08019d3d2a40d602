/** What a job was given and what came of it. */
import type { JobStatus } from "../../shared/index.js";
import { Panel } from "../parts/Panel.js";
import { ValueText } from "../parts/ValueText.js";
import { Failure } from "./Timeline.js";

export function Carried({ job, payload }: { job: JobStatus; payload: unknown }) {
  const about = `${job.queue}/${job.id}`;
  return (
    <>
      <Panel title="Payload" of={about}>
        <ValueText value={payload} label="Payload" />
      </Panel>
      {job.status === "succeeded" && (
        <Panel title="Result" of={about}>
          <ValueText value={job.result} label="Result" />
        </Panel>
      )}
      {"error" in job && (
        <Panel title="Error" of={about}>
          <Failure text={job.error} />
        </Panel>
      )}
      {job.lastError !== undefined && (
        <Panel title="Last error" of={about}>
          <Failure text={job.lastError} />
        </Panel>
      )}
    </>
  );
}
