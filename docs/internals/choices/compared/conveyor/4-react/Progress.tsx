// Names: api queues authorize status JobId useJob progress
import { useJob, type JobId } from "convex-conveyor/react";
import { api } from "./_generated/api";

export function Progress({ id }: { id: JobId<"renders"> }) {
  const job = useJob(api.jobs, id);
  if (job?.status !== "running") return <p>{job?.status}</p>;
  return <progress max={100} value={job.progress?.percent ?? 0} />;
}
