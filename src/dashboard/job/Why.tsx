/** The reasons why a job does not run, with remedies, and its position in the queue; or its progress. */
import type { JobStatus, Position, Reason, WhyKind } from "../../shared/index.js";
import { useLabels, useRead } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { Timed } from "../parts/Timed.js";
import { Until } from "../parts/Times.js";
import { Progress } from "./Progress.js";

/** Reasons that need an action first: the start time is then unknown, and "next" is not shown. */
const HOLDING: readonly WhyKind[] = [
  "cancelRequested",
  "expired",
  "paused",
  "queuePaused",
  "noWorker",
  "noWorkerWithLabels",
  "handlerMissing",
  "noPermit",
  "handlerMismatch",
  "stuck",
];

export function Why({ queue, id, job }: { queue: string; id: string; job: JobStatus }) {
  const answer = useRead({ kind: "why", queue, id });
  return (
    <>
      {job.status === "running" && <Progress progress={job.progress} />}
      {answer === undefined && <Skeleton lines={2} />}
      {answer && <Answer reasons={answer.why.reasons} position={answer.position} />}
    </>
  );
}

function Answer({
  reasons,
  position,
}: {
  reasons: readonly Reason[];
  position: Position | null | undefined;
}) {
  const isHeld = reasons.some(({ kind }) => HOLDING.includes(kind));
  const isSaid = reasons.some(({ kind }) => kind === "behind" || kind === "next");
  const startsAt = isHeld ? undefined : position?.startsAt;
  return (
    <>
      <Reasons reasons={isHeld ? reasons.filter(({ kind }) => kind !== "next") : reasons} />
      {position && <Place position={position} isSaid={isSaid} startsAt={startsAt} />}
    </>
  );
}

function Reasons({ reasons }: { reasons: readonly Reason[] }) {
  return (
    <ol className="cv-reasons">
      {reasons.map(({ kind, text, remedy, until }) => (
        <li key={`${kind} ${text}`}>
          <p className="cv-reason">
            <Worded text={text} />
            {until !== undefined && (
              <span className="cv-soft">
                {" "}
                (<Until at={until} />)
              </span>
            )}
          </p>
          {remedy !== "" && (
            <p className="cv-soft">
              <Worded text={remedy} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

/** Text between backticks is a name in code. */
function Worded({ text }: { text: string }) {
  return text.split("`").map((part, at) =>
    at % 2 === 1 ? (
      <code key={at} className="cv-code">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

/** The number of jobs ahead, unless a reason has it, and the estimated start. */
function Place({
  position: { ahead, more },
  isSaid,
  startsAt,
}: {
  position: Position;
  isSaid: boolean;
  startsAt: number | undefined;
}) {
  const labels = useLabels().job;
  if (isSaid && startsAt === undefined) return null;
  return (
    <p className="cv-position">
      {!isSaid && labels.ahead(ahead, more)}{" "}
      {startsAt !== undefined && (
        <Timed text={labels.startsAt}>
          <Until at={startsAt} />
        </Timed>
      )}
    </p>
  );
}
