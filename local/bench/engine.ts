/** The engine by itself: how many transactions of a kind it does in a second, at several sizes of one table. */
import vm from "node:vm";
import { setFlagsFromString } from "node:v8";
import { createDatabase } from "../engine/database.js";
import { range, take, transact } from "../engine/testing.js";
import type { Database, Transaction } from "../engine/types.js";
import { wallEnvironment } from "../environment.js";
import { rate } from "./rate.js";

const FILL_BATCH = 500;

/** Rows as a small app has them: two declared fields, one of them in an index. */
export async function fill(
  database: Database,
  table: string,
  rows: number,
  row: (n: number) => Record<string, string | number>,
): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < rows; from += FILL_BATCH) {
    await transact(database, "fill", async (tx) => {
      for (let n = from; n < Math.min(rows, from + FILL_BATCH); n++) {
        ids.push(await tx.insert("", table, row(n)));
      }
    });
  }
  return ids;
}

export type Kind = "insert" | "point read" | "range of 100" | "read-modify-write";

/** Keys far apart, so that neither caches nor neighbours help; the same in every run. */
export function scattered(rows: number): () => number {
  let at = 0;
  return () => (at = (at + 7_919) % rows);
}

export async function measureEngine(
  rows: number,
  ms: number,
): Promise<{ rates: Record<Kind, number>; bytesPerDocument: number }> {
  // No modelled latency: the figure is of the engine's own work.
  const database = createDatabase(
    { ...wallEnvironment, pause: () => Promise.resolve(), spend: () => Promise.resolve() },
    { publishLatencyMs: 0 },
  );
  const specs = [{ name: "t", indexes: [{ name: "by_n", fields: ["n"] }] }];
  await database.applySchema("", specs, { enforce: false });
  const before = heapUsed();
  const ids = await fill(database, "t", rows, (n) => ({ n, text: `row ${n}` }));
  const bytesPerDocument = Math.round((heapUsed() - before) / rows);
  const next = scattered(rows);
  let inserted = rows;
  const once = (run: (tx: Transaction) => Promise<unknown>) => () =>
    transact(database, "bench", run).then(() => {});
  const rates = {
    "point read": await rate(
      ms,
      once((tx) => tx.get("", ids[next()]!)),
    ),
    "range of 100": await rate(
      ms,
      once((tx) => {
        const n = Math.min(next(), Math.max(0, rows - 100));
        return take(tx, range("t", "by_n", [{ type: "Gte", fieldPath: "n", value: n }]), 100);
      }),
    ),
    "read-modify-write": await rate(
      ms,
      once(async (tx) => {
        const doc = (await tx.get("", ids[next()]!))!;
        await tx.patch("", doc._id, {
          text: `${doc._creationTime} ${Number(doc["n"])} ${inserted}`,
        });
      }),
    ),
    insert: await rate(
      ms,
      once((tx) => tx.insert("", "t", { n: inserted++, text: "new" })),
    ),
  };
  return { rates, bytesPerDocument };
}

/** After a collection, so that only live memory counts. */
function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  (vm.runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
