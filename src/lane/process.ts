/**
 * A process: runs lanes of many queues in one action, until the last of them has left. Each lane is a loop of its own
 * (`loop.ts`), and makes its own calls. The process shares its places among them, polls for lanes that were handed to
 * it, and ends with the call of its last lane.
 *
 * No more of its jobs run at once than it has places: a call takes no more jobs than are free when it is made, and a job that
 * was handed to it waits for a place. It never rejects.
 */
import {
  INLINE_OPEN_MS,
  lifeOf,
  PLACES_SPARE,
  PROCESS_LATE_MS,
  PROCESS_LOOK_MS,
  receivesMs,
  type HandedOver,
  type LaneJob,
  type LaneReply,
  type LaneStart,
  type ProcessReport,
  type ProcessStart,
} from "../shared/index.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { Tending } from "../worker/tending.js";
import type { Ended } from "./inline.js";
import { Loop, type Host, type Lane } from "./loop.js";

interface Named {
  process: string;
  generation: number;
}

/** The calls of a process. */
export interface ProcessCalls extends Lane {
  /** Lanes that were handed to it by a later commit. */
  look(args: Named & { upTo: bigint; share?: number }): Promise<HandedOver>;
  /** Asks for more places, and returns how many it has been given. */
  ask(args: Named & { share?: number; any: number; few: number }): Promise<number>;
  /** Ends it, unless lanes were handed to it. */
  close(args: Named): Promise<{ isClosed: boolean; handedOver?: HandedOver }>;
  /** Does the work of a sweep that is late. `isLate`: there is more. */
  tend(): Promise<{ isLate: boolean }>;
  /** Has queues woken that wait, and gives places back. */
  rouse(from: Named & { givenBack: number }): Promise<unknown>;
}

export interface ProcessOptions {
  clock?: Clock;
  /** It runs in an action of the app. */
  isInline?: boolean;
}

export async function runProcess(
  calls: ProcessCalls,
  start: ProcessStart,
  { clock = systemClock, isInline = false }: ProcessOptions = {},
): Promise<void> {
  await new Process(calls, start, clock, isInline).live();
}

/** A job that waits for a place. */
interface Waiting {
  loop: Loop;
  begin: () => void;
}

class Process implements Host {
  private readonly loops = new Set<Loop>();
  private places: number;
  /** Places that calls under way may fill. */
  private offered = 0;
  /** Jobs that have a place. */
  private running = 0;
  private waiting: Waiting[] = [];
  private upTo = 0n;
  private lookedAt: number;
  private rousedAt = -Infinity;
  private isAsking = false;
  /** Of calls at the same moment one hears of lanes that were handed over, and one asks for places: several would conflict. */
  private isHearing = false;
  private isStepAsking = false;
  private readonly tending = new Tending(() => this.calls.tend());
  private tendedAt = -Infinity;
  private isClosed = false;
  /** A call that may end the process is under way. Lanes that are heard of meanwhile begin when it is answered. */
  private isClosing = false;
  private startable: LaneStart[] = [];
  /** When it was last given places: until a while later it gives none back. */
  private givenAt: number;
  /** Places that it has given back in all; and as many of them as a call has said that was answered. */
  private givenBack = 0;
  private saidBack = 0;
  private isSayingBack = false;
  private readonly named: Named;
  private readonly share: { share?: number };
  private ends: () => void = () => undefined;

  constructor(
    private readonly calls: ProcessCalls,
    private readonly start: ProcessStart,
    private readonly clock: Clock,
    private readonly isInline: boolean,
  ) {
    const { process, generation, places, share } = start;
    this.named = { process, generation };
    this.share = share === undefined ? {} : { share };
    this.places = places;
    // Wakes at the same moment as the one that started it hand it their lanes: it polls for them first of all.
    this.lookedAt = clock.now() - PROCESS_LOOK_MS + FIRST_LOOK_MS;
    this.givenAt = clock.now();
    this.receives = start.receives;
  }

  async live(): Promise<void> {
    const over = new Promise<void>((resolve) => (this.ends = resolve));
    this.adopt(this.start.lanes);
    this.restSoon();
    const stop = this.start.receives ? this.lookNowAndThen() : () => undefined;
    await over;
    stop();
  }

  private adopt(lanes: readonly LaneStart[]): void {
    for (const start of lanes) {
      const loop = new Loop(this.calls, this, start, this.clock);
      this.loops.add(loop);
      void loop.run().then(() => this.left(loop));
    }
  }

  /** A lane has left. With the last one the process ends, and says so where that lane's call has not. */
  private left(loop: Loop): void {
    this.loops.delete(loop);
    if (this.loops.size > 0) return;
    this.forgetRest();
    if (this.isClosed) this.ends();
    else void this.close();
  }

