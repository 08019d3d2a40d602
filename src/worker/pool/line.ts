/** A process in one line, and the output of a pool without `onEvent`. */
import type { PoolEvent, ProcessStatus } from "./options.js";

/** As in `gpu-1:3 (pid 4711) working, 2/4 slots, 18 done, 142 MB`. */
export function processLine(status: ProcessStatus): string {
  const { name, pid, state, isQuiet, slots, done, memoryBytes } = status;
  const parts = [
    `${name} (pid ${pid}) ${state}${isQuiet ? ", quiet" : ""}`,
    `${slots.used}/${slots.had} slots`,
    `${done} done`,
    `${Math.round(memoryBytes / 1e6)} MB`,
  ];
  return parts.join(", ");
}

export function printPoolEvent(event: PoolEvent): void {
  const line = poolLine(event);
  if (line === null) return;
  const isGood = event.kind === "ready" || (event.kind === "ended" && event.reason === "stopped");
  console[isGood ? "info" : "warn"](`[conveyor] ${line}`);
}

/** Null where there is nothing to say. */
export function poolLine(event: PoolEvent): string | null {
  switch (event.kind) {
    case "ready":
      return `${event.name} (pid ${event.pid}) is ready`;
    case "replaced":
      return event.reason === "silent"
        ? `${event.name} does not answer, and is replaced`
        : `${event.name} takes ${Math.round(event.memoryBytes / 1e6)} MB, and is replaced`;
    case "ended": {
      const how = event.signal === null ? `code ${event.code ?? "none"}` : event.signal;
      const why = event.error === undefined ? "" : `: ${event.error}`;
      return `${event.name} has ended (${event.reason}, ${how})${why}`;
    }
    case "backoff":
      return `another process takes the place of ${event.name} in ${event.inMs} ms`;
    case "unknownMessage":
      return `${event.name} has sent a message that is unknown here: ${JSON.stringify(event.message)}`;
    case "restartFailed":
      return `the rolling restart has ended, and the old processes go on: ${event.error}`;
    default:
      return null;
  }
}
