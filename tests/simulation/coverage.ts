/** Counts each expected event, and the seeds in which it happened: an event that never happened is untested. */
import { CHECKERS } from "./checkers/all.js";
import { PARTS } from "./parts.js";

interface Expected {
  /** The part or checker that says so. */
  of: string;
  what: string;
  /** As the simulation tells it. */
  mark: string;
}

/** Everything that must happen in some seed. */
export const EXPECTED: readonly Expected[] = [
  ...PARTS.flatMap(({ name: of, marks }) => marks.map((what) => ({ of, what, mark: what }))),
  ...CHECKERS.flatMap(({ name: of, marks }) =>
    marks.map((what) => ({ of, what, mark: `${of}: ${what}` })),
  ),
];

/** By mark: in how many seeds, and how often. */
export type Counts = Record<string, readonly [seeds: number, times: number]>;

export class Coverage {
  readonly #seeds = new Map<string, number>();
  readonly #times = new Map<string, number>();

  /** `counts`: of seeds that were played before. */
  constructor(counts: Counts = {}) {
    for (const [mark, [seeds, times]] of Object.entries(counts)) {
      this.#seeds.set(mark, seeds);
      this.#times.set(mark, times);
    }
  }

  /** Of one seed. */
  add(marks: readonly (readonly [string, number])[]): void {
    for (const [mark, times] of marks) {
      this.#seeds.set(mark, (this.#seeds.get(mark) ?? 0) + 1);
      this.#times.set(mark, (this.#times.get(mark) ?? 0) + times);
    }
  }

  /** The expected events, in their order. */
  counts(): Counts {
    return Object.fromEntries(
      EXPECTED.filter(({ mark }) => this.#seeds.has(mark)).map(({ mark }) => [
        mark,
        [this.#seeds.get(mark)!, this.#times.get(mark)!],
      ]),
    );
  }

  missing(): Expected[] {
    return EXPECTED.filter(({ mark }) => !this.#seeds.has(mark));
  }

  /** Lines of a table in Markdown. */
  table(): string[] {
    const rows = EXPECTED.map(
      ({ of, what, mark }) =>
        `| ${of} | ${what} | ${this.#seeds.get(mark) ?? 0} | ${this.#times.get(mark) ?? 0} |`,
    );
    return ["| of | event | seeds | times |", "| --- | --- | ---: | ---: |", ...rows];
  }
}
