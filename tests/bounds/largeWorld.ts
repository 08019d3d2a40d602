/**
 * The component's tables at their documented limits, written at once: many queues, of which some have as many places as a queue
 * may have, and around them sessions, lanes, alarms and callbacks. A function's reads there are its worst case.
 */
import type { EngineTransaction } from "../../local/engine/transaction.js";
import type { TransactionLimits } from "../../local/limits.js";
import {
  bandsOf,
  placeOf,
  PRIORITY_MAX,
  PRIORITY_MIN,
  routeKey,
  SHARDS_MAX,
  type QueueDeclaration,
} from "../../src/shared/index.js";
import { Line } from "../interleavings/line.js";
import type { Begun, Transactions } from "../interleavings/transactions.js";
import { COMPONENT } from "../races/deployment.js";

export const PRIORITIES = Array.from(
  { length: PRIORITY_MAX - PRIORITY_MIN + 1 },
  (_, i) => PRIORITY_MIN + i,
);

/** The use of the platform's limits by one transaction, or by one snapshot query of it. */
export type Used = Pick<
  TransactionLimits,
  "databaseQueries" | "documentsRead" | "bytesRead" | "documentsWritten" | "bytesWritten"
>;

export const UNLIMITED: TransactionLimits = {
  bytesRead: Infinity,
  bytesWritten: Infinity,
  databaseQueries: Infinity,
  documentsRead: Infinity,
  documentsWritten: Infinity,
  functionsScheduled: Infinity,
  scheduledFunctionArgsBytes: Infinity,
};

export type Fields = Record<string, unknown>;

export class LargeWorld {
  readonly line: Line;

  constructor(readonly transactions: Transactions) {
    this.line = new Line(transactions);
  }

  /** Writes these rows as one commit. Returns their ids. */
  async plant(table: string, rows: readonly Fields[]): Promise<string[]> {
    return await this.write(async (transaction) => {
      const ids: string[] = [];
      for (const row of rows) ids.push(await transaction.insert(COMPONENT, table, row as never));
      return ids;
    });
  }

  async write<T>(work: (transaction: EngineTransaction) => Promise<T>): Promise<T> {
    const transaction = this.line.point.begin();
    transaction.limits = UNLIMITED;
    const answer = await work(transaction);
    this.line.point = this.line.point.commit(transaction, "plant")!;
    return answer;
  }

  /** A commit timestamp of so many milliseconds ago. */
  seqOf(agoMs: number): bigint {
    return BigInt(Math.round(this.transactions.now - agoMs)) * 1_000_000n;
  }

  /** A waiting job's row. */
  waiting(queue: string, order: number, shard: number, agoMs: number): Fields {
    const enqueuedAt = this.transactions.now - agoMs;
    return {
      ...{ queue, status: "pending", order, shard, seq: this.seqOf(agoMs), enqueuedAt },
      ...{ payload: { inline: 1 }, attempt: 0 },
    };
  }

  /** A queue's row, and the rows of its routes, in all of which jobs of these priorities may wait. */
  async plantQueue(
    { name, config }: QueueDeclaration,
    { routes = 1, priorities = [0] }: { routes?: number; priorities?: number[] } = {},
  ): Promise<void> {
    const configuredAt = this.transactions.now - 60_000;
    const { shards } = config;
    await this.plant("queues", [{ name, config, configuredAt, shardsEver: shards, epoch: 0 }]);
    const rows = Array.from({ length: routes }, (_, number) => {
      const labels = number === 0 ? [] : [`label${number}`];
      const key = routeKey({ labels });
      return { queue: name, key, labels, costClass: 0, number, priorities };
    });
    await this.plant("routes", rows);
  }

  /** A job in every place of these routes. */
  async fill(queue: string, shards: number, priorities: number[], routes = 1, agoMs = 60_000) {
    const rows: Fields[] = [];
    for (const order of priorities.flatMap((priority) => [...bandsOf(priority)]))
      for (let route = 0; route < routes; route += 1)
        for (let shard = 0; shard < shards; shard += 1)
          rows.push(this.waiting(queue, order, placeOf(route, shard), agoMs));
    await this.plant("jobs", rows);
  }
}

/** The largest use of a call: by itself, or by one of its snapshot queries, each of which has limits of its own. */
export function usedBy({ transaction, looks }: Begun): Used {
  const all = [transaction, ...looks].map(({ usage }) => usage);
  const most = (of: keyof Used) => Math.max(...all.map((usage) => usage[of]));
  return {
    databaseQueries: most("databaseQueries"),
    documentsRead: most("documentsRead"),
    bytesRead: most("bytesRead"),
    documentsWritten: most("documentsWritten"),
    bytesWritten: most("bytesWritten"),
  };
}

export { SHARDS_MAX };
