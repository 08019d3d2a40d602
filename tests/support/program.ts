/** A program started as a person would, in a process group of its own, so that it can be ended with all that it started. */
import { spawn } from "node:child_process";
import { root } from "./paths.js";

export interface Program {
  /** Resolves with the first match in its output, past or future. */
  prints(pattern: RegExp, timeoutMs: number): Promise<RegExpMatchArray>;
  /** As a person types it, with the key Enter at its end. */
  types(line: string): void;
  /** Of this process alone, and not of those that it has started. */
  kill(signal: NodeJS.Signals): void;
  /** As Ctrl-C does. Resolves with the exit code. */
  interrupt(): Promise<number | null>;
  /** Resolves with the exit code and all that it printed. */
  ended: Promise<{ code: number | null; output: string }>;
}

export function start(
  command: string,
  args: string[],
  env: Record<string, string> = {},
  cwd: string = root,
): Program {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  const waiting = new Set<() => void>();
  const hear = (chunk: Buffer) => {
    output += chunk.toString();
    for (const check of [...waiting]) check();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, output })),
  );
  return {
    ended,
    types: (line) => void child.stdin.write(`${line}\r`),
    kill: (signal) => void child.kill(signal),
    prints: (pattern, timeoutMs) =>
      new Promise((resolve, reject) => {
        const give = (end: () => void) => {
          clearTimeout(timer);
          waiting.delete(check);
          end();
        };
        const check = () => {
          const match = pattern.exec(output);
          if (match !== null) give(() => resolve(match));
        };
        const fail = (why: string) => () =>
          give(() => reject(new Error(`${why} without printing ${pattern}:\n${output}`)));
        const timer = setTimeout(fail(`${timeoutMs} ms passed`), timeoutMs);
        waiting.add(check);
        void ended.then(fail(`${command} ended`));
        check();
      }),
    interrupt: async () => {
      if (child.exitCode === null) process.kill(-child.pid!, "SIGINT");
      return (await ended).code;
    },
  };
}
