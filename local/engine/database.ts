/**
 * The database: the latest published snapshot, and the way of a commit into it.
 *
 * A commit is validated and gets its timestamp in one step, waits the time that storing it would take, and is then
 * published, strictly in the order of timestamps. Between the two, new transactions begin without it and are validated
 * against it: that gap is where a hot document's conflicts come from.
 */
import type { Environment } from "../environment.js";
import { callBack } from "./callbacks.js";
import { ConflictError } from "./conflict.js";
import { resolveCommitTs } from "./documents.js";
import { DEFAULT_PUBLISH_LATENCY_MS, ROWS_PER_CHECK } from "./limits.js";
import { Publisher } from "./publisher.js";
import { changedTables, mismatches } from "./schema.js";
import { Snapshot } from "./snapshot.js";
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

export function createDatabase(env: Environment, options: DatabaseOptions = {}): Database {
  return new EngineDatabase(env, options);
}

class EngineDatabase implements Database {
  readonly #log = new WriteLog();
  readonly #publisher: Publisher;
  #lastAssigned: Ts;

  constructor(
    private readonly env: Environment,
    private readonly options: DatabaseOptions,
  ) {
    this.#lastAssigned = nanoseconds(env);
    this.#publisher = new Publisher(env, Snapshot.empty(this.#lastAssigned), {
      latencyMs: options.publishLatencyMs ?? DEFAULT_PUBLISH_LATENCY_MS,
      onPublished: (ts) => this.#log.trim(nanoseconds(env), ts),
    });
  }

  get latestTs(): Ts {
    return this.#publisher.latest.ts;
  }

  begin(): Transaction {
    return new EngineTransaction(this.env, this.#publisher.latest);
  }

  async commit(transaction: Transaction, source: string): Promise<Ts> {
    const committing = transaction as EngineTransaction;
    const { beginTs, reads } = committing;
    const { writes, createdTables, afterCommit } = committing.outcome();
    const unwritten = () => {
      for (const run of afterCommit) callBack(() => run(beginTs));
      return beginTs;
    };
    if (!committing.mayConflict) return unwritten();
    await this.env.pause();
    // From here to the publisher nothing waits: what was validated is what was assigned before.
    const conflict = this.options.skipValidation ? null : this.#log.conflict(reads, beginTs);
    if (conflict !== null) throw new ConflictError(conflict);
    if (!committing.hasWrites) return unwritten();
    const record = this.#assign(source);
    const resolved = writes.map((write) => ({
      ...write,
      after: write.after && resolveCommitTs(write.after, record.ts),
    }));
    for (const table of createdTables) record.addCatalogChange(table.name);
    record.addWrites(this.#publisher.latest.withTables(createdTables), resolved);
    this.#log.add(record);
    await this.#publisher.publish(record, (latest) =>
      latest.withTables(createdTables).withWrites(resolved),
    );
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

  async applySchemas(changes: readonly SchemaChange[], visible?: () => void): Promise<void> {
    await this.env.pause();
    // What is on its way must be there before anybody can say what changes.
    await this.published(this.#lastAssigned);
    const changed = (latest: Snapshot, { namespace, tables, enforce }: SchemaChange) =>
      changedTables(latest, namespace, tables, enforce);
    const changing = changes.filter((change) => changed(this.#publisher.latest, change).length > 0);
    if (changing.length === 0) return visible?.();
    const record = this.#assign("schema push");
    for (const { namespace } of changing) record.addCatalogChange(namespace);
    this.#log.add(record);
    await this.#publisher.publish(record, (latest) => {
      for (const { namespace, tables, enforce } of changing) {
        if (!enforce) continue;
        for (const mismatch of mismatches(latest, namespace, tables)) {
          if (mismatch !== null) throw new Error(mismatch);
        }
      }
      const next = latest.withTables(changing.flatMap((change) => changed(latest, change)));
      visible?.();
      return next;
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

  #assign(source: string): CommitRecord {
    const now = nanoseconds(this.env);
    this.#lastAssigned = now > this.#lastAssigned ? now : this.#lastAssigned + 1n;
    return new CommitRecord(this.#lastAssigned, source);
  }
}

function nanoseconds(env: Environment): Ts {
  return BigInt(Math.round(env.now() * 1e6));
}
