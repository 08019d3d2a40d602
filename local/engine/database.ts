/**
 * The database: the latest published snapshot, and the way of a commit into it.
 *
 * A commit is validated and gets its timestamp in one step, waits until it is stored (or as long as storing it would
 * take), and is then published, strictly in the order of timestamps. Between the two, new transactions begin without it and are validated
 * against it: that gap is where a hot document's conflicts come from.
 */
import type { Environment } from "../environment.js";
import { limitsWith, type Limits } from "../limits.js";
import { callBack } from "./callbacks.js";
import { ConflictError, OutOfRetentionError } from "./conflict.js";
import { resolveCommitTs } from "./documents.js";
import { DEFAULT_PUBLISH_LATENCY_MS, ROWS_PER_CHECK } from "./limits.js";
import { Publisher, type Change } from "./publisher.js";
import { restore, storedTable } from "./restoring.js";
import { changedTables, mismatches } from "./schema.js";
import { Snapshot } from "./snapshot.js";
import type { Store, StoredCommit } from "./store.js";
import { EngineTransaction } from "./transaction.js";
import type {
  Database,
  DatabaseOptions,
  Namespace,
  PublishedCommit,
  SchemaChange,
  TableSpec,
  Transaction,
  Ts,
} from "./types.js";
import { CommitRecord, WriteLog } from "./writeLog.js";

/** In memory: gone with the process. */
export function createDatabase(
  env: Environment,
  options: Omit<DatabaseOptions, "store"> = {},
): Database {
  return new EngineDatabase(env, options, Snapshot.empty(nanoseconds(env)), new Map());
}

/** On a store: begins with the store's rows, at a timestamp above all earlier ones. */
export async function openDatabase(
  env: Environment,
  options: DatabaseOptions & { store: Store },
): Promise<Database> {
  const { snapshot, settings } = await restore(options.store);
  const now = nanoseconds(env);
  // Clients remember the latest timestamp they saw, and the clock may have been set back since.
  const ts = snapshot === null || now > snapshot.ts ? now : snapshot.ts + 1n;
  await options.store.append([{ ...EMPTY_COMMIT, ts }]);
  const initial = snapshot === null ? Snapshot.empty(ts) : snapshot.at(ts);
  return new EngineDatabase(env, options, initial, settings);
}

class EngineDatabase implements Database {
  readonly limits: Readonly<Limits>;
  readonly #log = new WriteLog();
  readonly #publisher: Publisher;
  #lastAssigned: Ts;
  #settings: ReadonlyMap<string, string>;

