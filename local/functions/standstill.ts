/**
 * Notices that a query or mutation waits for a result that can never come: all work that can settle it from outside was
 * counted in (`track`), and nothing of that is left.
 *
 * It runs where the function runs, so its timer fires only when the function's own code rests. It does not know the
 * function's code.
 */
import type { Environment, Timer } from "../environment.js";
import { FunctionError } from "./errors.js";

/**
 * How long nothing may be outstanding. The platform drives the event loop itself and knows at once; here streams and
 * blobs that Node made need a few turns of it, and these are not counted. An assumption, with plenty to spare.
 */
const STILL_MS = 100;
/** And so many turns, since on a slow machine the timer may be the next thing that runs. An assumption. */
const STILL_TURNS = 16;

export class Standstill {
  #outstanding = 0;
  /** Anything that ever began, to tell a still function from a busy one. */
  #began = 0;
  #timer: Timer | null = null;
  #ended = false;

  constructor(private readonly env: Environment) {}

  /** Nothing that was counted in is left. */
  get still(): boolean {
    return this.#outstanding === 0;
  }

  /** Counts in work that the function may wait for. */
  track<T>(work: Promise<T>): Promise<T> {
    this.begin();
    const done = () => this.done();
    work.then(done, done);
    return work;
  }

  /** As `track`, where the caller says when it is `done`. */
  begin(): void {
    this.#outstanding++;
    this.#began++;
  }

  done(): void {
    this.#outstanding--;
  }

  /** From when the function runs, until `end`. */
  watch(fail: (error: FunctionError) => void): void {
    const began = this.#began;
    this.#timer = this.env.timer(STILL_MS, () => {
      void this.#restedSince(began).then((rested) => {
        if (this.#ended) return;
        if (rested) fail(new FunctionError("Returned promise will never resolve"));
        else this.watch(fail);
      });
    });
  }

  /** The function has returned, or is not to go on. */
  end(): void {
    this.#ended = true;
    this.#timer?.cancel();
  }

  async #restedSince(began: number): Promise<boolean> {
    const rests = () => !this.#ended && this.still && this.#began === began;
    for (let turn = 0; turn < STILL_TURNS && rests(); turn++) await this.env.pause();
    return rests();
  }
}
