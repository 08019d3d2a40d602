/**
 * Pages of something that only ever grows at its end, all of them subscribed: a page that is full stays as it is, and the
 * last one follows the tail.
 *
 * A cursor means the same place for ever. So a page is left as soon as it is full, and the next begins at its cursor; a
 * page that grew a little more meanwhile says some of it twice, which the callers pass over.
 */
import { useQueries } from "convex/react";
import { getFunctionName, type FunctionReference } from "convex/server";
import { convexToJson, type Value } from "convex/values";
import { useMemo, useState } from "react";

/** The field that each page has. */
export interface FollowedPage {
  readonly cursor: string;
}

export interface Following<Page extends FollowedPage> {
  /** Whether rows after this page belong on another page. */
  isFull: (page: Page) => boolean;
  /** Whether a page goes on where the first one began; if not, it and later pages are dropped. */
  goesOn: (page: Page, first: Page) => boolean;
}

export interface Followed<Page extends FollowedPage> {
  readonly pages: readonly Page[];
  /** Whether another page is on its way. */
  readonly isLoading: boolean;
}

/** The arguments for one page: `place` has the cursor behind which it begins, or nothing, and how many rows it may have. */
export type PlacePage = (args: Args, place: Args) => Args;
type Args = Record<string, Value>;

const beside: PlacePage = (args, place) => ({ ...args, ...place });

interface Chain {
  /** Of which query and arguments. */
  readonly of: string;
  /** The cursors of the second page and of later pages. */
  readonly cursors: readonly string[];
}

/** The pages there are; `null` where the query says so, `undefined` while the first one loads. `following` and `placed` must be stable. */
export function useFollowedPages<Page extends FollowedPage>(
  query: FunctionReference<"query", "public", any, any>,
  args: Args | "skip",
  { limit, placed = beside }: { limit: number; placed?: PlacePage | undefined },
  following: Following<Page>,
): Followed<Page> | null | undefined {
  const of = args === "skip" ? "" : JSON.stringify([getFunctionName(query), convexToJson(args)]);
  const [state, setState] = useState<Chain>({ of, cursors: [] });
  const chain = state.of === of ? state : { of, cursors: [] };
  const queries = useMemo(
    () =>
      queriesOf(query, args, chain.cursors, (given, place) => placed(given, { ...place, limit })),
    // The arguments are in `of`: an equal object is no reason to ask anew.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [of, chain.cursors],
  );
  const results: Record<string, Page | Error | null | undefined> = useQueries(queries);
  const walked = useMemo(
    () => walk(results, chain.cursors, following),
    [results, chain.cursors, following],
  );
  if (chain !== state || walked.cursors !== chain.cursors) {
    setState({ of, cursors: walked.cursors });
  }
  return walked.found;
}

function queriesOf(
  query: FunctionReference<"query", "public", any, any>,
  args: Args | "skip",
  cursors: readonly string[],
  placed: PlacePage,
) {
  if (args === "skip") return {};
  const places: Args[] = [{}, ...cursors.map((cursor) => ({ cursor }))];
  return Object.fromEntries(
    places.map((place, at) => [String(at), { query, args: placed(args, place) }]),
  );
}

/** The pages that have answered, and the cursors to ask with next. */
function walk<Page extends FollowedPage>(
  results: Record<string, Page | Error | null | undefined>,
  cursors: readonly string[],
  { isFull, goesOn }: Following<Page>,
): { found: Followed<Page> | null | undefined; cursors: readonly string[] } {
  const pages: Page[] = [];
  for (let at = 0; at <= cursors.length; at += 1) {
    const page = results[String(at)];
    if (page instanceof Error) throw page;
    if (page === null) return { found: null, cursors };
    if (page === undefined) {
      return { found: at === 0 ? undefined : { pages, isLoading: true }, cursors };
    }
    if (at > 0 && !goesOn(page, pages[0]!)) {
      return { found: { pages, isLoading: true }, cursors: cursors.slice(0, at - 1) };
    }
    pages.push(page);
  }
  const last = pages.at(-1)!;
  if (!isFull(last)) return { found: { pages, isLoading: false }, cursors };
  return { found: { pages, isLoading: true }, cursors: [...cursors, last.cursor] };
}
