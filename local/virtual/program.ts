/**
 * A program that runs in a world as in a process of its own: it can be killed, stopped for a while and continued, ended
 * by a signal, and given a wrong clock.
 */
import type { Branch } from "./branch.js";
import type { Link } from "./network/link.js";
import { createRealm, type Realm } from "./realm/realm.js";

export interface ProgramOptions {
  /** Distinguishes it from other programs, on the network and in the trace. */
  name: string;
  /** The program's code, bundled already (`bundleFile`): then no file is read. */
  code?: string;
  /** Its `process.env`. */
  env?: Readonly<Record<string, string>>;
  /** Called for every line that it prints. */
  onLine?: (line: string, stream: "stdout" | "stderr") => void;
}

export type ProgramState = "running" | "paused" | "ended";

export class Program {
  readonly lines: string[] = [];
  /** Resolves when it has ended: with its code, or `null` when it was killed. */
  readonly ended: Promise<number | null>;
  /** The error that ended it, if any. */
  error: unknown;
  exitCode: number | null = null;
  #state: ProgramState = "running";
  #end!: (code: number | null) => void;
  readonly #realm: Realm;
  readonly #rest = { stdout: "", stderr: "" };

  constructor(
    private readonly options: ProgramOptions,
    private readonly place: Branch,
    /** Its connection to the network, with its faults. */
    readonly link: Link,
    pid: number,
  ) {
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#realm = createRealm({
      name: options.name,
      place,
      link,
      pid,
      env: options.env ?? {},
      write: (stream, text) => this.#write(stream, text),
      exit: (code) => this.#gone(code),
      crashed: (error) => this.#crashed(error),
    });
  }

  get name(): string {
    return this.options.name;
  }

  get state(): ProgramState {
    return this.#state;
  }

  /** How far its clock is ahead, in milliseconds. */
  get skewMs(): number {
    return this.place.skewMs;
  }

  set skewMs(ms: number) {
    this.place.skewMs = ms;
  }

  /** Bundled code. It has begun when this returns; it ends when it exits, or never. */
  start(code: string): void {
    // A program at the end of its code may still wait for something: only `exit` and errors end a program here.
    this.#realm.run(code).catch((error: unknown) => this.#crashed(error));
  }

  /** As `kill -9`: nothing of it runs any more, nothing is flushed. Other programs learn from the network. */
  kill(): void {
    this.#gone(null);
  }

  /** As `kill -STOP`: incoming messages wait. Its connections stay. */
  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.place.hold();
  }

  /** As `kill -CONT`. */
  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    this.place.resume();
  }

  /** As `kill -TERM`: a program that does not listen for it ends. */
  signal(name: "SIGTERM" | "SIGINT"): void {
    this.place.timer(0, () => {
      if (this.#state !== "ended" && !this.#realm.signal(name)) this.#gone(null);
    });
  }

  #crashed(error: unknown): void {
    if (this.#state === "ended") return;
    this.error = error;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#write("stderr", `${text}\n`);
    this.#gone(1);
  }

  #gone(code: number | null): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.exitCode = code;
    this.place.drop();
    this.link.hangUp();
    this.#end(code);
  }

  #write(stream: "stdout" | "stderr", text: string): void {
    if (this.#state === "ended") return;
    const parts = (this.#rest[stream] + text).split("\n");
    this.#rest[stream] = parts.pop()!;
    for (const line of parts) {
      this.lines.push(line);
      this.link.note("prints", line);
      this.options.onLine?.(line, stream);
    }
  }
}
