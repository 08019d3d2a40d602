/**
 * One at a time, in the order they came; but reads that were asked for together run together. So the platform runs the
 * system calls of a query or mutation. When the function can go no further, it takes one pending call, or up to 16
 * reads that follow each other. The function goes on when all of them are done (isolate: AsyncSyscallBatch,
 * MAX_SYSCALL_BATCH_SIZE). Two nested mutations never overlap.
 */
export class Fifo {
  readonly #waiting: Call[] = [];
  #batch: Batch | null = null;
  #closed: Error | null = null;

  /** `isRead`: it may run beside its neighbours that are. */
  run<T>(task: () => Promise<T>, { isRead = false }: { isRead?: boolean } = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ task, isRead, resolve: resolve as (value: unknown) => void, reject });
      this.#begin();
    });
  }

  /** Calls that have not begun fail with this. */
  close(reason: Error): void {
    this.#closed ??= reason;
  }

  /** Resolves when nothing runs or waits, calls added meanwhile included. */
  async idle(): Promise<void> {
    while (this.#batch !== null) await this.#batch.done;
  }

  /** Until the first answer, a call that is added belongs to the running batch. */
  #begin(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      if (this.#batch !== null && !this.#batch.takes(next)) return;
      this.#waiting.shift();
      this.#batch ??= new Batch(next.isRead, () => {
        this.#batch = null;
        this.#begin();
      });
      this.#batch.add(next, () => (this.#closed === null ? next.task() : refused(this.#closed)));
    }
  }
}

const SETTLED = Promise.resolve();

function refused(reason: Error): Promise<never> {
  return Promise.reject(reason);
}

interface Call {
  task: () => Promise<unknown>;
  isRead: boolean;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

/** knobs.rs: MAX_SYSCALL_BATCH_SIZE. */
const BATCH_MAX = 16;

/** Calls that run together, and are answered together. */
class Batch {
  readonly done: Promise<void>;
  #end!: () => void;
  readonly #answers: (() => void)[] = [];
  #running = 0;

  constructor(
    private readonly isOfReads: boolean,
    private readonly over: () => void,
  ) {
    this.done = new Promise((resolve) => (this.#end = resolve));
  }

  takes({ isRead }: Call): boolean {
    return this.isOfReads && isRead && this.#answers.length < BATCH_MAX;
  }

  add({ resolve, reject }: Call, task: () => Promise<unknown>): void {
    const place = this.#answers.push(() => {}) - 1;
    this.#running += 1;
    const ends = (answer: () => void) => {
      this.#answers[place] = answer;
      this.#running -= 1;
      if (this.#running === 0) this.#answer();
    };
    const carryOut = async (): Promise<void> => {
      let answer: () => void;
      try {
        const value = await task();
        answer = () => resolve(value);
      } catch (reason) {
        answer = () => reject(reason);
      }
      ends(answer);
    };
    // Not before the caller has its promise.
    void SETTLED.then(() => void carryOut());
  }

  #answer(): void {
    for (const answer of this.#answers) answer();
    this.over();
    this.#end();
  }
}
