/**
 * One process at a time: a lock of the operating system's, taken through SQLite on a file of its own, so that it ends
 * with the process in any case, and nothing has to be guessed from files left behind.
 *
 * Nothing else may open the lock file: by POSIX, closing any handle of it would give the lock up.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type Libsql from "libsql";
import { StoreError } from "./errors.js";
import type { Holder } from "./messages.js";

const LOCK_NAME = "backend.lock";
/** Its holder, as a text for error messages. */
const HOLDER_NAME = "backend.holder.json";

export interface Hold {
  release(): void;
}

export function holdFolder(directory: string, holder: Holder, Database: typeof Libsql): Hold {
  const lock = new Database(join(directory, LOCK_NAME));
  try {
    // Statements that are run and not prepared: prepared ones keep a connection open after its end.
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { code?: string }).code === "SQLITE_BUSY") throw inUse(directory);
    throw error;
  }
  const named = join(directory, HOLDER_NAME);
  writeFileSync(named, `${JSON.stringify(holder)}\n`);
  return {
    release() {
      rmSync(named, { force: true });
      lock.exec("ROLLBACK");
      lock.close();
    },
  };
}

function inUse(directory: string): StoreError {
  return new StoreError(
    "DataFileInUse",
    `The data in ${directory} is in use by ${describeHolder(directory)}. ` +
      `Stop it, or choose another folder with --data <folder>.`,
  );
}

/** It is written a moment after the lock is taken, so it may be missing. */
function describeHolder(directory: string): string {
  try {
    const { pid, host, since } = JSON.parse(
      readFileSync(join(directory, HOLDER_NAME), "utf8"),
    ) as Holder;
    return `process ${pid} on ${host}, since ${since}`;
  } catch {
    return "another process";
  }
}
