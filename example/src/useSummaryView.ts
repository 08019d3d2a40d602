/** A summary as a person sees it: the app's row and its job and attempts put together. */
import { useNow } from "./clock.js";
import { useSummaryAttempts, useSummaryJob, type SummaryRow } from "./data.js";
import { useOutOfReach } from "./useReach.js";

export interface SummaryView {
  readonly state: "none" | "waiting" | "running" | "backingOff" | "succeeded" | "failed";
  /** The last that was begun, 0 before the first. */
  readonly attempt: number;
  /** Who wrote it. */
  readonly lane: string | undefined;
  /** Until the next attempt. */
  readonly waitMs: number;
  readonly failures: readonly { readonly attempt: number; readonly error: string }[];
}

export function useSummaryView(row: SummaryRow | null | undefined): SummaryView {
  const job = useSummaryJob(row);
  const attempts = useSummaryAttempts(row);
  const isBackingOff = job?.status === "scheduled";
  const outOfReach = useOutOfReach();
  const now = useNow(isBackingOff && !outOfReach);
  const failures = (attempts ?? []).flatMap((one) =>
    "error" in one && one.error !== undefined ? [{ attempt: one.attempt, error: one.error }] : [],
  );
  const attempt = row?.attempt ?? job?.attempt ?? 0;
  const lane = attempts?.find(({ outcome }) => outcome === "succeeded")?.worker;
  const view = { attempt: job?.attempt ?? attempt, lane, waitMs: 0, failures };
  if (!row) return { ...view, state: "none" };
  if (row.status === "succeeded") return { ...view, state: "succeeded", attempt };
  if (row.status !== "unfinished") return { ...view, state: "failed", attempt };
  if (isBackingOff) {
    return { ...view, state: "backingOff", waitMs: Math.max(0, job.dueAt - now) };
  }
  return { ...view, state: job?.status === "running" ? "running" : "waiting" };
}
