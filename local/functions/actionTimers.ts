/** `setTimeout` and `setInterval` of one action, on the clock that it was given. They end with it. */
import type { Environment, Timer } from "../environment.js";
import { FunctionError } from "./errors.js";

export class ActionTimers {
  readonly #running = new Map<number, Timer>();
  #last = 0;

  constructor(
    private readonly env: Environment,
    /** An exception in a timer has no caller to catch it: it ends the action and not the process. */
    private readonly failed: (reason: unknown) => void,
  ) {}

  set(ms: number, repeat: boolean, run: () => void): number {
    const id = ++this.#last;
    const start = () =>
      this.#running.set(
        id,
        this.env.timer(Math.max(0, ms), () => {
          if (repeat) start();
          else this.#running.delete(id);
          this.#fire(run);
        }),
      );
    start();
    return id;
  }

  clear(id: number): void {
    this.#running.get(id)?.cancel();
    this.#running.delete(id);
  }

  clearAll(): void {
    for (const timer of this.#running.values()) timer.cancel();
    this.#running.clear();
  }

  #fire(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.failed(error ?? new FunctionError("Uncaught undefined"));
    }
  }
}
