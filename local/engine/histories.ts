/**
 * Random transactions, interleaved at random, against the simplest model there is: a list of rows and the committed
 * transactions run one after the other, in the order of their commit timestamps. Whatever a committed transaction saw,
 * and whatever is left in the end, must be what that serial run gives.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { ConflictError } from "./conflict.js";
import { createDatabase } from "./database.js";
import { collect, range, seededEnvironment, take, transact } from "./testing.js";
import type { DatabaseOptions, RangeBound, Transaction, Ts } from "./types.js";

/** A row: names are unique, so that ties in `v` have the same order in the engine and in the model. */
interface Named {
  name: string;
  v: number;
}

interface Scan {
  low: number;
  high: number;
  order: "asc" | "desc";
  limit: number;
}

type Step =
  | { kind: "scan"; scan: Scan }
  | { kind: "insert"; v: number }
  /** Moves the rows that a scan finds to a value that depends on how many there were. */
  | { kind: "move"; scan: Scan; by: number }
  | { kind: "remove"; scan: Scan }
  /** A nested call that fails: it leaves its reads and no writes. */
  | { kind: "rolledBack"; step: Step };

/** What both sides can do with rows. */
interface Rows {
  find(scan: Scan): Promise<Named[]>;
  insert(row: Named): Promise<void>;
  move(name: string, v: number): Promise<void>;
  remove(name: string): Promise<void>;
  /** Runs `work` and undoes what it wrote. */
  undone(work: () => Promise<void>): Promise<void>;
}

/** The program itself, the same on both sides. Gives what it saw. */
async function run(steps: readonly Step[], rows: Rows, prefix: string): Promise<Named[][]> {
  const seen: Named[][] = [];
  for (const [i, step] of steps.entries()) await runStep(step, rows, `${prefix}.${i}`, seen);
  return seen;
}

async function runStep(step: Step, rows: Rows, name: string, seen: Named[][]): Promise<void> {
  if (step.kind === "rolledBack") {
    await rows.undone(() => runStep(step.step, rows, name, seen));
    return;
  }
  if (step.kind === "insert") {
    await rows.insert({ name, v: step.v });
    return;
  }
  const found = await rows.find(step.scan);
  seen.push(found);
  if (step.kind === "scan") return;
  for (const row of found) {
    if (step.kind === "move") await rows.move(row.name, (row.v + step.by + found.length) % 10);
    else await rows.remove(row.name);
  }
}

class EngineRows implements Rows {
  constructor(private readonly transaction: Transaction) {}

  async find({ low, high, order, limit }: Scan): Promise<Named[]> {
    const bounds: RangeBound[] = [
      { type: "Gte", fieldPath: "v", value: low },
      { type: "Lt", fieldPath: "v", value: high },
    ];
    const docs = await take(this.transaction, range("t", "by_v", bounds, order), limit);
    return docs.map((doc) => ({ name: doc["name"] as string, v: doc["v"] as number }));
  }

  async insert(row: Named): Promise<void> {
    await this.transaction.insert("", "t", { ...row });
  }

  async move(name: string, v: number): Promise<void> {
    await this.transaction.patch("", await this.#idOf(name), { v });
  }

  async remove(name: string): Promise<void> {
    await this.transaction.delete("", await this.#idOf(name));
  }

  async undone(work: () => Promise<void>): Promise<void> {
    const savepoint = this.transaction.savepoint();
    await work();
    savepoint.rollback();
  }

  async #idOf(name: string): Promise<string> {
    const named = range("t", "by_name", [{ type: "Eq", fieldPath: "name", value: name }]);
    return (await take(this.transaction, named, 1))[0]!._id;
  }
}

class ModelRows implements Rows {
  rows: Named[] = [];

  async find({ low, high, order, limit }: Scan): Promise<Named[]> {
    const found = this.rows.filter(({ v }) => low <= v && v < high).sort(byValue);
    return (order === "asc" ? found : found.reverse()).slice(0, limit);
  }

  async insert(row: Named): Promise<void> {
    this.rows = [...this.rows, row];
  }

