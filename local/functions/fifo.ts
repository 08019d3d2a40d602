/**
 * One at a time, in the order they came. The platform runs the system calls of a query or mutation so: two that a
 * function starts together never overlap, and neither do two nested mutations.
 */
export class Fifo {
  #last: Promise<unknown> = Promise.resolve();
  #closed: Error | null = null;

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      if (this.#closed !== null) throw this.#closed;
      return task();
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** What has not begun fails with this. */
  close(reason: Error): void {
    this.#closed ??= reason;
  }

  /** Resolves when nothing runs or waits, what was added meanwhile included. */
  async idle(): Promise<void> {
    for (let last; last !== this.#last;) {
      last = this.#last;
      await last;
    }
  }
}
