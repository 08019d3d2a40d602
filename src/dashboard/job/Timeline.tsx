/** What happened to a job, in the order of time. */
import type { AttemptStatus, JobStatus } from "../../shared/index.js";
import { Icon } from "../parts/Icon.js";
import { Moment, Took, Until } from "../parts/Times.js";
import { timelineOf, type Step } from "./steps.js";

export function Timeline({
  job,
  attempts,
}: {
  job: JobStatus;
  attempts: readonly AttemptStatus[];
}) {
  return (
    <ol className="cv-timeline">
      {timelineOf(job, attempts).map((step) => (
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
          , for <Took from={at} /> by now
        </>
      )}
      {until !== undefined && (
        <>
          , for <Took from={at} to={until} />
        </>
      )}
    </>
  );
}

/** The first line says what; the stack is for those who ask. */
export function Failure({ text }: { text: string }) {
  const [first = "", ...stack] = text.split("\n");
  return (
    <div className="cv-failure">
      <p>{first}</p>
      {stack.length > 0 && (
        <details className="cv-details">
          <summary>Stack</summary>
          <pre className="cv-text" tabIndex={0}>
            {stack.join("\n")}
          </pre>
        </details>
      )}
    </div>
  );
}
