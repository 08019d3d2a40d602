/** The rules for a pool's options. Pure. */
import { checkInteger, checkLabel, conveyorError, NAME_MAX_LENGTH } from "../../shared/index.js";
import { CHECK_DEFAULT_MS, CHECK_MIN_MS, PROCESSES_MAX, SILENT_DEFAULT_MS } from "./limits.js";
import type { PoolOptions } from "./options.js";

const DAY_MS = 24 * 60 * 60_000;
/** A process has its number behind the name of the pool. */
const POOL_NAME_MAX_LENGTH = NAME_MAX_LENGTH - 8;
/** Node itself takes about 40 MB. */
const MEMORY_MIN_BYTES = 2 ** 20;

export function checkPool(options: PoolOptions): void {
  if (!options.file) {
    throw conveyorError(
      "invalidArgument",
      'The pool\'s `file` is missing: the module of each process, as in "./worker.ts".',
      { argument: "file" },
    );
  }
  const { processes, name, graceMs, maxMemoryBytes, startTries } = options;
  const { checkMs = CHECK_DEFAULT_MS, silentMs = Math.max(SILENT_DEFAULT_MS, checkMs) } = options;
  if (processes !== undefined) checkProcesses(processes);
  if (name !== undefined) checkLabel("The name of a pool", name, POOL_NAME_MAX_LENGTH);
  if (graceMs !== undefined) checkPoolGrace(graceMs);
  checkInteger("checkMs", checkMs, CHECK_MIN_MS, DAY_MS);
  checkInteger("silentMs", silentMs, checkMs, DAY_MS);
  if (maxMemoryBytes !== undefined) {
    checkInteger("maxMemoryBytes", maxMemoryBytes, MEMORY_MIN_BYTES, Number.MAX_SAFE_INTEGER);
  }
  if (startTries !== undefined) checkInteger("startTries", startTries, 0, 1_000);
}

export function checkProcesses(processes: number): void {
  checkInteger("processes", processes, 1, PROCESSES_MAX);
}

export function checkPoolGrace(graceMs: number): void {
  checkInteger("graceMs", graceMs, 0, DAY_MS);
}
