/** The backend's commits, change by change, as its store received them: the one truth that checkers go by. */
import type { StoredCommit } from "../../local/engine/store.js";
import { MemoryStore } from "../../local/store/memoryStore.js";
import { COMPONENT } from "./deployment.js";

export type Row = Record<string, any> & { _id: string };

/** One row before and after: `null` where there is none. */
export interface Change {
  /** "" for the app, else the component. */
  namespace: string;
  table: string;
  id: string;
  before: Row | null;
  after: Row | null;
}

export interface Commit {
  /** Milliseconds from the start of the world. */
  at: number;
  changes: readonly Change[];
}

/** All rows as they are after the last commit. */
export class Tables {
  readonly #rows = new Map<string, Map<string, Row>>();
  /** Rows of the app's as they were before they were deleted. */
  readonly #gone = new Map<string, Row>();

  /** Of the component, unless it is said. */
  all(table: string, namespace: string = COMPONENT): Row[] {
    return [...this.#of(namespace, table).values()];
  }

  get(table: string, id: string, namespace: string = COMPONENT): Row | undefined {
    return this.#of(namespace, table).get(id);
  }

  /** A row of the app's, also one that has been deleted. */
  ofApp(table: string, id: string): Row | undefined {
    return this.get(table, id, "") ?? this.#gone.get(id);
  }

  apply({ writes }: StoredCommit): Change[] {
    return writes.map(({ namespace, table, id, doc }) => {
      const rows = this.#of(namespace, table);
      const before = rows.get(id) ?? null;
      const after = doc as Row | null;
      if (namespace === "" && after === null && before !== null) this.#gone.set(id, before);
      if (after === null) rows.delete(id);
      else rows.set(id, after);
      return { namespace, table, id, before, after };
    });
  }

  #of(namespace: string, table: string): Map<string, Row> {
    const key = `${namespace}\0${table}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const made = new Map<string, Row>();
    this.#rows.set(key, made);
    return made;
  }
}

/** The store of the world's backends; its observers receive each commit before any client does. */
export class ObservedStore extends MemoryStore {
  readonly tables = new Tables();
  /** Whether the backend dies with this commit: neither it nor any after it is kept. */
  diesBefore: (commit: StoredCommit) => boolean = () => false;

  constructor(
    private readonly now: () => number,
    private readonly seen: (commit: Commit) => void,
  ) {
    super();
  }

  override async append(commits: readonly StoredCommit[]): Promise<void> {
    for (const commit of commits) {
      if (this.diesBefore(commit)) return await new Promise(() => {});
      const changes = this.tables.apply(commit);
      await super.append([commit]);
      this.seen({ at: this.now(), changes });
    }
  }
}
