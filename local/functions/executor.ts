/**
 * Starts scheduled functions when they are due: one loop over all namespaces, earliest first, a bounded number at once.
 *
 * It holds nothing that is not in the tables but the set of what runs. It never polls: it reads the head of each
 * namespace's queue in a transaction, and looks again when a commit writes into what it has read, when a run ends, or
 * when the next one is due. A backend that is started again thus goes on where the tables say.
 */
import type { PublishedCommit, Transaction } from "../engine/types.js";
import type { Timer } from "../environment.js";
import { sweepCompleted } from "./retention.js";
import { DUE_INDEX, SCHEDULED_TABLE, type ScheduledRow } from "./scheduledTable.js";
import { runScheduled, type RunAction } from "./scheduledRuns.js";
import type { Services } from "./scope.js";

interface DueRow {
  namespace: string;
  row: ScheduledRow & { due: number };
}

export class Executor {
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
    private readonly services: Services,
    private readonly runAction: RunAction,
  ) {
    this.#unsubscribe = services.database.onPublish((commit) => {
      this.#commits.push(commit);
      this.#wake?.();
    });
    this.#loop = this.#run();
  }

  /** Namespaces may have come or gone. */
  look(): void {
    this.#changed = true;
    this.#wake?.();
  }

  /** Starts nothing more. Resolves when what runs has ended. */
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

  /** Starts what is due and finds room. Gives when the next is due; `null` when only an event can change anything. */
  async #startDue(tx: Transaction): Promise<number | null> {
    const room = this.services.options.scheduledParallelism - this.#running.size;
    if (room <= 0) return null;
    const heads: DueRow[] = [];
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
  async #head(tx: Transaction, namespace: string, room: number): Promise<DueRow[]> {
    const now = this.services.env.now();
    const head: DueRow[] = [];
    const rows = tx.stream(namespace, {
      table: SCHEDULED_TABLE,
      index: DUE_INDEX,
      range: [{ type: "Gt", fieldPath: "due", value: null }],
      order: "asc",
      system: true,
    });
    for await (const doc of rows) {
      const row = doc as DueRow["row"];
      if (this.#running.has(keyOf(namespace, row))) continue;
      head.push({ namespace, row });
      if (row.due > now || head.length === room) break;
    }
    return head;
  }

  #start(namespace: string, row: ScheduledRow): void {
    const key = keyOf(namespace, row);
    const run = runScheduled(this.services, this.runAction, namespace, row)
      .then(() => sweepCompleted(this.services, namespace))
      .catch((error: unknown) =>
        console.error(`Scheduled function ${row.name} was not completed:`, error),
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
      // What was published while the queues were read may have come too early for their snapshot.
      check();
    });
    (timer as Timer | null)?.cancel();
    this.#wake = null;
  }
}

function keyOf(namespace: string, { _id }: ScheduledRow): string {
  return `${namespace} ${_id}`;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
