/**
 * Tells sockets which of their queries a commit has outdated. One listener on the database serves all sockets, and asks
 * a commit about one read set only once: clients that share a query share its cached result, and so its read set.
 */
import type { Database, PublishedCommit, ReadSet, Ts } from "../../engine/types.js";

/** A published commit, with answers remembered. */
export interface FeedCommit {
  ts: Ts;
  touches(reads: ReadSet): boolean;
}

export class CommitFeed {
  readonly #listeners = new Set<(commit: FeedCommit) => void>();
  readonly #stop: () => void;

  constructor(database: Database) {
    this.#stop = database.onPublish((commit) => {
      if (this.#listeners.size === 0) return;
      const remembered = remember(commit);
      for (const listener of [...this.#listeners]) listener(remembered);
    });
  }

  subscribe(listener: (commit: FeedCommit) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }
}

function remember(commit: PublishedCommit): FeedCommit {
  const answers = new Map<ReadSet, boolean>();
  return {
    ts: commit.ts,
    touches(reads) {
      const known = answers.get(reads);
      if (known !== undefined) return known;
      const answer = commit.touches(reads);
      answers.set(reads, answer);
      return answer;
    },
  };
}
