/** The columns of a list of jobs. */
import { createColumnHelper, type TableFeatures } from "@tanstack/react-table";
import { isFinished, type ListedJob } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { Labels } from "../labelOverrides.js";
import { Link } from "../parts/Link.js";
import { StatusMark } from "../parts/StatusMark.js";
import { Ago, Took, Until } from "../parts/Times.js";
import { jobPlace } from "../places.js";
import { numeral } from "../words.js";

const column = createColumnHelper<TableFeatures, ListedJob>();

export const jobColumns = (labels: Labels["jobs"]) =>
  column.columns([
    column.display({
      id: "job",
      header: labels.job,
      cell: ({ row }) => <Which job={row.original} />,
    }),
    column.display({
      id: "state",
      header: labels.status,
      cell: ({ row }) => <State job={row.original} />,
    }),
    column.display({
      id: "when",
      header: labels.time,
      cell: ({ row }) => <When job={row.original} />,
    }),
    column.display({
      id: "took",
      header: labels.runTime,
      cell: ({ row: { original: job } }) =>
        job.startedAt === undefined ? (
          <None />
        ) : (
          // A job of a circular queue has the end of the round before.
          <Took from={job.startedAt} to={isFinished(job.status) ? job.finishedAt : undefined} />
        ),
    }),
    column.display({
      id: "attempt",
      header: labels.attempt,
      cell: ({ row }) => numeral(row.original.attempt),
    }),
    column.display({
      id: "worker",
      header: labels.worker,
      cell: ({ row }) => row.original.worker ?? <None />,
    }),
  ]);

const None = () => useLabels().page.none;

function Which({ job: { queue, id, name, error, tags, group, key } }: { job: ListedJob }) {
  const labels = useLabels().jobs;
  return (
    <>
      <Link to={jobPlace(queue, id)} className={name === undefined ? "cv-id" : ""}>
        {name ?? id}
      </Link>
      {error !== undefined && <span className="cv-sub cv-bad-words">{error}</span>}
      {error === undefined && (
        <span className="cv-sub">
          {[
            name === undefined ? "" : id,
            key === undefined ? "" : labels.key(key),
            group === undefined ? "" : labels.ofGroup(group),
            ...(tags ?? []).map((tag) => `#${tag}`),
          ]
            .filter((part) => part !== "")
            .join(" · ")}
        </span>
      )}
    </>
  );
}

function State({ job: { status, paused, cancelRequestedAt, failures } }: { job: ListedJob }) {
  const labels = useLabels().jobs;
  if (paused) return <StatusMark status={status} note={labels.paused} />;
  if (status === "running" && cancelRequestedAt !== undefined) {
    return <StatusMark status={status} note={labels.cancelRequested} />;
  }
  if (status === "scheduled" && failures > 0) {
    return <StatusMark status={status} note={labels.backingOff} />;
  }
  return <StatusMark status={status} />;
}

function When({ job: { status, dueAt, startedAt, finishedAt, enqueuedAt } }: { job: ListedJob }) {
  if (status === "scheduled" && dueAt !== undefined) return <Until at={dueAt} />;
  return <Ago at={(status === "running" ? startedAt : finishedAt) ?? enqueuedAt} />;
}
