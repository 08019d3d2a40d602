/** The counters' snapshot. Everything counts from the last reset, or from the start. */
import type { Io } from "../engine/types.js";
import type { WaitKind } from "../functions/events.js";

/** Of one function, or of all. */
export interface FunctionStats {
  /** Executions that ended, answers from the cache included. */
  calls: number;
  /**
   * Function calls as the platform meters them: every execution that a client, the scheduler, an action or a
   * subscription asked for, answers from the cache included, and every attempt that lost to another commit. Nested
   * calls inside a function's own transaction are part of it.
   */
  billed: number;
  /** Queries answered without running: calls without I/O. */
  cached: number;
  /** Never ran: no permit came free, or too much was being written. */
  refused: number;
  /** Ended with an error, refused ones included. */
  errors: number;
  /** Attempts after the first. */
  retries: number;
  /** Attempts that lost to another commit. */
  conflicts: number;
  /** From call to end: waiting and attempts that lost included. */
  durationMs: number;
  /** As billed: documents with the entries of declared indexes. Attempts that lost to another commit have read them too. */
  io: Io;
  /** The same, of system tables. */
  systemIo: Io;
  /** The part of `io` that attempts that lost to another commit had read. */
  lostIo: Io;
  /** Dead index entries that scans passed, in attempts that lost to another commit too. */
  tombstones: number;
}

/** Two functions that met in a table. */
export interface ConflictStats {
  loser: string;
  winner: string;
  table: string;
  count: number;
  /** The document that the last of them was about. */
  lastId: string;
}

/** Of functions that had to wait; one that begins at once has not waited. */
export interface WaitStats {
  count: number;
  totalMs: number;
  maxMs: number;
}

/** The platform's own transactions: the scheduler's notes, the deletion of old rows. */
export interface HousekeepingStats {
  transactions: number;
  retries: number;
  conflicts: number;
  systemIo: Io;
  tombstones: number;
}

export interface StatsSnapshot {
  /** Milliseconds since the epoch. */
  since: number;
  until: number;
  total: FunctionStats;
  /** By name: `jobs:claim`, `conveyor/claim:run` in a component, `GET /messages` for an HTTP action. */
  functions: Record<string, FunctionStats>;
  /** The most frequent first. */
  conflicts: ConflictStats[];
  waits: Record<WaitKind, WaitStats>;
  /** By purpose. */
  housekeeping: Record<string, HousekeepingStats>;
}
