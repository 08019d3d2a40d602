/**
 * The queries one client watches, and whether their results still hold. It runs queries and follows commits; it knows
 * nothing of sockets.
 *
 * A client must see all its queries at one timestamp. Results are taken at different times, so each carries the span in
 * which it holds: from the snapshot it was read at until the first commit that writes into its read set. An update ends
 * at a timestamp that lies in every span.
 */
import type { ReadSet, Ts } from "../../engine/types.js";
import type { Identity } from "../../functions/types.js";
import type { CalledQuery, Calls } from "../calls.js";
import type { CommitFeed, FeedCommit } from "./commitFeed.js";
import type { AddQuery, Modification } from "./messages.js";

interface WatchedQuery {
  request: AddQuery;
  /** Absent until it has run. */
  result?: { reads: ReadSet | null; holdsFrom: Ts; outdatedAt: Ts | null };
  /** Bumped when the query must run again whatever it has read: new code, another identity. */
  epoch: number;
  ranInEpoch: number;
  /** What the client was last told, to tell it nothing twice. */
  told: string | null;
}

export interface Update {
  /** The timestamp at which all results hold. */
  ts: Ts;
  modifications: Modification[];
}

export class QuerySet {
  readonly #calls: Calls;
  readonly #latestTs: () => Ts;
  readonly #unsubscribe: () => void;
  readonly #queries = new Map<number, WatchedQuery>();
  /** Commits since the running update began: its queries may have been read before or after each of them. */
  #since: FeedCommit[] | null = null;
  #removed: number[] = [];

  /** `onOutdated` is called when a result that the client has no longer holds. */
  constructor(
    calls: Calls,
    feed: CommitFeed,
    latestTs: () => Ts,
    private readonly onOutdated: () => void,
  ) {
    this.#calls = calls;
    this.#latestTs = latestTs;
    this.#unsubscribe = feed.subscribe((commit) => this.#follow(commit));
  }

  add(request: AddQuery): void {
    if (this.#queries.has(request.queryId)) {
      throw new Error(`Query ${request.queryId} was added twice.`);
    }
    this.#queries.set(request.queryId, { request, epoch: 1, ranInEpoch: 0, told: null });
  }

  remove(queryId: number): void {
    if (!this.#queries.delete(queryId)) {
      throw new Error(`Query ${queryId} was removed, but never added.`);
    }
    this.#removed.push(queryId);
  }

  /** Every query runs again, whatever it has read. */
  outdateAll(): void {
    for (const query of this.#queries.values()) query.epoch++;
  }

  close(): void {
    this.#unsubscribe();
    this.#queries.clear();
  }

  /** Runs what is outdated until all results hold at one timestamp. Throws what the platform refuses. */
  async update(identity: Identity): Promise<Update> {
    this.#since = [];
    try {
      const removed = this.#removed;
      this.#removed = [];
      const queries = [...this.#queries.values()];
      const changed = new Map<WatchedQuery, CalledQuery>();
      for (;;) {
        // All begin in one tick, so they read one snapshot, and those that did not run hold at it too.
        const latest = this.#latestTs();
        const outdated = queries.filter((query) => !isCurrent(query));
        await Promise.all(
          outdated.map(async (query) => {
            changed.set(query, await this.#run(query, identity, latest));
          }),
        );
        const ts = commonTs(queries, latest, this.#latestTs());
        if (ts !== null) return { ts, modifications: this.#modifications(changed, removed) };
      }
    } finally {
      this.#since = null;
    }
  }

  async #run(query: WatchedQuery, identity: Identity, latest: Ts): Promise<CalledQuery> {
    const { udfPath: path, args, componentPath } = query.request;
    const { epoch } = query;
    const result = await this.#calls.query({
      path,
      args: args[0] ?? {},
      identity,
      componentPath,
    });
    // An older timestamp means a cached result, which held when it was asked for.
    const holdsFrom = result.ts > latest ? result.ts : latest;
    const { reads } = result;
    const outdatedBy = this.#since?.find(
      (commit) => commit.ts > holdsFrom && reads !== null && commit.touches(reads),
    );
    query.result = { reads, holdsFrom, outdatedAt: outdatedBy?.ts ?? null };
    query.ranInEpoch = epoch;
    // Said here: while it ran, the commit found only its former result, which was outdated already.
    if (outdatedBy !== undefined) this.onOutdated();
    return result;
  }

  #follow(commit: FeedCommit): void {
    this.#since?.push(commit);
    let outdated = false;
    for (const { result } of this.#queries.values()) {
      if (!result || result.outdatedAt !== null || result.reads === null) continue;
      if (!commit.touches(result.reads)) continue;
      result.outdatedAt = commit.ts;
      outdated = true;
    }
    if (outdated) this.onOutdated();
  }

  #modifications(changed: Map<WatchedQuery, CalledQuery>, removed: number[]): Modification[] {
    const modifications: Modification[] = removed.map((queryId) => ({
      type: "QueryRemoved",
      queryId,
    }));
    for (const [query, result] of changed) {
      // Removed while it ran: the next update says so.
      if (this.#queries.get(query.request.queryId) !== query) continue;
      const modification = toModification(query.request.queryId, result);
      const told = JSON.stringify(modification);
      if (told === query.told) continue;
      query.told = told;
      modifications.push(modification);
    }
    return modifications;
  }
}

function isCurrent(query: WatchedQuery): boolean {
  return query.ranInEpoch === query.epoch && query.result?.outdatedAt === null;
}

/**
 * The newest timestamp at which every result holds, at most the latest published one; `null` when there is none, because
 * something was outdated before the others were read.
 */
function commonTs(queries: WatchedQuery[], from: Ts, latest: Ts): Ts | null {
  let earliest = from;
  let newest = latest;
  for (const { result } of queries) {
    if (!result) continue;
    if (result.holdsFrom > earliest) earliest = result.holdsFrom;
    if (result.outdatedAt !== null && result.outdatedAt - 1n < newest) {
      newest = result.outdatedAt - 1n;
    }
  }
  return newest >= earliest ? newest : null;
}

/** Journals fix the end of a page that is watched; the local backend keeps none, so a page may grow. */
function toModification(queryId: number, result: CalledQuery): Modification {
  const { logs: logLines } = result;
  if (result.ok) {
    return { type: "QueryUpdated", queryId, value: result.value, logLines, journal: null };
  }
  return {
    type: "QueryFailed",
    queryId,
    errorMessage: result.message,
    ...(result.data === undefined ? {} : { errorData: result.data }),
    logLines,
    journal: null,
  };
}
