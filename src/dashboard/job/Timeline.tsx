/** The events of a job, in the order of time. */
import type { AttemptStatus, JobStatus } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import { Icon } from "../parts/Icon.js";
import { Timed } from "../parts/Timed.js";
import { Moment, Took, Until } from "../parts/Times.js";
import { timelineOf, type Step } from "./steps.js";

export function Timeline({
  job,
  attempts,
}: {
  job: JobStatus;
  attempts: readonly AttemptStatus[];
}) {
  const labels = useLabels();
  return (
    <ol className="cv-timeline">
      {timelineOf(job, attempts, labels).map((step) => (
        <li key={step.key} className={`cv-step cv-is-${step.status}`}>
          <Icon name={step.status} />
          <div>
            <p className="cv-step-title">{step.title}</p>
            <p className="cv-soft">
              <When step={step} />
            </p>
            {step.error !== undefined && <Failure text={step.error} />}
          </div>
        </li>
      ))}
    </ol>
  );
}

function When({ step: { key, at, until, goesOn } }: { step: Step }) {
  const { soFar, took } = useLabels().timeline;
  if (at === undefined) return null;
  if (key === "due") {
    return (
      <>
        <Moment at={at} />, <Until at={at} />
      </>
    );
  }
  return (
    <>
      <Moment at={at} />
      {goesOn && (
        <>
          {", "}
          <Timed text={soFar}>
            <Took from={at} />
          </Timed>
        </>
      )}
      {until !== undefined && (
        <>
          {", "}
          <Timed text={took}>
            <Took from={at} to={until} />
          </Timed>
        </>
      )}
    </>
  );
}

/** The first line of an error; the further lines open on request. */
export function Failure({ text }: { text: string }) {
  const [first = "", ...rest] = text.split("\n");
  const { details } = useLabels().page;
  return (
    <div className="cv-failure">
      <p>{first}</p>
      {rest.length > 0 && (
        <details className="cv-details">
          <summary>{details}</summary>
          <pre className="cv-text" tabIndex={0}>
            {rest.join("\n")}
          </pre>
        </details>
      )}
    </div>
  );
}
