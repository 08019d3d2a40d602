/** A job's properties in words and figures. */
import type { JobStatus } from "../../shared/index.js";
import { useLabels } from "../frame/context.js";
import type { Labels } from "../labelOverrides.js";
import { StatusMark } from "../parts/StatusMark.js";
import { Ago, Moment, Took } from "../parts/Times.js";
import { numeral } from "../words.js";
import type { ReactNode } from "react";

export function JobFacts({ job }: { job: JobStatus }) {
  const labels = useLabels();
  return (
    <dl className="cv-facts">
      {factsOf(job, labels).map(([label, value], n) => (
        <div key={n}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Only the properties that the job has. */
function factsOf(job: JobStatus, { jobFacts, jobs }: Labels): (readonly [string, ReactNode])[] {
  const { id, attempt, failures, resets, priority, key, group, tags, labels, cost, rounds } = job;
  const startedAt = "startedAt" in job ? job.startedAt : undefined;
  const finishedAt = "finishedAt" in job ? job.finishedAt : undefined;
  const worker = "worker" in job ? job.worker : undefined;
  const facts: [string, ReactNode][] = [
    [jobFacts.status, <StatusMark key="state" status={job.status} {...noteOf(job, jobs)} />],
    [
      jobFacts.id,
      <code key="id" className="cv-code">
        {id}
      </code>,
    ],
    [jobFacts.enqueued, <Ago key="enqueued" at={job.enqueuedAt} />],
    [jobFacts.attempts, jobFacts.attemptsOf(attempt, failures, resets)],
  ];
  const add = (label: string, value: ReactNode) => facts.push([label, value]);
  if (worker !== undefined) add(jobFacts.worker, worker);
  if (startedAt !== undefined) {
    add(jobFacts.latency, <Took from={job.enqueuedAt} to={startedAt} />);
    add(jobFacts.runTime, <Took from={startedAt} to={finishedAt} />);
  }
  if (finishedAt !== undefined) add(jobFacts.finished, <Ago at={finishedAt} />);
  if (job.expiresAt !== undefined) add(jobFacts.expires, <Moment at={job.expiresAt} />);
  if (job.deadlineAt !== undefined) add(jobFacts.deadline, <Moment at={job.deadlineAt} />);
  if (priority !== undefined) add(jobFacts.priority, numeral(priority));
  if (key !== undefined) add(jobFacts.key, key);
  if (group !== undefined) add(jobFacts.group, group);
  if (tags !== undefined && tags.length > 0) add(jobFacts.tags, tags.join(", "));
  if (labels !== undefined && labels.length > 0) add(jobFacts.labels, labels.join(", "));
  if (cost !== undefined && cost !== 1) add(jobFacts.cost, numeral(cost));
  if (rounds !== undefined) add(jobFacts.rounds, numeral(rounds));
  return facts;
}

function noteOf(job: JobStatus, labels: Labels["jobs"]): { note?: string } {
  if (job.paused) return { note: labels.paused };
  if (job.status === "running" && job.cancelRequestedAt !== undefined) {
    return { note: labels.cancelRequested };
  }
  return {};
}
