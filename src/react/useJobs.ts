/** A hook that lists jobs, page by page. */
import { usePaginatedQuery } from "convex-helpers/react";
import type {
  PaginatedQueryArgs,
  PaginatedQueryReference,
  UsePaginatedQueryReturnType,
} from "convex/react";
import type { FunctionReference, PaginationResult } from "convex/server";
import { useMemo } from "react";
import type { ListApi, ListedOf, ListQueueOf, ListRequest } from "../shared/index.js";

const JOBS_PAGE = 50;

/** The jobs of a list so far. */
type Listed<Job> = UsePaginatedQueryReturnType<
  FunctionReference<"query", "public", any, PaginationResult<Job>>
>;

/**
 * Lists jobs of a queue and keeps the list current: pages are read from the index, and each is subscribed alone, from
 * its beginning to its end. Between two pages nothing is missing and nothing is twice, also while jobs come and go.
 *
 * It is `usePaginatedQuery` of convex-helpers and not the one of `convex/react`: a component's pages end at a given
 * cursor, and only the former passes one.
 *
 * @param jobs The module that exports the functions of `conveyor.api`, as in `api.jobs`.
 * @param args Of which `queue`, and which jobs of it, such as `{ queue: "tiles", filter: { status: "failed" }, order: "newest" }`,
 * or `"skip"`.
 * @param options.pageSize Jobs on the first page, at least 1.
 * @default pageSize 50
 * @returns `results`, `status`, `isLoading`, and `loadMore(count)`, as `usePaginatedQuery` does.
 * @throws The error of the app's `authorize`, while rendering; an error boundary catches it.
 * @example
 * const { results, status, loadMore } = useJobs(api.jobs, { queue: "tiles", filter: { status: "failed" }, order: "newest" });
 * return <>{results.map(({ id, error }) => <p key={id}>{error}</p>)}
 *   {status === "CanLoadMore" && <button onClick={() => loadMore(50)}>More</button>}</>;
 */
export function useJobs<Api extends ListApi, const Queue extends ListQueueOf<Api>>(
  jobs: Api,
  args: ListRequest<Queue> | "skip",
  options: { pageSize?: number } = {},
): Listed<ListedOf<Api, Queue>> {
  return useJobPages(jobs.list, args, options);
}

/** {@link useJobs} of a function that asks for more than a queue. */
export function useJobPages<List extends PaginatedQueryReference>(
  list: List,
  args: PaginatedQueryArgs<List> | "skip",
  options: { pageSize?: number } = {},
): UsePaginatedQueryReturnType<List> {
  const listed = usePaginatedQuery(list, args, { initialNumItems: options.pageSize ?? JOBS_PAGE });
  const results = useMemo(() => eachOnce(listed.results), [listed.results]);
  return { ...listed, results };
}

/** Of pages of different moments, as where one rests (`CalmQueries`), two may have a job that moved between them. */
function eachOnce<Row>(rows: Row[]): Row[] {
  const seen = new Set<unknown>();
  return rows.filter((row) => {
    const { id } = row as { id: unknown };
    return !seen.has(id) && seen.add(id);
  });
}
