/** Writes functions' log lines and failures to this process's own output. */
import type { FunctionRunner, LogLine } from "../functions/types.js";

export function printLogs(runner: FunctionRunner): void {
  runner.onLog((line) => write(line.level, `${name(line)} ${line.text}`));
  runner.onCompletion(({ address, error }) => {
    if (error !== undefined) console.error(`${name(address)} ${error}`);
  });
}

function name({ namespace, path }: { namespace: string; path: string }): string {
  return namespace === "" ? path : `${namespace}/${path}`;
}

function write(level: LogLine["level"], text: string): void {
  if (level === "ERROR" || level === "WARN") console.error(text);
  else console.log(text);
}
