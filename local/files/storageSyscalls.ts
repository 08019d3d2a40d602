/** `ctx.storage`: in queries and mutations a part of the transaction, in actions a transaction for each call. */
import type { Transaction } from "../engine/types.js";
import { displayName, type Target } from "../functions/lookup.js";
import { ACTION_WRITE, transact } from "../functions/retrying.js";
import type { Execution, Services } from "../functions/scope.js";
import type { AsyncSyscalls } from "../functions/syscalls.js";
import type { Files } from "./files.js";
import { deleteFile, insertFile, readFile, writeBytes } from "./storageTable.js";

interface FileArgs {
  storageId: unknown;
}

/** For queries. */
export function storageReads(
  { files }: Services,
  { scope: { tx }, target }: Pick<Execution, "scope" | "target">,
): AsyncSyscalls {
  return reads(files, target, () => tx);
}

/** For mutations, beside the calls of queries. */
export function storageWrites({ files }: Services, { scope, target }: Execution): AsyncSyscalls {
  const { namespace } = target.address;
  return {
    "1.0/storageGenerateUploadUrl": async () => files.uploadUrl(namespace, scope.now),
    "1.0/storageDelete": async ({ storageId }: FileArgs) => {
      await deleteFile(scope.tx, files, namespace, storageId);
      return null;
    },
  };
}

interface StoreArgs {
  /** In base64. */
  blob: string;
  contentType: string;
  sha256?: string;
}

export function actionStorage(services: Services, target: Target): AsyncSyscalls {
  const { database, env, files } = services;
  const { namespace } = target.address;
  const write = async <T>(run: (tx: Transaction) => Promise<T>): Promise<T> => {
    const source = displayName(target.address);
    const { value } = await transact(services, source, ACTION_WRITE, async (tx) => ({
      commit: true,
      value: await run(tx),
    }));
    return value;
  };
  return {
    ...reads(files, target, () => database.begin()),
    "1.0/storageGenerateUploadUrl": async () => files.uploadUrl(namespace, env.now()),
    "1.0/storageDelete": async ({ storageId }: FileArgs) => {
      await write((tx) => deleteFile(tx, files, namespace, storageId));
      return null;
    },
    "1.0/storageStore": async ({ blob, contentType, sha256 }: StoreArgs) => {
      const file = await writeBytes(env, files, new Uint8Array(Buffer.from(blob, "base64")), {
        contentType: contentType === "" ? null : contentType,
        sha256: sha256?.replace(/^sha-256=/, ""),
      });
      return write((tx) => insertFile(tx, namespace, file));
    },
    "1.0/storageGet": async ({ storageId }: FileArgs) => {
      const row = await readFile(database.begin(), namespace, storageId, "get");
      const bytes = row === null ? null : await files.bytes.read(row.storageId);
      if (row === null || bytes === null) return null;
      return { blob: Buffer.from(bytes).toString("base64"), contentType: row.contentType };
    },
  };
}

function reads(
  files: Files,
  { address: { namespace } }: Target,
  begin: () => Transaction,
): AsyncSyscalls {
  return {
    "1.0/storageGetUrl": async ({ storageId }: FileArgs) => {
      const row = await readFile(begin(), namespace, storageId, "getUrl");
      return row === null ? null : files.fileUrl(namespace, row.storageId);
    },
    "1.0/storageGetMetadata": async ({ storageId }: FileArgs) => {
      const row = await readFile(begin(), namespace, storageId, "getMetadata");
      if (row === null) return null;
      const { size, contentType } = row;
      // In hex here, and in base64 in `_storage`: so it is on the platform.
      const sha256 = Buffer.from(row.sha256, "base64").toString("hex");
      return { storageId: row.storageId, sha256, size, contentType };
    },
  };
}
