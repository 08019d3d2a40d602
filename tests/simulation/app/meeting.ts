/** What many write at the same time, and what fits into no transaction. */
import type { GenericDatabaseWriter } from "convex/server";
import type { DataModel } from "./server.js";

type Database = GenericDatabaseWriter<DataModel>;

/** One row that callers, handlers and callbacks write: of those who come at the same time all but one run again. */
export async function meetOthers(db: Database): Promise<void> {
  const met = await db.query("meeting").first();
  if (met === null) await db.insert("meeting", { count: 1 });
  else await db.patch("meeting", met._id, { count: met.count + 1 });
}

/** The transaction that does so is refused, whoever catches what. */
export async function writeTooMuch(db: Database): Promise<void> {
  const met = await db.query("meeting").first();
  const id = met?._id ?? (await db.insert("meeting", { count: 0 }));
  for (let i = 0; i < WRITES; i += 1) await db.patch("meeting", id, { count: i });
}

/** A transaction may write 16,000 documents. */
const WRITES = 16_001;
