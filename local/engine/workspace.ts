/**
 * A transaction's own writes, on private copies of its snapshot's trees. The copies share all but the touched paths,
 * and being immutable they make a savepoint a reference.
 */
import type { Snapshot } from "./snapshot.js";
import type { Table, Write } from "./table.js";
import type { Doc, Namespace, Savepoint, Ts } from "./types.js";

/** A transaction's changes, ready to commit. */
export interface Outcome {
  /** One for each document: from the snapshot's version to the latest one. */
  writes: Write[];
  /** Empty, as they were before their first row. */
  createdTables: Table[];
  afterCommit: ((ts: Ts) => void)[];
}

export class Workspace {
  #view: Snapshot;
  readonly #writes: Write[] = [];
  readonly #createdTables: Table[] = [];
  readonly #afterCommit: ((ts: Ts) => void)[] = [];

  constructor(snapshot: Snapshot) {
    this.#view = snapshot;
  }

  /** The snapshot with these writes. */
  get view(): Snapshot {
    return this.#view;
  }

  get hasWrites(): boolean {
    return this.#writes.length > 0;
  }

  createTable(namespace: Namespace, name: string): Table {
    const table = this.#view.createTable(namespace, name);
    this.#createdTables.push(table);
    this.#view = this.#view.withTable(table);
    return table;
  }

  write(table: Table, id: string, before: Doc | null, after: Doc | null): void {
    const write = { namespace: table.namespace, table: table.name, id, before, after };
    this.#view = this.#view.withWrites([write]);
    this.#writes.push(write);
  }

  afterCommit(run: (ts: Ts) => void): void {
    this.#afterCommit.push(run);
  }

  savepoint(): Savepoint {
    const view = this.#view;
    const lists: unknown[][] = [this.#writes, this.#createdTables, this.#afterCommit];
    const lengths = lists.map((list) => list.length);
    return {
      release: () => {},
      rollback: () => {
        this.#view = view;
        lists.forEach((list, i) => (list.length = lengths[i]!));
      },
    };
  }

  outcome(): Outcome {
    const byId = new Map<string, Write>();
    for (const write of this.#writes) {
      const key = `${write.namespace}:${write.id}`;
      const first = byId.get(key);
      byId.set(key, first === undefined ? write : { ...write, before: first.before });
    }
    return {
      // Inserted and deleted again: no other transaction has seen it.
      writes: [...byId.values()].filter(({ before, after }) => before !== null || after !== null),
      createdTables: this.#createdTables,
      afterCommit: this.#afterCommit,
    };
  }
}
