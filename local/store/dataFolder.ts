/** The folder that a data file lies in: made when it is missing, and the file with it, in one step. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { damaged, StoreError } from "./errors.js";
import { FILE_NAME } from "./format.js";

export interface FolderSteps {
  /** Keeps other processes out, before anything in the folder is read. */
  hold: () => void;
  /** Makes a whole new data file at a path. */
  create: (path: string) => void;
}

/** The data file's path. */
export function requireDataFile(directory: string, { hold, create }: FolderSteps): string {
  const path = join(directory, FILE_NAME);
  try {
    mkdirSync(directory, { recursive: true });
    hold();
    if (existsSync(path)) return path;
    if (existsSync(`${path}-wal`)) throw damaged(path, `it is gone, and its log is still there`);
    createWhole(directory, path, create);
    return path;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      "DataFolderUnusable",
      `The data folder ${directory} cannot be used: ${(error as Error).message}. ` +
        `Choose one that this user may write with --data <folder>, or run with --in-memory.`,
    );
  }
}

/** Under another name first: a process that ends in between leaves no half file to trip over. */
function createWhole(directory: string, path: string, create: (path: string) => void): void {
  const draft = `${path}.new`;
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(draft + suffix, { force: true });
  create(draft);
  sync(draft);
  renameSync(draft, path);
  sync(directory);
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
