/** Chance, from one stream per part of a plan: a draw of one part changes no draw of another. */
import { randomStream, type RandomStream } from "../../local/virtual/random.js";

export class Draw {
  readonly #stream: RandomStream;

  constructor(seed: number | string, name: string) {
    this.#stream = randomStream(seed, name);
  }

  /** From 0 to less than 1. */
  next(): number {
    return this.#stream.next();
  }

  /** Whole, from 0 to less than `n`. */
  below(n: number): number {
    return Math.floor(this.#stream.next() * n);
  }

  /** Whole, both ends among them. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  chance(probability: number): boolean {
    return this.#stream.next() < probability;
  }

  pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  /** Each with the same chance. */
  some<T>(of: readonly T[], probability: number): T[] {
    return of.filter(() => this.chance(probability));
  }
}
