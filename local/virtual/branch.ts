/**
 * A part of a clock: its timers and waits can be held, go on, and vanish, as if it ran in a process of its own that is
 * stopped, continued and killed. Its clock may be wrong.
 */
import type { Environment, Step, Timer, UserWork } from "../environment.js";
import type { Owner } from "../functions/rejections.js";
import type { Clock } from "./clock.js";
import { randomStream, type RandomStream } from "./random.js";

export interface Branch extends Environment {
  readonly name: string;
  readonly state: "running" | "held" | "dropped";
  /** How far ahead its clock is of the true one, in milliseconds. It may change while it runs. */
  skewMs: number;
  /** Errors that its code leaves to no listener are told there. Default: nowhere, they are the world's. */
  owner: Owner | undefined;
  /** The true time. A monotonic clock goes by it. */
  trueNow(): number;
  /** Nothing happens in it any more, until it is resumed: time passes it by. */
  hold(): void;
  /** Events due meanwhile are due now. */
  resume(): void;
  /** Nothing happens in it any more, ever. Its waits are forgotten, and never settle. */
  drop(): void;
}

interface Held {
  run: () => void;
}

export class ClockBranch implements Branch {
  skewMs = 0;
  owner: Owner | undefined;
  #state: Branch["state"] = "running";
  #held: Held[] = [];
  readonly #random: RandomStream;

  constructor(
    private readonly clock: Clock,
    readonly name: string,
  ) {
    this.#random = randomStream(Math.floor(clock.random() * 2 ** 32), name);
  }

  get state(): Branch["state"] {
    return this.#state;
  }

  now = (): number => this.clock.now() + this.skewMs;

  trueNow = (): number => this.clock.now();

  random = (): number => this.#random.next();

  randomBytes = (length: number): Uint8Array => this.#random.bytes(length);

  sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void this.clock.schedule("sleep", ms, resolve, this));

  timer = (ms: number, run: () => void): Timer => this.clock.schedule("timer", ms, run, this);

  pause = (): Promise<void> =>
    new Promise((resolve) => void this.clock.schedule("pause", 0, resolve, this));

  spend = (step: Step): Promise<void> => this.clock.spendIn(step, this);

  userTime = (of: UserWork): number => this.clock.userTime(of);

  outside = <T>(work: Promise<T>): Promise<T> => this.clock.outsideIn(work, this);

  /** A caller with a network replaces it. */
  fetch: Environment["fetch"] = (input) => this.clock.fetch(input);

  hold(): void {
    if (this.#state === "running") this.#state = "held";
  }

  resume(): void {
    if (this.#state !== "held") return;
    this.#state = "running";
    const held = this.#held;
    this.#held = [];
    for (const { run } of held) this.clock.schedule("resumed", 0, run, this);
  }

  drop(): void {
    this.#state = "dropped";
    this.#held = [];
  }

  /** Whether an event of this branch may happen now. One that comes while it is held is kept. */
  accepts(event: Held): boolean {
    if (this.#state === "running") return true;
    // The event and not its function: it may be canceled while it is kept.
    if (this.#state === "held") this.#held.push({ run: () => event.run() });
    return false;
  }
}
