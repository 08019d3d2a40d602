/**
 * The thread that a store writes in, so that waiting for the disk stops no other work. It is bundled into one script
 * when a store is opened, and does one thing after the other, as it is asked.
 */
import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type Libsql from "libsql";
import { DataFile } from "./dataFile.js";
import { StoreError } from "./errors.js";
import type { Operation, Operations, ThreadReply, ThreadRequest } from "./messages.js";

/** A script without a file finds packages from where the backend does. */
const Database = createRequire((workerData as { from: string }).from)("libsql") as typeof Libsql;

let file: DataFile | null = null;

const operations: {
  [Name in Operation]: (argument: Operations[Name][0]) => Operations[Name][1];
} = {
  open(options) {
    file = new DataFile(options, Database);
    return file.open();
  },
  rows: () => file!.rows(),
  beginWriting() {
    file!.beginWriting();
    return null;
  },
  append(commits) {
    file!.append(commits);
    return null;
  },
  close() {
    file?.close();
    return null;
  },
};

parentPort!.on("message", ({ id, operation, argument }: ThreadRequest) => {
  parentPort!.postMessage(replyTo(id, operation, argument));
});

function replyTo(id: number, operation: Operation, argument: unknown): ThreadReply {
  try {
    return { id, answer: operations[operation](argument as never) };
  } catch (error) {
    const code = error instanceof StoreError ? error.code : null;
    return { id, error: { code, message: (error as Error).message } };
  }
}
