/** What a job writes, as it writes it. */
import { useOutputPages } from "../../react/useJobOutput.js";
import { inCall, useApi } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { useTail } from "./useTail.js";

export function Output({ queue, id }: { queue: string; id: string }) {
  const output = useOutputPages(useApi().read, { call: { kind: "output", queue, id } }, inCall);
  const tail = useTail<HTMLPreElement>(output?.text);
  if (output === undefined) return <Skeleton lines={2} />;
  if (output === null || output.text === "") {
    return (
      <p className="cv-soft">{output?.isDone === false ? "Nothing yet." : "It wrote none."}</p>
    );
  }
  return (
    <>
      <p className="cv-soft">
        Of attempt {output.attempt}
        {output.isDone ? "." : ", as it comes."}
      </p>
      <pre
        {...tail}
        className="cv-text cv-output"
        tabIndex={0}
        role="group"
        aria-label="Output"
        aria-busy={!output.isDone}
      >
        {output.text}
      </pre>
    </>
  );
}
