/**
 * Random transactions, interleaved at random, against the committed ones run one after the other on the model, in the
 * order of their commit timestamps. The reads of a committed transaction, and the rows in the end, must equal the
 * serial run's; its reads of a stale snapshot must equal the serial run's when it began.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { ConflictError } from "./conflict.js";
import { createDatabase } from "./database.js";
import { interleavings, programs } from "./historyPrograms.js";
import {
  byValue,
  EMPTY,
  ModelRows,
  run,
  TABLES,
  type Named,
  type Rows,
  type Scan,
  type State,
  type Step,
  type TableName,
} from "./historyModel.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { DatabaseOptions, RangeBound, Transaction, Ts } from "./types.js";

class EngineRows implements Rows {
  constructor(private readonly transaction: Transaction) {}

  find(scan: Scan): Promise<Named[]> {
    return findIn(this.transaction, scan);
  }

  findStale(scan: Scan): Promise<Named[]> {
    return findIn(this.transaction.staleSnapshot(), scan);
  }

  async insert(table: TableName, row: Named): Promise<void> {
    await this.transaction.insert("", table, { ...row });
  }

  async patch(table: TableName, name: string, value: Partial<Named>): Promise<void> {
    await this.transaction.patch("", await this.#idOf(table, name), { ...value });
  }

  async replace(table: TableName, row: Named): Promise<void> {
    await this.transaction.replace("", await this.#idOf(table, row.name), { ...row });
  }

  async remove(table: TableName, name: string): Promise<void> {
    await this.transaction.delete("", await this.#idOf(table, name));
  }

  async nested(fails: boolean, work: () => Promise<void>): Promise<void> {
    const savepoint = this.transaction.savepoint();
    await work();
    if (fails) savepoint.rollback();
    else savepoint.release();
  }

  async #idOf(table: TableName, name: string): Promise<string> {
    const named = range(table, "by_name", [{ type: "Eq", fieldPath: "name", value: name }]);
    return (await take(this.transaction, named, 1))[0]!._id;
  }
}

async function findIn(
  transaction: Transaction,
  { table, low, high, order, limit }: Scan,
): Promise<Named[]> {
  const bounds: RangeBound[] = [
    { type: "Gte", fieldPath: "v", value: low },
    { type: "Lt", fieldPath: "v", value: high },
  ];
  const docs = await take(transaction, range(table, "by_v", bounds, order), limit);
  return docs.map(({ name, v, w }) => ({ name, v, w }) as Named);
}

interface Committed {
  name: string;
  steps: Step[];
  seen: Named[][];
  beginTs: Ts;
  ts: Ts;
  readOnly: boolean;
}

interface History {
  committed: Committed[];
  conflicts: number;
  left: Record<TableName, Named[]>;
}

const INDEXES = [
  { name: "by_v", fields: ["v", "name"] },
  { name: "by_name", fields: ["name"] },
];

async function play(history: Step[][], seed: number, options: DatabaseOptions): Promise<History> {
  const env = seededEnvironment(seed);
  const database = createDatabase(env, options);
  const specs = TABLES.map((name) => ({ name, indexes: INDEXES }));
  await database.applySchema("", specs, { enforce: false });
  await transact(database, "setup", (transaction) => setUp(new EngineRows(transaction)));
  const committed: Committed[] = [];
  let conflicts = 0;
  await Promise.all(
    history.map(async (steps, i) => {
      await env.sleep(env.random() * 10);
      const transaction = database.begin();
      const { beginTs } = transaction;
      const seen = await run(steps, new EngineRows(transaction), `p${i}`);
      const readOnly = !transaction.hasWrites;
      try {
        const ts = await database.commit(transaction, `p${i}`);
        committed.push({ name: `p${i}`, steps, seen, beginTs, ts, readOnly });
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        conflicts++;
      }
    }),
  );
  const left = { t: [] as Named[], u: [] as Named[] };
  for (const table of TABLES) {
    const everything = { table, low: 0, high: 10, order: "asc", limit: Infinity } as const;
    left[table] = await findIn(database.begin(), everything);
    const all = await collect(database.begin(), range(table, "by_creation_time"));
    expect(all).toHaveLength(left[table].length);
  }
  return { committed, conflicts, left };
}

async function setUp(rows: Rows): Promise<void> {
  for (const [i, v] of [1, 3, 3, 5, 7].entries()) {
    for (const table of TABLES) await rows.insert(table, { name: `row${i}`, v, w: 0 });
  }
}

async function expectSerial({ committed, left }: History): Promise<void> {
  const model = new ModelRows(EMPTY);
  await setUp(model);
  /** The state from each commit on, oldest first. */
  const states: { ts: Ts; state: State }[] = [{ ts: 0n, state: model.state }];
  // A transaction without writes belongs right behind the commit of its snapshot.
  const inOrder = committed.sort((a, b) =>
    a.ts === b.ts ? Number(a.readOnly) - Number(b.readOnly) : a.ts < b.ts ? -1 : 1,
  );
  for (const { name, steps, seen, beginTs, ts } of inOrder) {
    const past = states.findLast((one) => one.ts <= beginTs)!.state;
    const rows = new ModelRows(states.at(-1)!.state, past);
    expect({ name, seen: await run(steps, rows, name) }).toEqual({ name, seen });
    states.push({ ts, state: rows.state });
  }
  const { t, u } = states.at(-1)!.state;
  expect(left).toEqual({ t: [...t].sort(byValue), u: [...u].sort(byValue) });
}

/** Plays so many random histories and expects each to be serial. Gives how much they got in each other's way. */
export async function expectSerialHistories(
  options: DatabaseOptions,
  parameters: { seed: number; numRuns: number; endOnFailure?: boolean },
): Promise<{ conflicts: number; committed: number }> {
  const total = { conflicts: 0, committed: 0 };
  await fc.assert(
    fc.asyncProperty(programs, interleavings, async (history, interleaving) => {
      const { committed, ...rest } = await play(history, interleaving, options);
      total.conflicts += rest.conflicts;
      total.committed += committed.length;
      await expectSerial({ committed, ...rest });
    }),
    { endOnFailure: options.skipValidation ?? false, ...parameters },
  );
  return total;
}
