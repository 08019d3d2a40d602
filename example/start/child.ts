/** One program that was started: its output line by line, and how it ended. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { ROOT } from "./repository.js";

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Enough to show why a program failed, and no more than fits a screen. */
const LINES_KEPT = 40;

type Stream = "stdout" | "stderr";

export class Child {
  readonly ended: Promise<Ending>;
  private readonly process: ChildProcess;
  private readonly lines: string[] = [];
  private readonly errorLines: string[] = [];
  private readonly listeners = new Set<(line: string) => void>();
  private ending: Ending | undefined;

  constructor(
    readonly name: string,
    nodeArguments: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.process = spawn(process.execPath, nodeArguments, {
      cwd: ROOT,
      env: { ...process.env, ...environment },
      stdio: ["pipe", "pipe", "pipe"],
      // A group of its own: Ctrl-C reaches the starter alone, which then stops everyone in the right order.
      detached: true,
    });
    for (const stream of ["stdout", "stderr"] as const) {
      const input = this.process[stream]!;
      createInterface({ input }).on("line", (line) => this.read(line, stream));
    }
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        this.ending = ending;
        resolve(ending);
      };
      this.process.once("error", (error) => {
        this.read(error.message, "stderr");
        end({ code: 1, signal: null });
      });
      this.process.once("close", (code, signal) => end({ code, signal }));
    });
  }

  get pid(): number {
    return this.process.pid!;
  }

  get alive(): boolean {
    return this.ending === undefined;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.alive) this.process.kill(signal);
  }

  onLine(listener: (line: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The last lines it printed. */
  get output(): string {
    return this.lines.join("\n");
  }

  /**
   * Why it ended, as far as it is known: the last lines of its standard error. Not its standard output, which may carry
   * a key: the backend's first lines do.
   */
  get lastWords(): string {
    return this.errorLines.join("\n") || "(It left no error message.)";
  }

  /** Resolves with the first match of the pattern in a line, printed already or not. Rejects if it ends before. */
  async saying(pattern: RegExp): Promise<RegExpMatchArray> {
    return await new Promise((resolve, reject) => {
      const look = (line: string): boolean => {
        const match = line.match(pattern);
        if (match !== null) resolve(match);
        return match !== null;
      };
      if (this.lines.some(look)) return;
      const stop = this.onLine((line) => {
        if (look(line)) stop();
      });
      void this.ended.then((ending) => {
        reject(
          new Error(`${this.name} ${describe(ending)} before it was ready:\n${this.lastWords}`),
        );
      });
    });
  }

  private read(line: string, stream: Stream): void {
    keep(this.lines, line);
    if (stream === "stderr") keep(this.errorLines, line);
    for (const listener of this.listeners) listener(line);
  }
}

function keep(lines: string[], line: string): void {
  lines.push(line);
  if (lines.length > LINES_KEPT) lines.shift();
}

export function describe({ code, signal }: Ending): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}
