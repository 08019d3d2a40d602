/** A clock's goals: moments to reach, and things that are to become so. It knows no events. */
import { VirtualTimeError } from "./errors.js";

interface Pursued {
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Goal extends Pursued {
  /** Absent: the deadline is itself the goal. */
  holds: (() => boolean) | null;
  deadline: number;
  what: string;
}

export class Goals {
  #goals: Goal[] = [];

  get empty(): boolean {
    return this.#goals.length === 0;
  }

  reach(at: number, pursued: Pursued): void {
    this.#goals.push({ ...pursued, holds: null, deadline: at, what: "that time is reached" });
  }

  hold(holds: () => boolean, deadline: number, what: string, pursued: Pursued): void {
    this.#goals.push({ ...pursued, holds, deadline, what });
  }

  /**
   * Settles all goals that are reached now, and then, earliest first, goals with a deadline before the next event:
   * `moveTo` puts the clock there. True when any goal was settled.
   */
  settle(now: number, nextAt: number, moveTo: (at: number) => void): boolean {
    const count = this.#goals.length;
    if (count === 0) return false;
    let earliest: Goal | null = null;
    for (const goal of [...this.#goals]) {
      if (goal.holds !== null && this.#holds(goal)) this.#end(goal).resolve();
      else if (earliest === null || goal.deadline < earliest.deadline) earliest = goal;
    }
    if (this.#goals.length < count) return true;
    if (earliest === null || earliest.deadline >= nextAt) return false;
    if (earliest.deadline > now) moveTo(earliest.deadline);
    this.#end(earliest);
    if (earliest.holds === null) earliest.resolve();
    else earliest.reject(late(earliest));
    return true;
  }

  /** All goals fail with an error that has no other owner. False when there was no goal. */
  fail(error: Error): boolean {
    return this.failEach(() => error);
  }

  failEach(errorOf: (what: string) => Error): boolean {
    const failed = this.#goals;
    this.#goals = [];
    for (const goal of failed) goal.reject(errorOf(goal.what));
    return failed.length > 0;
  }

  /** A predicate that throws ends its own goal. */
  #holds(goal: Goal): boolean {
    try {
      return goal.holds!();
    } catch (error) {
      this.#end(goal).reject(error as Error);
      return false;
    }
  }

  #end(goal: Goal): Goal {
    this.#goals = this.#goals.filter((other) => other !== goal);
    return goal;
  }
}

function late({ what, deadline }: Goal): VirtualTimeError {
  const time = new Date(deadline).toISOString();
  return new VirtualTimeError(
    "deadline",
    `It is not so that ${what}, and its time was over at ${time}.`,
  );
}
