/** What a list says of each job. */
import { createColumnHelper, type TableFeatures } from "@tanstack/react-table";
import type { ListedJob } from "../../shared/index.js";
import { Link } from "../parts/Link.js";
import { StatusMark } from "../parts/StatusMark.js";
import { Ago, Took, Until } from "../parts/Times.js";
import { jobPlace } from "../places.js";
import { numeral } from "../words.js";

const column = createColumnHelper<TableFeatures, ListedJob>();

export const JOB_COLUMNS = column.columns([
  column.display({ id: "job", header: "Job", cell: ({ row }) => <Which job={row.original} /> }),
  column.display({ id: "state", header: "State", cell: ({ row }) => <State job={row.original} /> }),
  column.display({ id: "when", header: "When", cell: ({ row }) => <When job={row.original} /> }),
  column.display({
    id: "took",
    header: "Took",
    cell: ({ row: { original: job } }) =>
      job.startedAt === undefined ? "–" : <Took from={job.startedAt} to={job.finishedAt} />,
  }),
  column.display({
    id: "attempt",
    header: "Attempt",
    cell: ({ row }) => numeral(row.original.attempt),
  }),
  column.display({ id: "worker", header: "Worker", cell: ({ row }) => row.original.worker ?? "–" }),
]);

function Which({ job: { queue, id, name, error, tags, group, key } }: { job: ListedJob }) {
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
            key === undefined ? "" : `key ${key}`,
            group === undefined ? "" : `group ${group}`,
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
  if (paused) return <StatusMark status={status} note="paused" />;
  if (status === "running" && cancelRequestedAt !== undefined) {
    return <StatusMark status={status} note="asked to end" />;
  }
  if (status === "scheduled" && failures > 0)
    return <StatusMark status={status} note="backing off" />;
  return <StatusMark status={status} />;
}

function When({ job: { status, dueAt, startedAt, finishedAt, enqueuedAt } }: { job: ListedJob }) {
  if (status === "scheduled" && dueAt !== undefined) return <Until at={dueAt} />;
  return <Ago at={finishedAt ?? (status === "running" ? startedAt : undefined) ?? enqueuedAt} />;
}