  async move(name: string, v: number): Promise<void> {
    this.rows = this.rows.map((row) => (row.name === name ? { name, v } : row));
  }

  async remove(name: string): Promise<void> {
    this.rows = this.rows.filter((row) => row.name !== name);
  }

  async undone(work: () => Promise<void>): Promise<void> {
    const before = this.rows;
    await work();
    this.rows = before;
  }
}

function byValue(a: Named, b: Named): number {
  return a.v - b.v || (a.name < b.name ? -1 : 1);
}

interface Committed {
  name: string;
  steps: Step[];
  seen: Named[][];
  ts: Ts;
  readOnly: boolean;
}

interface History {
  committed: Committed[];
  conflicts: number;
  left: Named[];
}

async function play(programs: Step[][], seed: number, options: DatabaseOptions): Promise<History> {
  const env = seededEnvironment(seed);
  const database = createDatabase(env, options);
  const indexes = [
    { name: "by_v", fields: ["v", "name"] },
    { name: "by_name", fields: ["name"] },
  ];
  await database.applySchema("", [{ name: "t", indexes }], { enforce: false });
  await transact(database, "setup", (transaction) => setUp(new EngineRows(transaction)));
  const committed: Committed[] = [];
  let conflicts = 0;
  await Promise.all(
    programs.map(async (steps, i) => {
      await env.sleep(env.random() * 10);
      const transaction = database.begin();
      const seen = await run(steps, new EngineRows(transaction), `p${i}`);
      const readOnly = !transaction.hasWrites;
      try {
        const ts = await database.commit(transaction, `p${i}`);
        committed.push({ name: `p${i}`, steps, seen, ts, readOnly });
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        conflicts++;
      }
    }),
  );
  const everything = { low: 0, high: 10, order: "asc", limit: Infinity } as const;
  const left = await new EngineRows(database.begin()).find(everything);
  expect(await collect(database.begin(), range("t", "by_creation_time"))).toHaveLength(left.length);
  return { committed, conflicts, left };
}

async function setUp(rows: Rows): Promise<void> {
  for (const [i, v] of [1, 3, 3, 5, 7].entries()) await rows.insert({ name: `row${i}`, v });
}

async function expectSerial({ committed, left }: History): Promise<void> {
  const model = new ModelRows();
  await setUp(model);
  // A transaction that only read belongs right behind the commit whose snapshot it read.
  const inOrder = committed.sort((a, b) =>
    a.ts === b.ts ? Number(a.readOnly) - Number(b.readOnly) : a.ts < b.ts ? -1 : 1,
  );
  for (const { name, steps, seen } of inOrder) {
    expect({ name, seen: await run(steps, model, name) }).toEqual({ name, seen });
  }
  expect(left).toEqual(model.rows.sort(byValue));
}

const scan: fc.Arbitrary<Scan> = fc.record({
  low: fc.integer({ min: 0, max: 6 }),
  high: fc.integer({ min: 3, max: 10 }),
  order: fc.constantFrom("asc", "desc"),
  limit: fc.integer({ min: 1, max: 4 }),
});

const plainStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("scan" as const), scan }),
  fc.record({ kind: fc.constant("insert" as const), v: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ kind: fc.constant("move" as const), scan, by: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant("remove" as const), scan }),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: plainStep },
  {
    weight: 1,
    arbitrary: plainStep.map((inner) => ({ kind: "rolledBack" as const, step: inner })),
  },
);

const programs = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), {
  minLength: 2,
  maxLength: 6,
});
const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 });

/** Plays so many random histories and expects each to be serial. Gives how much they got in each other's way. */
export async function expectSerialHistories(
  options: DatabaseOptions,
  parameters: { seed: number; numRuns: number },
): Promise<{ conflicts: number; committed: number }> {
  const total = { conflicts: 0, committed: 0 };
  await fc.assert(
    fc.asyncProperty(programs, seed, async (steps, interleaving) => {
      const history = await play(steps, interleaving, options);
      total.conflicts += history.conflicts;
      total.committed += history.committed.length;
      await expectSerial(history);
    }),
    { ...parameters, endOnFailure: options.skipValidation ?? false },
  );
  return total;
}
