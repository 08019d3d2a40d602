/** A job's output, live. */
import { useOutputPages } from "../../react/useJobOutput.js";
import { inCall, useApi, useLabels } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { useTail } from "./useTail.js";

export function Output({ queue, id }: { queue: string; id: string }) {
  const output = useOutputPages(useApi().read, { call: { kind: "output", queue, id } }, inCall);
  const tail = useTail<HTMLPreElement>(output?.text);
  const labels = useLabels().job;
  if (output === undefined) return <Skeleton lines={2} />;
  if (output === null || output.text === "") {
    const isComing = output?.isDone === false;
    return <p className="cv-soft">{isComing ? labels.noOutputYet : labels.noOutput}</p>;
  }
  return (
    <>
      <p className="cv-soft">
        {output.isDone ? labels.outputOf(output.attempt) : labels.outputStreaming(output.attempt)}
      </p>
      <pre
        {...tail}
        className="cv-text cv-output"
        tabIndex={0}
        role="group"
        aria-label={labels.output}
        aria-busy={!output.isDone}
      >
        {output.text}
      </pre>
    </>
  );
}
