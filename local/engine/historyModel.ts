/**
 * The parts of random histories: rows, steps, and the simplest model there is of both, plain lists. It knows nothing of
 * the engine.
 */
export const TABLES = ["t", "u"] as const;
export type TableName = (typeof TABLES)[number];

/** Names are unique, so that ties in `v` have the same order in the engine and in the model. No index holds `w`. */
export interface Named {
  name: string;
  v: number;
  w: number;
}

export interface Scan {
  table: TableName;
  low: number;
  high: number;
  order: "asc" | "desc";
  limit: number;
}

export type Step =
  | { kind: "scan"; scan: Scan }
  /** On the snapshot that the transaction began on: no dependency, and none of its own writes. */
  | { kind: "stale"; scan: Scan }
  | { kind: "insert"; table: TableName; v: number }
  /** Moves the rows that a scan finds to a value that depends on how many there were. */
  | { kind: "move"; scan: Scan; by: number }
  /** Changes a field that no index holds, by patch. */
  | { kind: "bump"; scan: Scan }
  /** The same row with other values, by replace. */
  | { kind: "replace"; scan: Scan; v: number }
  | { kind: "remove"; scan: Scan }
  /** A nested call: one that fails leaves its reads and no writes. */
  | { kind: "nested"; fails: boolean; steps: Step[] };

/** The operations on rows that both sides have. */
export interface Rows {
  find(scan: Scan): Promise<Named[]>;
  findStale(scan: Scan): Promise<Named[]>;
  insert(table: TableName, row: Named): Promise<void>;
  patch(table: TableName, name: string, value: Partial<Omit<Named, "name">>): Promise<void>;
  replace(table: TableName, row: Named): Promise<void>;
  remove(table: TableName, name: string): Promise<void>;
  /** Runs `work` as a nested call, and undoes its writes if it fails. */
  nested(fails: boolean, work: () => Promise<void>): Promise<void>;
}

/** The program itself, the same on both sides. Gives the rows that it saw. */
export async function run(steps: readonly Step[], rows: Rows, prefix: string): Promise<Named[][]> {
  const seen: Named[][] = [];
  await runAll(steps, rows, prefix, seen);
  return seen;
}

async function runAll(steps: readonly Step[], rows: Rows, prefix: string, seen: Named[][]) {
  for (const [i, step] of steps.entries()) await runStep(step, rows, `${prefix}.${i}`, seen);
}

async function runStep(step: Step, rows: Rows, name: string, seen: Named[][]): Promise<void> {
  if (step.kind === "nested") {
    await rows.nested(step.fails, () => runAll(step.steps, rows, name, seen));
    return;
  }
  if (step.kind === "insert") {
    await rows.insert(step.table, { name, v: step.v, w: 0 });
    return;
  }
  const { scan } = step;
  const found = await (step.kind === "stale" ? rows.findStale(scan) : rows.find(scan));
  seen.push(found);
  for (const row of found) {
    const v = (row.v + found.length) % 10;
    if (step.kind === "move") await rows.patch(scan.table, row.name, { v: (v + step.by) % 10 });
    if (step.kind === "bump") await rows.patch(scan.table, row.name, { w: row.w + 1 });
    if (step.kind === "replace")
      await rows.replace(scan.table, { name: row.name, v: step.v, w: v });
    if (step.kind === "remove") await rows.remove(scan.table, row.name);
  }
}

/** All rows, in no order. Never changed in place: a reference is a snapshot. */
export type State = Readonly<Record<TableName, readonly Named[]>>;

export const EMPTY: State = { t: [], u: [] };

export class ModelRows implements Rows {
  /** `past` is the state of the transaction's snapshot. */
  constructor(
    public state: State,
    private readonly past: State = state,
  ) {}

  async find(scan: Scan): Promise<Named[]> {
    return found(this.state, scan);
  }

  async findStale(scan: Scan): Promise<Named[]> {
    return found(this.past, scan);
  }

  async insert(table: TableName, row: Named): Promise<void> {
    this.#change(table, (rows) => [...rows, row]);
  }

  async patch(table: TableName, name: string, value: Partial<Named>): Promise<void> {
    this.#change(table, (rows) =>
      rows.map((row) => (row.name === name ? { ...row, ...value } : row)),
    );
  }

  async replace(table: TableName, row: Named): Promise<void> {
    this.#change(table, (rows) => rows.map((old) => (old.name === row.name ? row : old)));
  }

  async remove(table: TableName, name: string): Promise<void> {
    this.#change(table, (rows) => rows.filter((row) => row.name !== name));
  }

  async nested(fails: boolean, work: () => Promise<void>): Promise<void> {
    const before = this.state;
    await work();
    if (fails) this.state = before;
  }

  #change(table: TableName, to: (rows: readonly Named[]) => Named[]): void {
    this.state = { ...this.state, [table]: to(this.state[table]) };
  }
}

function found(state: State, { table, low, high, order, limit }: Scan): Named[] {
  const rows = state[table].filter(({ v }) => low <= v && v < high).sort(byValue);
  return (order === "asc" ? rows : rows.reverse()).slice(0, limit);
}

export function byValue(a: Named, b: Named): number {
  return a.v - b.v || (a.name < b.name ? -1 : 1);
}
