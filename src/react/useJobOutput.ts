/** A hook that shows a job's output as the job writes it. */
import type { FunctionReference } from "convex/server";
import type { Value } from "convex/values";
import { useMemo } from "react";
import {
  OUTPUT_PART_MAX_BYTES,
  REPORT_MAX_BYTES,
  textBytes,
  type OutputApi,
  type OutputPage,
} from "../shared/index.js";
import { useFollowedPages, type Following, type PlacePage } from "./useFollowedPages.js";

/** The text that one attempt has written so far. */
export interface JobOutput {
  readonly text: string;
  /** The attempt that wrote the text. */
  readonly attempt: number;
  /** The job's last attempt: greater than `attempt` only where an earlier one was asked for. */
  readonly lastAttempt: number;
  /** This is all of it: the attempt is over. */
  readonly isDone: boolean;
}

const OUTPUT_PAGE = 200;

/** Above this, the next part may not have fitted. */
const FULL_BYTES = REPORT_MAX_BYTES - OUTPUT_PART_MAX_BYTES;

const FOLLOWING: Following<OutputPage> = {
  isFull: ({ parts }) =>
    parts.length >= OUTPUT_PAGE ||
    parts.reduce((sum, { text }) => sum + textBytes(text), 0) >= FULL_BYTES,
  goesOn: (page, first) => page.attempt === first.attempt,
};

/**
 * Follows a job's output: its text from the beginning, and every piece as it comes. When a new attempt begins, the text
 * begins anew.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`.
 * @param id The job's id, or `"skip"` while there is none.
 * @param options.attempt The attempt to follow, from 1.
 * @default attempt the job's last, whichever that is by then
 * @returns `undefined` while it loads or skipped, `null` for an id that names no job of the queues.
 * @throws The error of the app's `authorize`, while rendering; an error boundary catches it.
 * @example
 * const answer = useJobOutput(api.jobs, id);
 * return <p aria-busy={answer?.isDone === false}>{answer?.text}</p>;
 */
export function useJobOutput(
  jobs: OutputApi,
  id: string,
  options: { attempt?: number } = {},
): JobOutput | null | undefined {
  const { attempt } = options;
  return useOutputPages(
    jobs.output,
    id === "skip" ? "skip" : { id, ...(attempt === undefined ? {} : { attempt }) },
    afterFirst,
  );
}

/** A cursor has its attempt, and is refused with another one beside it. */
const afterFirst: PlacePage = ({ id, ...attempt }, place) =>
  "cursor" in place ? { id: id!, ...place } : { id: id!, ...attempt, ...place };

/** {@link useJobOutput} of a function that asks for more than an id, and for a page in a place of its own. */
export function useOutputPages(
  output: FunctionReference<"query", "public", any, OutputPage | null>,
  args: Record<string, Value> | "skip",
  placed?: PlacePage,
): JobOutput | null | undefined {
  const followed = useFollowedPages(output, args, { limit: OUTPUT_PAGE, placed }, FOLLOWING);
  return useMemo(() => {
    if (!followed) return followed;
    const { attempt, lastAttempt, isDone } = followed.pages.at(-1)!;
    const text = textOf(followed.pages);
    return { text, attempt, lastAttempt, isDone: isDone && !followed.isLoading };
  }, [followed]);
}

/** The text of all pages, each piece once: a page that grew after it was left repeats pieces of the next page. */
function textOf(pages: readonly OutputPage[]): string {
  const texts: string[] = [];
  let last = -1;
  for (const { index, text } of pages.flatMap((page) => page.parts)) {
    if (index <= last) continue;
    texts.push(text);
    last = index;
  }
  return texts.join("");
}
