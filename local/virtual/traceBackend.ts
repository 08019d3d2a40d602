/** Notes a backend's doings: commits as they become visible, functions as they end, with their conflicts. */
import type { Core } from "../backend.js";

export function traceBackend(core: Core, note: (what: string, detail: string) => void): void {
  core.database.onPublish((commit) => note("publish", String(commit.ts)));
  core.runner.onCompletion(
    ({ address, requestId, udfType, durationMs, conflicts, error, cached }) =>
      note(
        "ends",
        `${udfType} ${address.namespace}/${address.path} ${requestId} after ${durationMs.toFixed(6)}` +
          `${cached ? " cached" : ""}${conflicts > 0 ? ` conflicts=${conflicts}` : ""}` +
          `${error === undefined ? "" : ` failed: ${error.split("\n")[0]}`}`,
      ),
  );
  core.runner.onLog(({ text }) => note("logs", text));
}
