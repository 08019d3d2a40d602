/** What a job is, in a few words and figures. */
import type { JobStatus } from "../../shared/index.js";
import { StatusMark } from "../parts/StatusMark.js";
import { Ago, Moment, Took } from "../parts/Times.js";
import { numeral } from "../words.js";
import type { ReactNode } from "react";

export function JobFacts({ job }: { job: JobStatus }) {
  return (
    <dl className="cv-facts">
      {factsOf(job).map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Those that it has. */
function factsOf(job: JobStatus): (readonly [string, ReactNode])[] {
  const { id, attempt, failures, resets, priority, key, group, tags, labels, cost, rounds } = job;
  const startedAt = "startedAt" in job ? job.startedAt : undefined;
  const finishedAt = "finishedAt" in job ? job.finishedAt : undefined;
  const worker = "worker" in job ? job.worker : undefined;
  const facts: [string, ReactNode][] = [
    ["State", <StatusMark key="state" status={job.status} {...noteOf(job)} />],
    [
      "Id",
      <code key="id" className="cv-code">
        {id}
      </code>,
    ],
    ["Enqueued", <Ago key="enqueued" at={job.enqueuedAt} />],
    ["Attempts", attemptsOf(attempt, failures, resets)],
  ];
  const add = (label: string, value: ReactNode) => facts.push([label, value]);
  if (worker !== undefined) add("Worker", worker);
  if (startedAt !== undefined) add("Waited", <Took from={job.enqueuedAt} to={startedAt} />);
  if (startedAt !== undefined) {
    add(
      finishedAt === undefined ? "Runs for" : "Ran for",
      <Took from={startedAt} to={finishedAt} />,
    );
  }
  if (finishedAt !== undefined) add("Ended", <Ago at={finishedAt} />);
  if (job.expiresAt !== undefined) add("Expires", <Moment at={job.expiresAt} />);
  if (job.deadlineAt !== undefined) add("Must end by", <Moment at={job.deadlineAt} />);
  if (priority !== undefined) add("Priority", numeral(priority));
  if (key !== undefined) add("Key", key);
  if (group !== undefined) add("Group", group);
  if (tags !== undefined && tags.length > 0) add("Tags", tags.join(", "));
  if (labels !== undefined && labels.length > 0) add("Asks for", labels.join(", "));
  if (cost !== undefined && cost !== 1) add("Cost", numeral(cost));
  if (rounds !== undefined) add("Rounds", numeral(rounds));
  return facts;
}

function noteOf(job: JobStatus): { note?: string } {
  if (job.paused) return { note: "paused" };
  if (job.status === "running" && job.cancelRequestedAt !== undefined) {
    return { note: "asked to end" };
  }
  return {};
}

/** "3, of which 2 failed and 1 lost its worker". */
function attemptsOf(attempt: number, failures: number, resets: number): string {
  const parts = [
    failures > 0 ? `${numeral(failures)} failed` : "",
    resets > 0 ? `${numeral(resets)} lost the worker` : "",
  ].filter((part) => part !== "");
  return parts.length === 0
    ? numeral(attempt)
    : `${numeral(attempt)}, of which ${parts.join(" and ")}`;
}