  private async close(): Promise<void> {
    for (let tries = 0; tries < CLOSE_TRIES && this.loops.size === 0; tries += 1) {
      this.isClosing = true;
      try {
        const { isClosed, handedOver } = await this.calls.close(this.named);
        if (handedOver !== undefined) this.hear(handedOver);
        this.isClosing = false;
        if (isClosed) return this.ends();
        this.adoptStartable();
      } catch {
        this.isClosing = false;
        await new Promise<void>((resolve) => this.clock.after(CLOSE_AGAIN_MS, resolve));
        this.adoptStartable();
      }
    }
    // The janitor finds that it has ended.
    if (this.loops.size === 0) this.ends();
  }

  // --- Calls of its lanes ------------------------------------------------------------------------

  says(loop: Loop): ProcessReport {
    const { openedAt, version, receives } = this.start;
    const places = this.free(loop);
    const isFull = this.places - this.running - this.waiting.length <= places;
    const hears = receives && !this.isHearing;
    this.isHearing ||= hears;
    const asks = isFull && !this.isAsking && !this.isStepAsking;
    this.isStepAsking ||= asks;
    this.offered += places;
    this.giveBack(this.spare());
    const saysBack = this.givenBack > this.saidBack && !this.isSayingBack;
    this.isSayingBack ||= saysBack;
    const closes = this.loops.size === 1 && loop.mayLeave && this.waiting.length === 0;
    this.isClosing = closes;
    return {
      ...this.named,
      ...{ version, endsAt: openedAt + lifeOf(this.isInline), places, isFull: asks },
      ...(this.isInline ? { openUntil: openedAt + INLINE_OPEN_MS } : {}),
      ...(saysBack ? { givenBack: this.givenBack } : {}),
      ...(closes ? { closes } : {}),
      ...(hears ? { receivedUpTo: this.upTo } : {}),
    };
  }

  hears(_: Loop, said: ProcessReport, reply: LaneReply | null): void {
    const { places, isFull, receivedUpTo, givenBack } = said;
    this.offered -= places;
    if (givenBack !== undefined) this.isSayingBack = false;
    if (givenBack !== undefined && reply !== null)
      this.saidBack = Math.max(this.saidBack, givenBack);
    if (receivedUpTo !== undefined) this.isHearing = false;
    if (isFull) this.isStepAsking = false;
    const { given = 0, isClosed = false, handedOver, isLate = false } = reply ?? {};
    this.add(given);
    if (isLate) void this.tend();
    this.isClosed ||= isClosed;
    if (handedOver !== undefined) this.hear(handedOver);
    this.isClosing = false;
    this.adoptStartable();
    this.beginWaiting();
    this.restSoon();
  }

  /**
   * Its lanes may wait for long jobs, and make no call meanwhile that could give places back: after a while without a
   * call one of its own does. A receiver keeps them for lanes that are handed to it, while no queue waits for places.
   */
  private restSoon(): void {
    this.forgetRest();
    this.forgetRest = this.clock.after(GIVEN_FOR_MS, () => {
      if (this.receives || [...this.loops].some(({ polls }) => polls)) return;
      if (this.unused > PLACES_SPARE || this.givenBack > this.saidBack) void this.rouse(false);
    });
  }
  private forgetRest: () => void = () => undefined;
  /** Lanes may be handed to it, and it polls for them. */
  private receives: boolean;

  /** Places that no job has, and no call under way may fill. */
  private get unused(): number {
    return this.places - this.running - this.offered - this.waiting.length;
  }

  /**
   * Places for a lane that makes a call: as many as it is likely to fill, since other lanes call at the same time. Jobs that
   * wait for one come first, but for a lane that runs fewer than two.
   */
  private free({ placed, mayFill }: Loop): number {
    const left = this.places - this.running - this.offered;
    const kept = placed < 2 ? 0 : this.waiting.length;
    return Math.max(0, Math.min(left - kept, mayFill));
  }

  /** Places that it gives back: it has many more than it uses, and has had them for a while. */
  private spare(): number {
    const used = this.running + this.offered + this.waiting.length;
    if (this.clock.now() < this.givenAt + GIVEN_FOR_MS) return 0;
    return Math.max(0, this.places - Math.ceil(1.5 * used) - PLACES_SPARE);
  }

  /** It uses them no more, whether or not a call that says so is answered. */
  private giveBack(places: number): void {
    this.places -= places;
    this.givenBack += places;
  }

  private add(given: number): void {
    if (given <= 0) return;
    this.places += given;
    this.givenAt = this.clock.now();
  }

  // --- Jobs and places ---------------------------------------------------------------------------

  /** Runs a job: as a rule there is a place for it, since the call that brought it was offered one. */
  run(loop: Loop, job: LaneJob): Promise<Ended> {
    return new Promise((resolve) => {
      const begin = () => {
        this.running += 1;
        void this.calls.run(job).then((ended) => {
          this.running -= 1;
          resolve(ended);
          this.beginWaiting();
        });
      };
      this.waiting.push({ loop, begin });
      this.beginWaiting();
    });
  }

