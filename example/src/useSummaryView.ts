/** A summary as a person sees it: the app's row and its job and attempts put together. */
import { useSummaryAttempts, useSummaryJob, type SummaryRow } from "./data.js";
import { messageOf } from "./errors.js";

export interface SummaryView {
  readonly state: "none" | "waiting" | "running" | "backingOff" | "succeeded" | "failed";
  /** The last that was begun, 0 before the first. */
  readonly attempt: number;
  /** The lane that wrote it. */
  readonly lane: string | undefined;
  /** When the next attempt is due, where the last has failed. */
  readonly dueAt: number;
  readonly failures: readonly { readonly attempt: number; readonly error: string }[];
}

export function useSummaryView(row: SummaryRow | null | undefined): SummaryView {
  const job = useSummaryJob(row);
  const attempts = useSummaryAttempts(row);
  const failures = (attempts ?? []).flatMap((one) =>
    "error" in one && one.error !== undefined
      ? [{ attempt: one.attempt, error: messageOf(one.error) }]
      : [],
  );
  const attempt = row?.attempt ?? job?.attempt ?? 0;
  const lane = attempts?.find(({ outcome }) => outcome === "succeeded")?.worker;
  const view = { attempt: job?.attempt ?? attempt, lane, dueAt: 0, failures };
  if (!row) return { ...view, state: "none" };
  if (row.status === "succeeded") return { ...view, state: "succeeded", attempt };
  if (row.status !== "unfinished") return { ...view, state: "failed", attempt };
  if (job?.status === "scheduled") return { ...view, state: "backingOff", dueAt: job.dueAt };
  return { ...view, state: job?.status === "running" ? "running" : "waiting" };
}
