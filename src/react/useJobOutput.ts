/** A hook that shows what a job writes as it writes it. */
import type { FunctionArgs, FunctionReference } from "convex/server";
import type { Value } from "convex/values";
import { useMemo } from "react";
import { CHUNK_MAX_BYTES, REPORT_MAX_BYTES, textBytes, type ChunkPage } from "../shared/index.js";
import { useFollowedPages, type Following } from "./useFollowedPages.js";

/** A reference to a queue's `chunks` function as `queue.api()` built it, such as `api.answers.chunks`. */
export type ChunksFunction = FunctionReference<"query", "public", { id: any }, ChunkPage | null>;

/** What one attempt has written so far. */
export interface JobOutput {
  readonly text: string;
  /** Whose text it is. */
  readonly attempt: number;
  /** The job's last attempt: greater than `attempt` only where an earlier one was asked for. */
  readonly lastAttempt: number;
  /** This is all of it: the attempt is over. */
  readonly isDone: boolean;
}

const OUTPUT_PAGE = 200;

/** Above this, the next chunk may not have fitted. */
const FULL_BYTES = REPORT_MAX_BYTES - CHUNK_MAX_BYTES;

const FOLLOWING: Following<ChunkPage> = {
  isFull: ({ chunks }) =>
    chunks.length >= OUTPUT_PAGE ||
    chunks.reduce((sum, { text }) => sum + textBytes(text), 0) >= FULL_BYTES,
  goesOn: (page, first) => page.attempt === first.attempt,
};

/**
 * Follows what a job writes: its text from the beginning, and every piece as it comes. When a new attempt begins, the text
 * begins anew.
 *
 * @param chunks The app's function that `queue.api()` built, as in `api.answers.chunks`.
 * @param id The job's id, or `"skip"` while there is none.
 * @param options.attempt Whose output, from 1.
 * @default attempt the job's last, whichever that is by then
 * @returns `undefined` while it loads or skipped, `null` for an id that names no job of the queue.
 * @throws What the app's `authorize` throws, while rendering; an error boundary catches it.
 * @example
 * const answer = useJobOutput(api.answers.chunks, id);
 * return <p aria-busy={answer?.isDone === false}>{answer?.text}</p>;
 */
export function useJobOutput<Chunks extends ChunksFunction>(
  chunks: Chunks,
  id: FunctionArgs<Chunks>["id"] | "skip",
  options: { attempt?: number } = {},
): JobOutput | null | undefined {
  const { attempt } = options;
  return useChunkPages(
    chunks,
    id === "skip" ? "skip" : { id, ...(attempt === undefined ? {} : { attempt }) },
  );
}

/** {@link useJobOutput} of a function that asks for more than an id. */
export function useChunkPages(
  chunks: FunctionReference<"query", "public", any, ChunkPage | null>,
  args: Record<string, Value> | "skip",
): JobOutput | null | undefined {
  const asked = args === "skip" ? args : { ...args, limit: OUTPUT_PAGE };
  const followed = useFollowedPages(chunks, asked, FOLLOWING);
  return useMemo(() => {
    if (!followed) return followed;
    const { attempt, lastAttempt, isDone } = followed.pages.at(-1)!;
    const text = textOf(followed.pages);
    return { text, attempt, lastAttempt, isDone: isDone && !followed.isLoading };
  }, [followed]);
}

/** The text of all pages, each piece once: a page that grew after it was left says what the next one says too. */
function textOf(pages: readonly ChunkPage[]): string {
  const texts: string[] = [];
  let last = -1;
  for (const { index, text } of pages.flatMap((page) => page.chunks)) {
    if (index <= last) continue;
    texts.push(text);
    last = index;
  }
  return texts.join("");
}
