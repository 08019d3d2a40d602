/**
 * Queues that a worker claims from only when its other queues had nothing for it. A claim names one side: the first
 * queues, and after a claim of these that did not fill its room, the rest once. Pure.
 */
export class Preference {
  private readonly first: readonly string[];
  private isRestsTurn = false;

  constructor(
    queues: readonly string[],
    private readonly rest: readonly string[],
  ) {
    this.first = queues.filter((queue) => !rest.includes(queue));
  }

  /** The queues of the next claim; undefined for all. `mayHave` says whether a queue may have jobs for the worker now. */
  side(mayHave: (queue: string) => boolean): readonly string[] | undefined {
    if (this.rest.length === 0) return undefined;
    if (!this.rest.some(mayHave)) return this.first;
    return this.isRestsTurn || !this.first.some(mayHave) ? this.rest : this.first;
  }

  /** Whether the rest is next, at once. */
  isRestNext(mayHave: (queue: string) => boolean): boolean {
    return this.isRestsTurn && this.rest.some(mayHave);
  }

  /** A claim from these queues was answered. */
  answered(queues: readonly string[] | undefined, isFilled: boolean): void {
    this.isRestsTurn = queues !== undefined && queues === this.first && !isFilled;
  }
}
