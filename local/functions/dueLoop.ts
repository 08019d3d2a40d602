/**
 * Starts due rows: one loop over the queues of all namespaces, earliest first, a bounded number at once. Scheduled
 * functions and crons have one each; the meaning of a row is theirs.
 *
 * Its only state outside the tables is the set of running rows. It never polls: it reads the head of each namespace's
 * queue in a transaction, and reads again when a commit writes into that read set, when a run ends, or when the next
 * row is due. A backend that is started again thus goes on where the tables say.
 */
import type { Doc, Namespace, PublishedCommit, Transaction } from "../engine/types.js";
import type { Timer } from "../environment.js";
import type { Services } from "./scope.js";

/** A row that waits for its time; its table has an index on `due`. */
export type Due = Doc & { due: number };

export interface DueQueue<Row extends Due> {
  table: string;
  index: string;
  /** How many run at once, over all namespaces. */
  parallelism: number;
  /** Resolves when the row's place is free again. A rejection is a fault of the backend. */
  run(namespace: Namespace, row: Row): Promise<void>;
  /** Called with the delay of a start after its due time. */
  onStart?(lateMs: number): void;
}

interface Head<Row> {
  namespace: Namespace;
  row: Row;
}

export class DueLoop<Row extends Due> {
  readonly #running = new Map<string, Promise<void>>();
  /** Commits published since the loop last looked: one of them may concern it. */
  #commits: PublishedCommit[] = [];
  #wake: (() => void) | null = null;
  #stopped = false;
  /** Something outside of the tables changed: a push, or room for one more. */
  #changed = false;
  readonly #loop: Promise<void>;
  readonly #unsubscribe: () => void;

  constructor(
    private readonly services: Pick<Services, "env" | "database" | "deployment">,
    private readonly queue: DueQueue<Row>,
  ) {
    this.#unsubscribe = services.database.onPublish((commit) => {
      this.#commits.push(commit);
      this.#wake?.();
    });
    this.#loop = this.#run();
  }

  get running(): number {
    return this.#running.size;
  }

  /** Namespaces may have come or gone. */
  look(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Starts nothing more. Resolves when all runs have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    this.#wake?.();
    await this.#loop;
    await Promise.all(this.#running.values());
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#commits = [];
      this.#changed = false;
      const tx = this.services.database.begin();
      const nextDue = await this.#startDue(tx);
      if (this.#stopped) return;
      await this.#untilConcerned(tx, nextDue);
    }
  }

  /** Starts the due rows that find room. Gives when the next is due; `null` when only an event can change anything. */
  async #startDue(tx: Transaction): Promise<number | null> {
    const room = this.queue.parallelism - this.#running.size;
    if (room <= 0) return null;
    const heads: Head<Row>[] = [];
    for (const namespace of this.services.deployment().instances.keys()) {
      heads.push(...(await this.#head(tx, namespace, room)));
    }
    heads.sort((a, b) => a.row.due - b.row.due || order(a.namespace, b.namespace));
    const now = this.services.env.now();
    for (const { namespace, row } of heads.slice(0, room)) {
      if (row.due > now) return row.due;
      this.#start(namespace, row);
    }
    return null;
  }

  /** The first rows that do not run yet: no more than could start, and at most one that is not due. */
  async #head(tx: Transaction, namespace: Namespace, room: number): Promise<Head<Row>[]> {
    const now = this.services.env.now();
    const head: Head<Row>[] = [];
    const rows = tx.stream(namespace, {
      table: this.queue.table,
      index: this.queue.index,
      range: [{ type: "Gt", fieldPath: "due", value: null }],
      order: "asc",
      system: true,
    });
    for await (const doc of rows) {
      const row = doc as Row;
      if (this.#running.has(keyOf(namespace, row))) continue;
      head.push({ namespace, row });
      if (row.due > now || head.length === room) break;
    }
    return head;
  }

  #start(namespace: Namespace, row: Row): void {
    const key = keyOf(namespace, row);
    this.queue.onStart?.(Math.max(0, this.services.env.now() - row.due));
    const run = this.queue
      .run(namespace, row)
      .catch((error: unknown) =>
        console.error(`A row of ${this.queue.table} was not completed:`, error),
      )
      .then(() => {
        this.#running.delete(key);
        this.look();
      });
    this.#running.set(key, run);
  }

  async #untilConcerned(tx: Transaction, due: number | null): Promise<void> {
    const { env } = this.services;
    let timer: Timer | null = null;
    await new Promise<void>((resolve) => {
      const check = () => {
        const concerned = this.#commits.some((commit) => commit.touches(tx.reads));
        this.#commits = [];
        if (this.#stopped || this.#changed || concerned) resolve();
      };
      this.#wake = check;
      if (due !== null) timer = env.timer(Math.max(0, due - env.now()), resolve);
      // A commit published while the queues were read may be newer than their snapshot.
      check();
    });
    (timer as Timer | null)?.cancel();
    this.#wake = null;
  }
}

function keyOf(namespace: Namespace, { _id }: Doc): string {
  return `${namespace} ${_id}`;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
