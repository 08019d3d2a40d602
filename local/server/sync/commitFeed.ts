/**
 * Tells sockets which of their queries a commit has outdated. One listener on the database serves all sockets, and asks
 * a commit about one read set only once: clients that share a query share its cached result, and so its read set.
 *
 * All receive a commit at once, but when it outdates many queries, they are woken one after another, so that they do
 * not all run in the same moment.
 */
import type { Database, PublishedCommit, ReadSet, Ts } from "../../engine/types.js";
import type { Environment } from "../../environment.js";
import { MAX_WOKEN_AT_ONCE, WAKE_SPLAY_MS } from "../limits.js";

/** A published commit, with answers remembered. */
export interface FeedCommit {
  ts: Ts;
  touches(reads: ReadSet): boolean;
}

export interface FeedReader {
  /** Gives how many queries the commit has outdated. */
  follow(commit: FeedCommit): number;
  /** The outdated queries may run now. Called once for each of them. */
  wake(): void;
}

export class CommitFeed {
  readonly #readers = new Set<FeedReader>();
  readonly #stop: () => void;

  constructor(
    database: Pick<Database, "onPublish">,
    private readonly env: Pick<Environment, "timer" | "random">,
  ) {
    this.#stop = database.onPublish((commit) => {
      if (this.#readers.size > 0) this.#tell(remember(commit));
    });
  }

  subscribe(reader: FeedReader): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  close(): void {
    this.#stop();
    this.#readers.clear();
  }

  #tell(commit: FeedCommit): void {
    const outdated: FeedReader[] = [];
    for (const reader of [...this.#readers]) {
      for (let count = reader.follow(commit); count > 0; count--) outdated.push(reader);
    }
    if (outdated.length <= MAX_WOKEN_AT_ONCE) {
      for (const reader of outdated) reader.wake();
      return;
    }
    const longest = outdated.length * WAKE_SPLAY_MS;
    for (const reader of outdated) {
      this.env.timer(this.env.random() * longest, () => {
        if (this.#readers.has(reader)) reader.wake();
      });
    }
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
