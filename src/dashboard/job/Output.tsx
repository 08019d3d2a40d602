/** A job's output, live. */
import { useState } from "react";
import { useOutputPages } from "../../react/useJobOutput.js";
import { inCall, useApi, useLabels } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { useTail } from "./useTail.js";

/** Characters shown at first, the last ones: an output of megabytes would block the page with each part that comes. */
const SHOWN_CHARACTERS = 100_000;

export function Output({ queue, id }: { queue: string; id: string }) {
  const output = useOutputPages(useApi().read, { call: { kind: "output", queue, id } }, inCall);
  const tail = useTail<HTMLPreElement>(output?.text);
  const [isWhole, setIsWhole] = useState(false);
  const { job: labels, page } = useLabels();
  if (output === undefined) return <Skeleton lines={2} />;
  if (output === null || output.text === "") {
    const isComing = output?.isDone === false;
    return <p className="cv-soft">{isComing ? labels.noOutputYet : labels.noOutput}</p>;
  }
  const isLong = output.text.length > SHOWN_CHARACTERS && !isWhole;
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
        {isLong ? `…${output.text.slice(-SHOWN_CHARACTERS)}` : output.text}
      </pre>
      {isLong && (
        <button type="button" className="cv-button cv-quiet" onClick={() => setIsWhole(true)}>
          {page.showAll(output.text.length)}
        </button>
      )}
    </>
  );
}
