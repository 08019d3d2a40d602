/** A row that many transactions write at the same time, and a write that exceeds a transaction's limit. */
import type { GenericDatabaseWriter } from "convex/server";
import type { DataModel } from "./server.js";

type Database = GenericDatabaseWriter<DataModel>;

/** One row that callers, handlers and callbacks write: of transactions at the same time all but one retry. */
export async function meetOthers(db: Database): Promise<void> {
  const met = await db.query("meeting").first();
  if (met === null) await db.insert("meeting", { count: 1 });
  else await db.patch("meeting", met._id, { count: met.count + 1 });
}

/** The transaction that does so is refused, even if the error is caught. */
export async function writeTooMuch(db: Database): Promise<void> {
  const met = await db.query("meeting").first();
  const id = met?._id ?? (await db.insert("meeting", { count: 0 }));
  const text = "x".repeat(TEXT_BYTES);
  for (let i = 0; i < WRITES; i += 1) await db.patch("meeting", id, { count: i, text });
}

/** A transaction may write 16 MiB, and a document holds one. */
const TEXT_BYTES = 1_000_000;
const WRITES = 17;
