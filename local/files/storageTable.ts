/**
 * The rows of stored files: one document in `_storage` of the component that stored it. Apps see the documented fields;
 * `storageId` names the bytes and stands in the file's URL. Every write of these rows is here.
 */
import { createHash } from "node:crypto";
import type { Doc, Namespace, TableSpec, Transaction } from "../engine/types.js";
import type { Environment } from "../environment.js";
import { FunctionError, PlatformError } from "../functions/errors.js";
import type { Files } from "./files.js";

export const STORAGE_TABLE = "_storage";
const BY_STORAGE_ID = "by_storage_id";

export const STORAGE_SPEC: TableSpec = {
  name: STORAGE_TABLE,
  indexes: [{ name: BY_STORAGE_ID, fields: ["storageId"] }],
};

export interface FileRow extends Doc {
  storageId: string;
  /** In base64. */
  sha256: string;
  size: number;
  contentType: string | null;
}

/** A stored file, with its bytes written and its row not yet. */
export type NewFile = Pick<FileRow, "storageId" | "sha256" | "size" | "contentType">;

const SYSTEM = { system: true } as const;

/** As `db.system` shows a row. */
export function publicFile({ storageId: _storageId, ...documented }: Doc): Doc {
  return documented;
}

/** `sha256`, in base64, is the sender's digest of the bytes. */
export async function writeBytes(
  env: Environment,
  files: Files,
  bytes: Uint8Array,
  { contentType, sha256 }: { contentType: string | null; sha256?: string | undefined },
): Promise<NewFile> {
  const actual = createHash("sha256").update(bytes).digest("base64");
  if (sha256 !== undefined && sha256 !== actual) {
    throw new PlatformError(
      400,
      "Sha256Mismatch",
      `Sha256 mismatch. Expected: ${sha256} Actual: ${actual}`,
    );
  }
  const storageId = uuid(env.randomBytes(16));
  await files.bytes.write(storageId, bytes);
  return { storageId, sha256: actual, size: bytes.length, contentType };
}

/** An insert and no read: transactions that store files never conflict with one another. */
export function insertFile(tx: Transaction, namespace: Namespace, file: NewFile): Promise<string> {
  return tx.insert(namespace, STORAGE_TABLE, { ...file }, SYSTEM);
}

/** `id` as apps have it: of a row, or the UUID that the earliest clients were given. `caller` is for the refusal. */
export async function readFile(
  tx: Transaction,
  namespace: Namespace,
  id: unknown,
  caller: string,
): Promise<FileRow | null> {
  if (typeof id === "string" && UUID.test(id)) return readByStorageId(tx, namespace, id);
  const table = typeof id === "string" ? tx.tableOf(namespace, id) : null;
  if (table === STORAGE_TABLE) {
    return (await tx.get(namespace, id as string, {
      ...SYSTEM,
      table: STORAGE_TABLE,
    })) as FileRow | null;
  }
  throw new FunctionError(
    table === null
      ? `Invalid argument \`storageId\` for \`storage.${caller}\`: Invalid storage ID: ${JSON.stringify(id)}. ` +
          `Storage ID should be an Id of '_storage' table, or a UUID string.`
      : "Invalid storage ID. Storage ID cannot be an ID on any table other than '_storage'.",
  );
}

/** By the id in its URL. */
export async function readByStorageId(
  tx: Transaction,
  namespace: Namespace,
  storageId: string,
): Promise<FileRow | null> {
  const rows = tx.stream(namespace, {
    table: STORAGE_TABLE,
    index: BY_STORAGE_ID,
    range: [{ type: "Eq", fieldPath: "storageId", value: storageId }],
    order: "asc",
    system: true,
  });
  for await (const row of rows) return row as FileRow;
  return null;
}

/** The bytes go when the commit is there for all to see; a mutation that fails has deleted nothing. */
export async function deleteFile(
  tx: Transaction,
  files: Files,
  namespace: Namespace,
  id: unknown,
): Promise<void> {
  const row = await readFile(tx, namespace, id, "delete");
  if (row === null) throw new FunctionError(`storage id ${String(id)} not found`);
  await tx.delete(namespace, row._id, STORAGE_TABLE, SYSTEM);
  tx.afterCommit(() => {
    files.bytes.remove(row.storageId).catch((error: unknown) => {
      console.error(`The bytes of the deleted file ${row.storageId} are still there:`, error);
    });
  });
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Version 4, variant 1, as RFC 9562 section 5.4 lays the bits out. */
function uuid(random: Uint8Array): string {
  const bytes = Uint8Array.from(random);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
