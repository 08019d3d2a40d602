/**
 * The whole database at one timestamp: namespaces, their tables, the tables' trees. Immutable, so that a transaction
 * keeps reading its own snapshot while later ones are published.
 */
import {
  FIRST_SYSTEM_TABLE_NUMBER,
  FIRST_USER_TABLE_NUMBER,
  TOMBSTONE_GENERATION_MS,
} from "./limits.js";
import { tableNumberOf } from "./ids.js";
import {
  isSystemTable,
  newTable,
  withoutExpiredTombstones,
  withWrites,
  type Table,
  type Write,
} from "./table.js";
import type { Namespace, Ts } from "./types.js";

const SWEEP_NS = BigInt(TOMBSTONE_GENERATION_MS) * 1_000_000n;

type TablesByName = ReadonlyMap<string, Table>;

export class Snapshot {
  static empty(ts: Ts): Snapshot {
    return new Snapshot(ts, new Map(), new Map(), ts);
  }

  private constructor(
    readonly ts: Ts,
    private readonly byName: ReadonlyMap<Namespace, TablesByName>,
    /** Table numbers are a namespace's own: the same number is another table elsewhere. */
    private readonly names: ReadonlyMap<Namespace, ReadonlyMap<number, string>>,
    /** When tombstones were last swept for expired ones. */
    private readonly sweptAt: Ts,
  ) {}

  table(namespace: Namespace, name: string): Table | undefined {
    return this.byName.get(namespace)?.get(name);
  }

  tables(namespace: Namespace): Iterable<Table> {
    return this.byName.get(namespace)?.values() ?? [];
  }

  /** Of all namespaces, without the system's. */
  get userTables(): number {
    let count = 0;
    for (const tables of this.byName.values()) {
      for (const name of tables.keys()) if (!isSystemTable(name)) count++;
    }
    return count;
  }

  /** The table of the number in an id, whether or not there is such a document. */
  tableOfId(namespace: Namespace, id: string): Table | undefined {
    const number = tableNumberOf(id);
    const name = number === null ? undefined : this.names.get(namespace)?.get(number);
    return name === undefined ? undefined : this.table(namespace, name);
  }

  /** An empty table with the next free number. Not yet part of any snapshot. */
  createTable(namespace: Namespace, name: string): Table {
    const isSystem = isSystemTable(name);
    let number = isSystem ? FIRST_SYSTEM_TABLE_NUMBER : FIRST_USER_TABLE_NUMBER;
    for (const table of this.tables(namespace)) {
      if (isSystemTable(table.name) === isSystem) number = Math.max(number, table.number + 1);
    }
    return newTable(namespace, name, number);
  }

  withTable(table: Table): Snapshot {
    const tables = new Map(this.byName.get(table.namespace)).set(table.name, table);
    const byName = new Map(this.byName).set(table.namespace, tables);
    const known = this.names.get(table.namespace);
    const { ts, sweptAt } = this;
    if (known?.get(table.number) === table.name)
      return new Snapshot(ts, byName, this.names, sweptAt);
    const names = new Map(known).set(table.number, table.name);
    return new Snapshot(ts, byName, new Map(this.names).set(table.namespace, names), sweptAt);
  }

  withTables(tables: readonly Table[]): Snapshot {
    return tables.reduce<Snapshot>((snapshot, table) => snapshot.withTable(table), this);
  }

  /** Writes to tables that this snapshot has; the writes of a commit, with its timestamp. */
  withWrites(writes: readonly Write[], ts?: Ts): Snapshot {
    const groups = new Map<Table, Write[]>();
    for (const write of writes) {
      const table = this.table(write.namespace, write.table);
      if (!table) throw new Error(`A write to table "${write.table}", which does not exist.`);
      const group = groups.get(table);
      if (group) group.push(write);
      else groups.set(table, [write]);
    }
    const written = this.withTables(
      [...groups].map(([table, group]) => withWrites(table, group, ts)),
    );
    return ts === undefined || ts - this.sweptAt < SWEEP_NS ? written : written.swept(ts);
  }

  /** Tables without further writes would otherwise keep theirs for ever. */
  private swept(now: Ts): Snapshot {
    const tables = [...this.byName.values()].flatMap((byName) => [...byName.values()]);
    const changed = tables
      .map((table) => [table, withoutExpiredTombstones(table, now)] as const)
      .flatMap(([before, after]) => (before === after ? [] : [after]));
    const { ts, byName, names } = this.withTables(changed);
    return new Snapshot(ts, byName, names, now);
  }

  at(ts: Ts): Snapshot {
    return new Snapshot(ts, this.byName, this.names, this.sweptAt);
  }
}
