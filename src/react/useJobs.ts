/** A hook that lists jobs, page by page. */
import { usePaginatedQuery } from "convex-helpers/react";
import type {
  PaginatedQueryArgs,
  PaginatedQueryReference,
  UsePaginatedQueryReturnType,
} from "convex/react";

const JOBS_PAGE = 50;

/**
 * Lists jobs of a queue and keeps what it lists as it is: pages are read from the index, and each is subscribed alone, from
 * its beginning to its end. Between two pages nothing is missing and nothing is twice, also while jobs come and go.
 *
 * It is `usePaginatedQuery` of convex-helpers and not the one of `convex/react`: a component's pages end where they are told
 * to, and only the former tells them.
 *
 * @param list The app's function that `queue.api()` built, as in `api.tiles.list`. The jobs' type comes from it.
 * @param args What it asks for besides the page, such as `{ filter: { status: "failed" }, order: "newest" }`, or `"skip"`.
 * @param options.pageSize Jobs on the first page, at least 1.
 * @default pageSize 50
 * @returns `results`, `status`, `isLoading`, and `loadMore(count)`, as `usePaginatedQuery` does.
 * @throws What the app's `authorize` throws, while rendering; an error boundary catches it.
 * @example
 * const { results, status, loadMore } = useJobs(api.tiles.list, { filter: { status: "failed" }, order: "newest" });
 * return <>{results.map(({ id, error }) => <p key={id}>{error}</p>)}
 *   {status === "CanLoadMore" && <button onClick={() => loadMore(50)}>More</button>}</>;
 */
export function useJobs<List extends PaginatedQueryReference>(
  list: List,
  args: PaginatedQueryArgs<List> | "skip",
  options: { pageSize?: number } = {},
): UsePaginatedQueryReturnType<List> {
  return usePaginatedQuery(list, args, { initialNumItems: options.pageSize ?? JOBS_PAGE });
}
