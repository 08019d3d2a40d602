/** Worker processes of the test app: real ones, so that they can be killed and stopped. */
import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { root } from "./paths.js";
import { pythonEnv } from "./python.js";

export interface Line {
  started?: string;
  finished?: string;
  n?: number;
  attempt?: number;
  stopped?: boolean;
  error?: string;
  event?: { kind: string; [detail: string]: unknown };
}

export interface WorkerProcess {
  name: string;
  process: ChildProcess;
  lines: Line[];
  /** Resolves with the first line, past or to come, for which `wanted` holds. */
  line(wanted: (line: Line) => boolean, timeoutMs?: number): Promise<Line>;
  /** Resolves with the exit code once the process has gone. */
  exited: Promise<number | null>;
}

export function startWorker(options: {
  url: string;
  token: string;
  name: string;
  concurrency?: number;
  /** The grace for its handlers at SIGTERM, instead of the default. */
  graceMs?: number;
  /** How wrong its clock is. */
  clockShiftMs?: number;
  /** The same worker in Python. */
  isPython?: boolean;
}): WorkerProcess {
  const folder = path.join(root, "tests/support/app");
  const node = ["--import", "tsx", path.join(folder, "worker.ts")];
  const child = spawn(
    options.isPython === true ? "python3" : process.execPath,
    options.isPython === true ? [path.join(folder, "worker.py")] : node,
    {
      cwd: root,
      env: {
        ...process.env,
        ...pythonEnv,
        CONVEX_URL: options.url,
        CONVEYOR_TOKEN: options.token,
        WORKER_NAME: options.name,
        WORKER_CONCURRENCY: String(options.concurrency ?? 1),
        CLOCK_SHIFT_MS: String(options.clockShiftMs ?? 0),
        ...(options.graceMs === undefined ? {} : { WORKER_GRACE_MS: String(options.graceMs) }),
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop()!;
    lines.push(...parts.filter(Boolean).map((part) => JSON.parse(part) as Line));
    for (const check of [...waiting]) check();
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  return {
    name: options.name,
    process: child,
    lines,
    exited,
    line: (wanted, timeoutMs = 30_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(
            new Error(
              `${options.name} printed no such line in ${timeoutMs} ms: ${JSON.stringify(lines)}`,
            ),
          );
        }, timeoutMs);
        const check = () => {
          const found = lines.find(wanted);
          if (found === undefined) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
  };
}

export async function killAll(workers: WorkerProcess[]): Promise<void> {
  for (const { process: child } of workers) child.kill("SIGKILL");
  await Promise.all(workers.map((worker) => worker.exited));
}
