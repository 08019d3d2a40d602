/** `process` in a realm: the part that programs need, and no more. */
import { EventEmitter } from "node:events";
import type { Branch } from "../branch.js";

export interface ProcessOptions {
  place: Branch;
  env: Readonly<Record<string, string>>;
  name: string;
  pid: number;
  write: (stream: "stdout" | "stderr", text: string) => void;
  exit: (code: number) => void;
}

/** Ends the program where it stands, as `process.exit` does. Code that catches it can do nothing more: all is gone. */
export class ProgramExit extends Error {
  override readonly name = "ProgramExit";
}

export function createProcess({ place, env, name, pid, write, exit }: ProcessOptions) {
  const startedAt = place.trueNow();
  const nanoseconds = (): bigint => BigInt(Math.round((place.trueNow() - startedAt) * 1e6));
  const hrtime = Object.assign(
    (): [number, number] => [
      Number(nanoseconds() / 1_000_000_000n),
      Number(nanoseconds() % 1_000_000_000n),
    ],
    { bigint: nanoseconds },
  );
  const stream = (to: "stdout" | "stderr") => ({
    write: (text: unknown): boolean => {
      write(to, String(text));
      return true;
    },
    isTTY: false,
  });
  const own = {
    env: { ...env },
    argv: ["node", name],
    pid,
    platform: "linux",
    version: process.version,
    versions: process.versions,
    exitCode: undefined as number | undefined,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    hrtime,
    cwd: () => "/",
    uptime: () => (place.trueNow() - startedAt) / 1000,
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    nextTick: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      queueMicrotask(() => run(...args)),
    exit: (code?: number): never => {
      exit(code ?? own.exitCode ?? 0);
      throw new ProgramExit(`${name} has called process.exit.`);
    },
  };
  return Object.assign(new EventEmitter(), own);
}