  constructor(
    private readonly env: Environment,
    private readonly options: DatabaseOptions,
    initial: Snapshot,
    settings: ReadonlyMap<string, string>,
  ) {
    const { store } = options;
    this.limits = limitsWith(options.limits);
    this.#lastAssigned = initial.ts;
    this.#settings = settings;
    this.#publisher = new Publisher(env, initial, {
      store,
      latencyMs: options.publishLatencyMs ?? (store ? 0 : DEFAULT_PUBLISH_LATENCY_MS),
      onPublished: (ts) => this.#log.trim(nanoseconds(env), ts),
    });
  }

  get latestTs(): Ts {
    return this.#publisher.latest.ts;
  }

  get settings(): ReadonlyMap<string, string> {
    return this.#settings;
  }

  begin(at?: Ts): Transaction {
    const snapshot = at === undefined ? this.#publisher.latest : this.#publisher.at(at);
    if (snapshot === null) throw OutOfRetentionError.reading(at!, this.latestTs);
    const lagMs = this.options.snapshotLagMs?.() ?? 0;
    const then = nanoseconds(this.env) - BigInt(lagMs * 1e6);
    const older = lagMs > 0 && then < snapshot.ts ? this.#publisher.at(then) : null;
    return new EngineTransaction(this.env, snapshot, this.limits, undefined, older ?? snapshot);
  }

  async commit(transaction: Transaction, source: string, author = source): Promise<Ts> {
    const committing = transaction as EngineTransaction;
    const { beginTs, reads } = committing;
    const { writes, createdTables, afterCommit } = committing.outcome();
    const unwritten = () => {
      for (const run of afterCommit) callBack(() => run(beginTs));
      return beginTs;
    };
    if (!committing.mayConflict) return unwritten();
    await this.env.pause();
    // From here to the publisher nothing waits: validation sees every commit that was assigned before.
    const conflict = this.options.skipValidation ? null : this.#log.conflict(reads, beginTs);
    if (conflict !== null) throw new ConflictError(conflict);
    if (this.options.refuses?.(author) === true) {
      throw new ConflictError({ ...NOBODYS_CONFLICT, ts: this.latestTs });
    }
    if (!committing.hasWrites) return unwritten();
    const record = this.#assign(source, author);
    const resolved = writes.map((write) => ({
      ...write,
      after: write.after && resolveCommitTs(write.after, record.ts),
    }));
    for (const table of createdTables) record.addCatalogChange(table.name);
    record.addWrites(this.#publisher.latest.withTables(createdTables), resolved);
    this.#log.add(record);
    await this.#publisher.publish(record, {
      stored: {
        ...EMPTY_COMMIT,
        ts: record.ts,
        tables: createdTables.map(storedTable),
        writes: resolved.map(({ namespace, table, id, after }) => ({
          namespace,
          table,
          id,
          doc: after,
        })),
        size: { documents: resolved.length, bytes: record.bytes },
      },
      apply: (latest) => latest.withTables(createdTables).withWrites(resolved, record.ts),
    });
    for (const run of afterCommit) callBack(() => run(record.ts));
    return record.ts;
  }

  published(ts: Ts): Promise<void> {
    return this.#publisher.published(ts);
  }

  onPublish(listener: (commit: PublishedCommit) => void): () => void {
    return this.#publisher.listen(listener);
  }

  applySchema(
    namespace: Namespace,
    tables: TableSpec[],
    { enforce }: { enforce: boolean },
  ): Promise<void> {
    return this.applySchemas([{ namespace, tables, enforce }]);
  }

  async applySchemas(
    changes: readonly SchemaChange[],
    visible?: () => void,
    settings: ReadonlyMap<string, string | null> = new Map(),
  ): Promise<void> {
    await this.env.pause();
    // Commits under way must be visible before the changes can be computed.
    await this.published(this.#lastAssigned);
    const changed = (latest: Snapshot, { namespace, tables, enforce }: SchemaChange) =>
      changedTables(latest, namespace, tables, enforce, this.limits);
    const changing = changes.filter((change) => changed(this.#publisher.latest, change).length > 0);
    const setting = [...settings].filter(
      ([name, text]) => (this.#settings.get(name) ?? null) !== text,
    );
    if (changing.length === 0 && setting.length === 0) return visible?.();
    const record = this.#assign("schema push");
    for (const { namespace } of changing) record.addCatalogChange(namespace);
    this.#log.add(record);
    await this.#publisher.publishInTurn(record, (latest): Change => {
      for (const { namespace, tables, enforce } of changing) {
        if (!enforce) continue;
        for (const mismatch of mismatches(latest, namespace, tables)) {
          if (mismatch !== null) throw new Error(mismatch);
        }
      }
      const tables = changing.flatMap((change) => changed(latest, change));
      return {
        stored: {
          ...EMPTY_COMMIT,
          ts: record.ts,
          tables: tables.map(storedTable),
          settings: new Map(setting),
        },
        // Nothing comes between: it is prepared and published in its turn.
        apply: (latest) => {
          const next = latest.withTables(tables);
          this.#settings = withSettings(this.#settings, setting);
          visible?.();
          return next;
        },
      };
    });
  }

  async checkSchema(namespace: Namespace, specs: TableSpec[]): Promise<void> {
    await this.env.pause();
    let checked = 0;
    for (const mismatch of mismatches(this.#publisher.latest, namespace, specs)) {
      if (mismatch !== null) throw new Error(mismatch);
      if (++checked % ROWS_PER_CHECK === 0) await this.env.pause();
    }
  }

  tables(namespace: Namespace): string[] {
    return [...this.#publisher.latest.tables(namespace)].map((table) => table.name);
  }

  #assign(source: string, author = source): CommitRecord {
    const now = nanoseconds(this.env);
    this.#lastAssigned = now > this.#lastAssigned ? now : this.#lastAssigned + 1n;
    return new CommitRecord(this.#lastAssigned, source, author);
  }
}

const NOBODYS_CONFLICT = { table: "any", id: "any", source: "nobody", author: "nobody" };

const EMPTY_COMMIT = {
  tables: [],
  writes: [],
  settings: new Map<string, string | null>(),
  size: { documents: 0, bytes: 0 },
} as const satisfies Omit<StoredCommit, "ts">;

function withSettings(
  settings: ReadonlyMap<string, string>,
  changes: readonly (readonly [string, string | null])[],
): ReadonlyMap<string, string> {
  const next = new Map(settings);
  for (const [name, text] of changes) {
    if (text === null) next.delete(name);
    else next.set(name, text);
  }
  return next;
}

function nanoseconds(env: Environment): Ts {
  return BigInt(Math.round(env.now() * 1e6));
}
