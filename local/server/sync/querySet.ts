/**
 * The queries one client watches, and whether their results still hold. It runs queries and follows commits; it knows
 * nothing of sockets.
 *
 * A client must see all its queries at one timestamp. So an update takes the latest one as it begins: outdated queries
 * run on that snapshot, and the rest hold there. Queries that a commit outdates meanwhile are left to the next update.
 */
import { createHash } from "node:crypto";
import type { ReadSet, Ts } from "../../engine/types.js";
import { PlatformError } from "../../functions/errors.js";
import type { Identity } from "../../functions/types.js";
import type { CalledQuery, Calls } from "../calls.js";
import { MAX_RUNNING_QUERIES } from "../limits.js";
import type { CommitFeed, FeedCommit } from "./commitFeed.js";
import type { AddQuery, Modification, RemoveQuery } from "./messages.js";

interface WatchedQuery {
  request: AddQuery;
  /** Where its page ended when it last ran: there it will end again. */
  journal: string | null;
  /** The read set of its result; `null` where that is not rows, or while it runs. */
  reads: ReadSet | null;
  outdated: boolean;
  /** A digest of the result that the client received last, so that it gets nothing twice. */
  told: string | null;
}

export interface Update {
  /** The timestamp at which all results hold. */
  ts: Ts;
  modifications: Modification[];
}

export interface QuerySetOptions {
  calls: Pick<Calls, "query">;
  feed: CommitFeed;
  latestTs: () => Ts;
  /** Called when a result that the client has no longer holds. */
  onOutdated: () => void;
}

export class QuerySet {
  readonly #options: QuerySetOptions;
  readonly #unsubscribe: () => void;
  /** As the client has them, changes that no update has begun with included. */
  readonly #ids = new Set<number>();
  readonly #queries = new Map<number, WatchedQuery>();
  #changes: (AddQuery | RemoveQuery)[] = [];
  /** Commits since the running update began: running queries have not seen them. */
  #since: FeedCommit[] | null = null;

  constructor(options: QuerySetOptions) {
    this.#options = options;
    this.#unsubscribe = options.feed.subscribe({
      follow: (commit) => this.#follow(commit),
      wake: options.onOutdated,
    });
  }

  /** Takes effect with the next update. Throws the client's mistake as an error. */
  modify(changes: readonly (AddQuery | RemoveQuery)[]): void {
    for (const change of changes) {
      const { queryId } = change;
      if (change.type === "Add" && this.#ids.has(queryId)) {
        throw misuse("DuplicateQueryId", `Query ${queryId} was added twice.`);
      }
      if (change.type === "Add") this.#ids.add(queryId);
      else if (!this.#ids.delete(queryId)) {
        throw misuse("NonexistentQueryId", `Query ${queryId} was removed, but never added.`);
      }
    }
    this.#changes.push(...changes);
  }

  /** Every query runs once more, with any read set. */
  outdateAll(): void {
    for (const query of this.#queries.values()) query.outdated = true;
  }

  close(): void {
    this.#unsubscribe();
    this.#queries.clear();
  }

  /** Brings all queries to the latest timestamp. Throws the platform's refusal. */
  async update(identity: Identity): Promise<Update> {
    const ts = this.#options.latestTs();
    const modifications = new Map<number, Modification>();
    this.#applyChanges(modifications);
    this.#since = [];
    try {
      // The queries of the first batch begin in this very tick, and so can share cached results.
      const outdated = [...this.#queries.values()].filter((query) => query.outdated);
      for (const query of outdated) {
        query.outdated = false;
        query.reads = null;
      }
      await inTurns(outdated, MAX_RUNNING_QUERIES, async (query) => {
        const modification = this.#complete(query, await this.#run(query, identity, ts));
        if (modification !== null) modifications.set(query.request.queryId, modification);
      });
      return { ts, modifications: inOrder(modifications) };
    } finally {
      this.#since = null;
    }
  }

  #applyChanges(modifications: Map<number, Modification>): void {
    for (const change of this.#changes.splice(0)) {
      const { queryId } = change;
      if (change.type === "Remove") {
        this.#queries.delete(queryId);
        modifications.set(queryId, { type: "QueryRemoved", queryId });
      } else {
        const journal = change.journal ?? null;
        const query = { request: change, journal, reads: null, outdated: true, told: null };
        this.#queries.set(queryId, query);
      }
    }
  }

  #run(query: WatchedQuery, identity: Identity, at: Ts): Promise<CalledQuery> {
    const { udfPath: path, args, componentPath } = query.request;
    const { journal } = query;
    return this.#options.calls.query({
      path,
      args: args[0] ?? {},
      identity,
      componentPath,
      journal,
      at,
    });
  }

  #complete(query: WatchedQuery, result: CalledQuery): Modification | null {
    const { reads, journal } = result;
    query.reads = reads;
    query.journal = journal;
    if (reads !== null && this.#since?.some((commit) => commit.touches(reads))) {
      // Said here: while it ran, the commit found only its earlier read set.
      query.outdated = true;
      this.#options.onOutdated();
    }
    const told = digest(result);
    if (told === query.told) return null;
    query.told = told;
    return toModification(query.request.queryId, result);
  }

  #follow(commit: FeedCommit): number {
    this.#since?.push(commit);
    let count = 0;
    for (const query of this.#queries.values()) {
      if (query.outdated || !query.reads || !commit.touches(query.reads)) continue;
      query.outdated = true;
      count++;
    }
    return count;
  }
}

async function inTurns<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await run(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}

function inOrder(modifications: Map<number, Modification>): Modification[] {
  return [...modifications.values()].sort((a, b) => a.queryId - b.queryId);
}

/** Not of data beside an error, nor of the request's id, which differs each time (sync/src/state.rs, `hash_result`). */
function digest(result: CalledQuery): string {
  const value = result.ok ? result.value : result.message.replace(/^\[Request ID: \w+\] /, "");
  return createHash("sha256")
    .update(JSON.stringify([result.ok, value, result.logs]))
    .digest("base64");
}

function toModification(queryId: number, result: CalledQuery): Modification {
  const { logs: logLines, journal } = result;
  if (result.ok) return { type: "QueryUpdated", queryId, value: result.value, logLines, journal };
  return {
    type: "QueryFailed",
    queryId,
    errorMessage: result.message,
    ...(result.data === undefined ? {} : { errorData: result.data }),
    logLines,
    journal,
  };
}

function misuse(code: string, message: string): PlatformError {
  return new PlatformError(400, code, message);
}
