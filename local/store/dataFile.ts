/**
 * A data file from its opening to its end: held, then read over a connection that cannot write, then written. Runs in the
 * store's thread, where it may block.
 */
import { statSync } from "node:fs";
import type Libsql from "libsql";
import { requireDataFile } from "./dataFolder.js";
import { damaged, StoreError } from "./errors.js";
import { checkHeader } from "./format.js";
import { holdFolder, type Hold } from "./holding.js";
import type { EncodedCommit, EncodedRows, EncodedState, Holder } from "./messages.js";
import { DataReader } from "./reading.js";
import { createDataFile, DataWriter } from "./writing.js";

export interface DataFileOptions {
  directory: string;
  /** The process that holds it. */
  holder: Holder;
  /** The file is not to grow beyond this; `null` for no bound but the disk's. */
  maxBytes: number | null;
}

export class DataFile {
  #path = "";
  #hold: Hold | null = null;
  #reader: DataReader | null = null;
  #rows: Iterator<EncodedRows, void, void> | null = null;
  #writer: DataWriter | null = null;
  /** The file's own number, under any later file of its name. */
  #inode = 0;

  constructor(
    private readonly options: DataFileOptions,
    private readonly Database: typeof Libsql,
  ) {}

  open(): EncodedState {
    return this.#explained(() => {
      const { directory, holder } = this.options;
      this.#path = requireDataFile(directory, {
        hold: () => (this.#hold = holdFolder(directory, holder, this.Database)),
        create: (path) => createDataFile(path, this.Database),
      });
      checkHeader(this.#path);
      const reader = (this.#reader = new DataReader(this.#path, this.Database));
      const state = reader.state();
      this.#rows = reader.rows();
      return state;
    });
  }

  rows(): EncodedRows | null {
    return this.#explained(() => this.#rows!.next().value ?? null);
  }

  beginWriting(): void {
    this.#explained(() => {
      this.#reader?.close();
      this.#reader = null;
      this.#inode = statSync(this.#path).ino;
      this.#writer = new DataWriter(this.#path, this.Database, this.options.maxBytes);
    });
  }

  append(commits: readonly EncodedCommit[]): void {
    this.#requireInPlace();
    this.#writer!.append(commits);
  }

  close(): void {
    this.#reader?.close();
    this.#reader = null;
    this.#writer?.close();
    this.#writer = null;
    this.#hold?.release();
    this.#hold = null;
  }

  /** SQLite goes on writing into a file that was removed, and no start would ever read that. */
  #requireInPlace(): void {
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) return;
    throw new StoreError(
      "DataFolderUnusable",
      `${this.#path} was removed or replaced while it was in use. Put it back where it was, or stop this backend`,
    );
  }

  /** SQLite's errors while the file is opened, in terms of the file. */
  #explained<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      this.close();
      if (error instanceof StoreError) throw error;
      const { message, syscall } = error as NodeJS.ErrnoException;
      // Not the file's fault: it cannot be got at.
      if (this.#path !== "" && syscall === undefined) throw damaged(this.#path, message);
      throw new StoreError("DataFolderUnusable", `${this.options.directory}: ${message}`);
    }
  }
}
