/** The times and bounds of a pool of processes. */
import { LEASE_DEFAULT_MS } from "../../shared/index.js";
import { FLUSH_MS, GOODBYE_MS, SOCKETS_CLOSE_MS } from "../limits.js";

/** The same on every machine: a start on a laptop says what a start on a server does. */
export const PROCESSES_DEFAULT = 4;
export const PROCESSES_MAX = 256;

export const CHECK_DEFAULT_MS = 5_000;
export const CHECK_MIN_MS = 100;
/** A process that was blocked for so long has lost its leases. */
export const SILENT_DEFAULT_MS = LEASE_DEFAULT_MS;

/** Between two starts in place of a process that failed: doubling, each time a random half to whole. */
export const RESTART_MIN_MS = 500;
export const RESTART_MAX_MS = 30_000;
/** A process that has lived shorter is not replaced at once, also where it has not failed. */
export const BRIEF_MS = 5_000;
/** The failure of a process that was ready for so long begins a new series. */
export const STEADY_MS = 60_000;

/** After the grace a worker makes its last calls; a process that is there so long after them is killed. */
export const KILL_AFTER_MS = FLUSH_MS + GOODBYE_MS + SOCKETS_CLOSE_MS + 1_000;

/** A process beyond so many times its memory limit has no grace: a job that makes it grow counts a lost worker. */
export const MEMORY_HARD_FACTOR = 1.5;
