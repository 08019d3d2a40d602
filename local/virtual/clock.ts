/**
 * A virtual clock: time passes only when no code has anything left to do, and then jumps to the next event. Of several
 * events due at the same time one is drawn at random, from the seed. Between two draws everything that can run has run.
 * So the same seed gives the same run on every machine; there are no real timers.
 *
 * It knows nothing of functions, clients or networks: these wait on it (`Environment`) or on a part of it (`branch`). A
 * caller drives it (`run`, `advance`, `until`), or it drives itself while anything waits (`selfDriven`).
 */
import { AsyncResource } from "node:async_hooks";
import { runsFor } from "../functions/rejections.js";
import type { Environment, Step, Timer, UserWork } from "../environment.js";
import { Agenda, type Entry } from "./agenda.js";
import { ClockBranch, type Branch } from "./branch.js";
import { VirtualTimeError } from "./errors.js";
import { Goals } from "./goals.js";
import { randomStream, type RandomStream } from "./random.js";

/** 2026-01-01: far from zero, as real timestamps are. */
export const START_MS = 1_767_225_600_000;

/**
 * Draws that are queued at a time. Node lets microtasks, `nextTick` and reports of rejections run to their end between
 * two immediates. One turn of its loop for many of them is six times as fast as a turn each (measured: 5.4 against 0.9
 * million empty draws per second).
 */
const DRAWS_PER_TURN = 64;

/** So many events without a moment passing are a loop that never ends, and the longest burst is far shorter. */
const MAX_EVENTS_AT_ONCE = 5_000_000;

export interface ClockOptions {
  seed: number | string;
  /** Defaults to `START_MS`. */
  startMs?: number;
  /** The duration of a step of work, in milliseconds. Defaults to nothing. */
  costs?: (step: Step) => number;
  /** JavaScript's own share of it. Defaults to nothing. */
  userTime?: (of: UserWork) => number;
  /** Called for every wait that ends, and every step of work; see `trace.ts`. */
  trace?: (what: string, detail: string) => void;
  /** Runs by itself while anything waits. Defaults to false: a caller drives it. */
  selfDriven?: boolean;
}

export interface VirtualClock extends Environment {
  /** Runs until `work` has settled, and gives its result. */
  run<T>(work: Promise<T> | (() => Promise<T>)): Promise<T>;
  /** Lets `ms` milliseconds pass, and all that happens in them happen. */
  advance(ms: number): Promise<void>;
  /** Runs until `holds()`, which is asked before every event. Defaults to no deadline. */
  until(holds: () => boolean, options?: { withinMs?: number; what?: string }): Promise<void>;
  /** Runs until nothing waits any more. */
  untilIdle(options?: { withinMs?: number }): Promise<void>;
  /** A part of it, that can be held, go on and be dropped, and may have a wrong clock. */
  branch(name: string): Branch;
  /** Events so far. */
  readonly events: number;
  /** How many wait. */
  readonly waiting: number;
}

interface Event extends Entry {
  kind: string;
  run: () => void;
  /** The part of the clock that this belongs to: it may be held or gone when its time comes. */
  branch: ClockBranch | null;
}

export function createVirtualClock(options: ClockOptions): VirtualClock {
  return new Clock(options);
}

export class Clock implements VirtualClock {
  readonly #agenda = new Agenda<Event>();
  readonly #goals = new Goals();
  readonly #draws: RandomStream;
  readonly #random: RandomStream;
  readonly #costs: (step: Step) => number;
  readonly userTime: (of: UserWork) => number;
  readonly #trace: ((what: string, detail: string) => void) | undefined;
  readonly #selfDriven: boolean;
  readonly #drawIndex: (length: number) => number;
  /** Work that the machine does by itself: time stands still until all of it is done. */
  #outside: { deliver: (() => void) | null }[] = [];
  /** A draw was left out for it. */
  #stalled = false;
  #now: number;
  #order = 0;
  #events = 0;
  /** `#events` when time last moved. */
  #movedAt = 0;
  /** Draws that were queued for an earlier drive find another number, and do nothing. */
  #drive = 0;
  #driving = false;
  /** Events run without an owner: not in the asynchronous context of the code that happened to start the drive. */
  readonly #slot: (drive: number) => void;

