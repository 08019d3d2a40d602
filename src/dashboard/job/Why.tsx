/** Why a job does not run, what would change it, and where in the queue it stands; or how far it is. */
import type { JobStatus, Position, Reason, WhyKind } from "../../shared/index.js";
import { useRead } from "../frame/context.js";
import { Skeleton } from "../parts/Skeleton.js";
import { Until } from "../parts/Times.js";
import { several } from "../words.js";
import { Progress } from "./Progress.js";

/** Somebody must do something first: then nobody knows when it begins, and that it is next is no news. */
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

/** What stands between backticks is a name in code. */
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

/** How many are before it, unless a reason has said so, and when it begins. */
function Place({
  position: { ahead, more },
  isSaid,
  startsAt,
}: {
  position: Position;
  isSaid: boolean;
  startsAt: number | undefined;
}) {
  if (isSaid && startsAt === undefined) return null;
  return (
    <p className="cv-position">
      {!isSaid && (
        <>
          {more && "More than "}
          {several(ahead, "job")} {ahead === 1 ? "is" : "are"} before it.{" "}
        </>
      )}
      {startsAt !== undefined && (
        <>
          As the queue goes now, it begins <Until at={startsAt} />.
        </>
      )}
    </p>
  );
}