  /** The lanes that run least come first. */
  private beginWaiting(): void {
    while (this.waiting.length > 0 && this.running < this.places) {
      const next = this.waiting.reduce((a, b) => (b.loop.placed < a.loop.placed ? b : a));
      this.waiting = this.waiting.filter((one) => one !== next);
      next.begin();
    }
    if (this.waiting.length > 0) void this.askForPlaces();
  }

  /** Asks for a few more than wait now: more jobs are handed to it soon. In vain it asks again only after a while. */
  private async askForPlaces(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    const few = this.waiting.filter(({ loop }) => loop.placed <= 2).length;
    const any = Math.max(PLACES_ASKED, this.waiting.length);
    let given = 0;
    try {
      given = await this.calls.ask({ ...this.named, ...this.share, any, few });
    } catch {
      // It asks again.
    }
    this.add(given);
    if (given === 0) await new Promise<void>((resolve) => this.clock.after(ASK_AGAIN_MS, resolve));
    this.isAsking = false;
    this.beginWaiting();
  }

  /** A sweep is late, a lane has heard: its work is done here. The next answer says so again if this fails. */
  private async tend(): Promise<void> {
    if (this.clock.now() < this.tendedAt + TEND_EVERY_MS) return;
    await this.tending.run();
    this.tendedAt = this.clock.now();
  }

  // --- Received lanes ----------------------------------------------------------------------------

  private hear({ lanes, upTo, areWaiting, arePlaces = false }: HandedOver): void {
    this.lookedAt = this.clock.now();
    if (upTo > this.upTo) this.upTo = upTo;
    this.startable.push(...lanes.filter(({ handOver }) => !this.knows(handOver)));
    if (!this.isClosing) this.adoptStartable();
    if (areWaiting) void this.rouse(arePlaces);
  }

  private adoptStartable(): void {
    const lanes = this.startable;
    this.startable = [];
    this.adopt(lanes);
  }

  /** Two answers may tell of the same lane. */
  private readonly known = new Set<string>();
  private knows(handOver: string | undefined): boolean {
    if (handOver === undefined) return false;
    if (this.known.has(handOver)) return true;
    this.known.add(handOver);
    return false;
  }

  /** Queues wait for places: free ones are given back, so that the queues find them. In vain they are not woken. */
  private async rouse(arePlaces: boolean): Promise<void> {
    if (this.clock.now() < this.rousedAt + ROUSE_EVERY_MS) return this.restSoon();
    this.giveBack(Math.max(0, Math.min(this.unused, this.places - 1)));
    const { givenBack } = this;
    if (givenBack === this.saidBack && !arePlaces) return;
    this.rousedAt = this.clock.now();
    try {
      await this.calls.rouse({ ...this.named, givenBack });
      this.saidBack = Math.max(this.saidBack, givenBack);
    } catch {
      // They wait on, and are woken the next time.
      this.restSoon();
    }
  }

  /** Polls where no call of its lanes has polled for a while; and now and then all the same, for queues that wait. */
  private lookNowAndThen(): () => void {
    const age = Date.now() - this.start.openedAt;
    const until = this.clock.now() + receivesMs(this.isInline) + PROCESS_LATE_MS - age;
    let isOver = false;
    let forget = () => {};
    let asksAt = this.clock.now() + ROUSE_EVERY_MS;
    const again = () => {
      if (isOver) return;
      if (this.clock.now() > until) {
        this.receives = false;
        return this.restSoon();
      }
      const dueAt = Math.min(this.lookedAt + PROCESS_LOOK_MS, asksAt);
      forget = this.clock.after(Math.max(10, dueAt - this.clock.now()), () => void look());
    };
    const look = async () => {
      const now = this.clock.now();
      if ((now >= this.lookedAt + PROCESS_LOOK_MS || now >= asksAt) && this.loops.size > 0) {
        this.lookedAt = now;
        asksAt = now + ROUSE_EVERY_MS;
        try {
          this.hear(await this.calls.look({ ...this.named, ...this.share, upTo: this.upTo }));
        } catch {
          // It polls again.
        }
      }
      again();
    };
    again();
    return () => {
      isOver = true;
      forget();
    };
  }
}

/**
 * How long after it has tended it does not again: on a deployment that is overloaded alarms are late for all lanes, and calls that
 * tend take the places of calls that work.
 */
const TEND_EVERY_MS = 10_000;
/** So often a process says that it has ended, and so long after a call that was refused. */
const CLOSE_TRIES = 5;
const CLOSE_AGAIN_MS = 1_000;
/** Places for which it asks at least, and how soon again where it is given none. */
const PLACES_ASKED = 4;
const ASK_AGAIN_MS = 500;
/** How soon after its start it polls first. */
const FIRST_LOOK_MS = 50;
/** So long it keeps places that it was given. */
const GIVEN_FOR_MS = 1_000;
/** How often it checks whether queues wait, and wakes them. */
const ROUSE_EVERY_MS = 1_000;
