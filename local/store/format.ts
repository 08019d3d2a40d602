/**
 * The format of a data file: its distinction from other files, its tables, its checksums. Knows nothing of connections.
 *
 * Rows are kept as they are now, not as a log of changes: a commit costs its own writes, and a start costs the rows
 * there are. Each row carries a checksum of its own, and the file the sum of them all, so that a row that was changed,
 * lost or brought back by anything but a commit is noticed at the next start.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { damaged, foreign, StoreError } from "./errors.js";

export const FILE_NAME = "backend.sqlite";

/** "CvLB": SQLite keeps it in the header for programs to know their files by. */
export const APPLICATION_ID = 0x43764c42;
/** Goes up with every change that an older backend could not read. */
export const FORMAT_VERSION = 1;

export const SCHEMA = `
  CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ts INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE tables (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (namespace, name)
  );
  CREATE TABLE documents (
    table_id INTEGER NOT NULL,
    id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    value TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (table_id, id)
  ) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT_VERSION};
`;

/** Below 2^53, so that sums stay exact. */
const DIGEST_MODULUS = 2 ** 48;

export function checksumOf(...parts: (string | number)[]): number {
  return crc32(parts.join("\0"));
}

/** The sum of all rows' checksums; they come and go in any order. */
export function plus(digest: number, checksum: number): number {
  return (digest + checksum) % DIGEST_MODULUS;
}

export function minus(digest: number, checksum: number): number {
  return (digest - checksum + DIGEST_MODULUS) % DIGEST_MODULUS;
}

/** Of SQLite's file format: 100 bytes, big-endian. */
const HEADER = { bytes: 100, magic: "SQLite format 3\0", userVersionAt: 60, applicationIdAt: 68 };

/**
 * Refuses a foreign file before SQLite opens it: opening can write. The numbers are in the file itself from its first
 * moment on, and never only in its write-ahead log.
 */
export function checkHeader(path: string): void {
  const header = headerOf(path);
  if (header.length === 0) throw foreign(path, "it is empty");
  const magic = header.subarray(0, HEADER.magic.length).toString("latin1");
  if (magic !== HEADER.magic.slice(0, magic.length)) throw foreign(path, "it is no SQLite file");
  if (header.length < HEADER.bytes) throw damaged(path, "it ends within its header");
  if (header.readUInt32BE(HEADER.applicationIdAt) !== APPLICATION_ID) {
    throw foreign(path, "another program made this SQLite file");
  }
  const version = header.readUInt32BE(HEADER.userVersionAt);
  if (version > FORMAT_VERSION) {
    throw new StoreError(
      "DataFileTooNew",
      `${path} has format ${version}, and this backend knows formats up to ${FORMAT_VERSION}. It was left as it is: ` +
        `run the version that made it, or choose another folder with --data <folder>.`,
    );
  }
  if (version < 1) throw damaged(path, `it says that it has format ${version}`);
}

function headerOf(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER.bytes);
    return header.subarray(0, readSync(file, header, 0, HEADER.bytes, 0));
  } finally {
    closeSync(file);
  }
}
