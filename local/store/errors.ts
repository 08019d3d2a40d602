/** Why a data folder is not used. Its contents are left as they are. */

export type StoreErrorCode =
  /** The folder cannot be made, read or written. */
  | "DataFolderUnusable"
  /** The file is another program's, or no database at all. */
  | "DataFileForeign"
  /** A later version of the backend wrote it. */
  | "DataFileTooNew"
  /** It was ours, and some of it is missing or changed. */
  | "DataFileDamaged"
  /** Another backend runs on it. */
  | "DataFileInUse";

export class StoreError extends Error {
  override readonly name = "StoreError";

  constructor(
    readonly code: StoreErrorCode,
    message: string,
  ) {
    super(message);
  }
}

const LEFT_AS_IT_IS =
  "It was left as it is: move it away, or choose another folder with --data <folder>.";

export function foreign(path: string, why: string): StoreError {
  return new StoreError(
    "DataFileForeign",
    `${path} is not a data file of the local backend: ${why}. ${LEFT_AS_IT_IS}`,
  );
}

export function damaged(path: string, why: string): StoreError {
  return new StoreError("DataFileDamaged", `${path} is damaged: ${why}. ${LEFT_AS_IT_IS}`);
}