  constructor(options: ClockOptions) {
    this.#draws = randomStream(options.seed, "draws");
    this.#random = randomStream(options.seed, "environment");
    this.#drawIndex = (length) => this.#draws.below(length);
    this.#costs = options.costs ?? (() => 0);
    this.userTime = options.userTime ?? (() => 0);
    this.#trace = options.trace;
    this.#selfDriven = options.selfDriven ?? false;
    this.#now = options.startMs ?? START_MS;
    this.#slot = AsyncResource.bind((drive: number) => this.#step(drive));
  }

  get events(): number {
    return this.#events;
  }

  get waiting(): number {
    return this.#agenda.size;
  }

  now = (): number => this.#now;

  random = (): number => this.#random.next();

  randomBytes = (length: number): Uint8Array => this.#random.bytes(length);

  sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void this.schedule("sleep", ms, resolve, null));

  timer = (ms: number, run: () => void): Timer => this.schedule("timer", ms, run, null);

  pause = (): Promise<void> =>
    new Promise((resolve) => void this.schedule("pause", 0, resolve, null));

  spend = (step: Step): Promise<void> => this.spendIn(step, null);

  outside = <T>(work: Promise<T>): Promise<T> => this.outsideIn(work, null);

  /** There is no network before a caller makes one. */
  fetch = (input: string | URL | Request): Promise<Response> =>
    Promise.reject(
      new TypeError("fetch failed", {
        cause: new Error(`No server answers for ${urlOf(input)} in virtual time.`),
      }),
    );

  branch(name: string): ClockBranch {
    return new ClockBranch(this, name);
  }

  run<T>(work: Promise<T> | (() => Promise<T>)): Promise<T> {
    const promise = typeof work === "function" ? work() : work;
    let settled = false;
    const done = () => (settled = true);
    promise.then(done, done);
    const goal = this.#until(() => settled, Infinity, "the work has settled");
    return goal.then(() => promise);
  }

  advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) {
      throw new RangeError(`Time advances by 0 or more milliseconds, not by ${ms}.`);
    }
    return this.#pursue((pursued) => this.#goals.reach(this.#now + ms, pursued));
  }

  until(
    holds: () => boolean,
    {
      withinMs = Infinity,
      what = "the predicate holds",
    }: { withinMs?: number; what?: string } = {},
  ): Promise<void> {
    return this.#until(holds, this.#now + withinMs, what);
  }

  untilIdle({ withinMs = Infinity }: { withinMs?: number } = {}): Promise<void> {
    return this.#until(() => this.#agenda.empty, this.#now + withinMs, "nothing waits");
  }

  /** For branches: the same as the methods above, on behalf of one. */
  schedule(kind: string, ms: number, run: () => void, branch: ClockBranch | null): Timer {
    // Not a number is no time at all, as with the language's own timers.
    const at = ms > 0 ? this.#now + ms : this.#now;
    const event: Event = { at, order: ++this.#order, canceled: false, kind, run, branch };
    // The clock does not wait for an infinite time.
    if (at < Infinity) this.#agenda.add(event, this.#now);
    if (this.#selfDriven) this.#start();
    return {
      cancel: () => {
        event.run = nothing;
        this.#agenda.cancel(event, this.#now);
      },
    };
  }

  spendIn(step: Step, branch: ClockBranch | null): Promise<void> {
    const ms = this.#costs(step);
    if (this.#trace !== undefined) this.#trace("step", describe(step));
    return new Promise((resolve) => void this.schedule("step", ms, resolve, branch));
  }

  outsideIn<T>(work: Promise<T>, branch: ClockBranch | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry: { deliver: (() => void) | null } = { deliver: null };
      this.#outside.push(entry);
      const deliver = (settle: () => void) => {
        entry.deliver = () => void this.schedule("outside", 0, settle, branch);
        this.#deliverOutside();
      };
      work.then(
        (value) => deliver(() => resolve(value)),
        (error: Error) => deliver(() => reject(error)),
      );
    });
  }

  /** In the order in which they were asked for, whichever was ready first. */
  #deliverOutside(): void {
    if (this.#outside.some(({ deliver }) => deliver === null)) return;
    const done = this.#outside;
    this.#outside = [];
    for (const { deliver } of done) deliver!();
    if (!this.#stalled) return;
    this.#stalled = false;
    if (this.#driving) this.#turn();
  }

  #until(holds: () => boolean, deadline: number, what: string): Promise<void> {
    return this.#pursue((pursued) => this.#goals.hold(holds, deadline, what, pursued));
  }

  #pursue(
    add: (pursued: { resolve: () => void; reject: (error: Error) => void }) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      add({ resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    if (this.#driving) return;
    this.#driving = true;
    this.#turn();
  }

  #turn(): void {
    const drive = ++this.#drive;
    for (let i = 0; i < DRAWS_PER_TURN; i++) setImmediate(this.#slot, drive);
    setImmediate(this.#slot, -drive);
  }

  #step(drive: number): void {
    runsFor(undefined);
    if (Math.abs(drive) !== this.#drive || !this.#driving) return;
    if (this.#outside.length > 0) {
      this.#stalled = true;
      return;
    }
    // The last of a turn: the next goes on in the next turn of Node's loop.
    if (drive < 0) return this.#turn();
    const agenda = this.#agenda;
    const nextAt = agenda.nextAt(this.#now);
    // The code that waited for it goes on before the next event.
    if (this.#goals.settle(this.#now, nextAt, this.#moveTo)) return;
    if (this.#goals.empty && !(this.#selfDriven && nextAt < Infinity)) {
      this.#driving = false;
      return;
    }
    if (nextAt === Infinity) return this.#fail("deadlock");
    if (nextAt > this.#now) this.#moveTo(nextAt);
    const event = agenda.draw(this.#drawIndex);
    if (event === undefined || event.canceled) return;
    this.#fire(event);
  }

  readonly #moveTo = (at: number): void => {
    this.#now = at;
    this.#movedAt = this.#events;
    this.#agenda.collect(at);
  };

  #fire(event: Event): void {
    const { branch } = event;
    if (branch !== null && !branch.accepts(event)) return;
    this.#events++;
    if (this.#events - this.#movedAt > MAX_EVENTS_AT_ONCE) this.#fail("standstill");
    if (this.#trace !== undefined) this.#trace(event.kind, String(event.order));
    // It has had its turn: canceling it now must not count it among waiting events.
    event.canceled = true;
    runsFor(branch?.owner);
    try {
      event.run();
    } catch (error) {
      // The driver gets the error; without one, it is the process's.
      if (!this.#goals.fail(error as Error)) throw error;
    }
  }

  #fail(code: "deadlock" | "standstill"): void {
    this.#driving = false;
    const time = new Date(this.#now).toISOString();
    this.#goals.failEach((what) =>
      code === "deadlock"
        ? new VirtualTimeError(
            "deadlock",
            `Nothing is scheduled any more, and it is not so that ${what} (at ${time}): it never will be.`,
          )
        : new VirtualTimeError(
            "standstill",
            `${MAX_EVENTS_AT_ONCE} events have passed at ${time} and no time with them: something waits for nothing in a loop.`,
          ),
    );
  }
}

function nothing(): void {}

function describe(step: Step): string {
  let text: string = step.kind;
  for (const [name, value] of Object.entries(step)) {
    if (name !== "kind") text += ` ${name}=${String(value)}`;
  }
  return text;
}

function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : String(input);
}
