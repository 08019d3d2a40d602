/** A hook that follows a job's log. */
import type { FunctionReference } from "convex/server";
import type { Value } from "convex/values";
import type { LogEntry, LogPage, LogsApi } from "../shared/index.js";
import { useFollowedPages, type Following, type PlacePage } from "./useFollowedPages.js";

/** The log of a job as far as it is here. */
export interface JobLogs {
  /** Oldest first, of all attempts. */
  readonly entries: readonly LogEntry[];
  /** Whether there is more that has not arrived. */
  readonly isLoading: boolean;
}

/** So many entries of the largest size fit in a page: none is ever cut short by its bytes. */
const LOG_PAGE = 200;

const FOLLOWING: Following<LogPage> = { isFull: ({ isDone }) => !isDone, goesOn: () => true };

/**
 * Follows a job's log: all of it so far, and each entry as it comes.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`.
 * @param id The job's id, or `"skip"` while there is none.
 * @returns `undefined` while the first 200 entries load or skipped, `null` for an id that names no job of the queues.
 * @throws The error of the app's `authorize`, while rendering; an error boundary catches it.
 * @example
 * const log = useJobLogs(api.jobs, id);
 * return <ol>{log?.entries.map(({ attempt, entry, message }) => <li key={`${attempt}.${entry}`}>{message}</li>)}</ol>;
 */
export function useJobLogs(jobs: LogsApi, id: string): JobLogs | null | undefined {
  return useLogPages(jobs.logs, id === "skip" ? "skip" : { id });
}

/** {@link useJobLogs} of a function that asks for more than an id, and for a page in a place of its own. */
export function useLogPages(
  logs: FunctionReference<"query", "public", any, LogPage | null>,
  args: Record<string, Value> | "skip",
  placed?: PlacePage,
): JobLogs | null | undefined {
  const followed = useFollowedPages(logs, args, { limit: LOG_PAGE, placed }, FOLLOWING);
  if (!followed) return followed;
  return { entries: entriesOf(followed.pages), isLoading: followed.isLoading };
}

/** Entries of all pages, each once: where the oldest of a long log are gone, a page reaches into the next one. */
function entriesOf(pages: readonly LogPage[]): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const entry of pages.flatMap((page) => page.entries)) {
    const last = entries.at(-1);
    if (last === undefined || isAfter(entry, last)) entries.push(entry);
  }
  return entries;
}

function isAfter(a: LogEntry, b: LogEntry): boolean {
  return a.attempt === b.attempt ? a.entry > b.entry : a.attempt > b.attempt;
}
