/**
 * When a worker with room asks for work. It is woken by the subscription; the result of its last claim decides how soon
 * it scans again. Pure but for the clock's chance.
 *
 * One job wakes many workers and one gets it. So each worker of a fleet has its turn, one gap after the one before, and
 * in its turn takes any job; the news that the job has been taken keeps the rest away. The clock decides which worker's
 * turn is first, another's each second. A worker alone always has its turn. A worker conflicts now and then if its
 * clock is off, or its fleet is another size by now. While work goes on to wait, turns rotate (time division multiple
 * access, of radio).
 *
 * No worker waits longer than its patience while the deployment goes on reporting work: then there is more than the
 * workers with earlier turns could take. Out of turn, a worker takes jobs of its own shard, and so does not conflict
 * either. A worker that comes away empty waits twice as long each time.
 *
 * Measured as alternatives, with 32 workers and 20 jobs per second on the smallest class (conflicts per 100 jobs,
 * median start; here 6 and 240 ms): waits of random length that adapt, where all come within the patience and take
 * anything, 88 and 165 ms, with errors; the same where a late worker takes jobs of its own shard only, 7 and 390 ms;
 * turns that go round by themselves, so that a wake begins in the middle of one, 6 to 11 and 320 to 370 ms. Of 64 that
 * wait for one job per second these conflict at 5 in 100 and begin after 175 ms, here after 105; with 80 ms between
 * turns they conflict at 22. Not built: a subscription for each part of a fleet, which would rerun with every change of
 * its part.
 */
import type { Clock } from "./clock.js";
import {
  EMPTY_WAIT_CLAIMS,
  EMPTY_WAIT_GAP_MS,
  EMPTY_WAIT_MAX_MS,
  EMPTY_WAIT_MIN_MS,
  EMPTY_WAITS_SHORT,
  FIRST_MS,
  FIRST_SPREAD_MS,
  LOOK_AGAIN_MS,
  POLL_DOUBLINGS,
  TURN_GAP_MS,
} from "./limits.js";
import type { PlaceInFleet } from "./transport.js";
import { turnAt } from "./turns.js";

/** This many after the first come a whole gap apart, and may take any job. */
const TURNS_APART = 1;

export class Idle {
  /** `undefined` while the subscription says nothing: then the worker polls. */
  private hasWork: boolean | undefined = undefined;
  private wait = 0;
  private fleet: PlaceInFleet = { size: 1, rank: 0 };
  /** It scans at once when it starts, and once more when workers that started with it can be seen. */
  private looksLeft = 2;
  private lookAt: number;
  private readonly lookAgainAt: number;
  /** Without a subscription, when it scans after an empty claim; and how many of these there were in a row. */
  private pollAt = 0;
  private emptyPolls = 0;
  /** When it claims although the subscription says that nothing waits. */
  private watchAt: number | null = null;
  /** Whether the next scan is in its turn: then it may take jobs of another worker's shard. */
  isInTurn = false;

  /** `pollMs`: about how often it scans where there is no subscription, and none is expected. */
  constructor(
    private readonly clock: Clock,
    private readonly pollMs?: number,
  ) {
    // The first claim does not wait for the subscription: it makes the worker known, or finds that it is not welcome.
    this.lookAt = clock.now() + clock.random() * FIRST_SPREAD_MS;
    this.lookAgainAt = clock.now() + LOOK_AGAIN_MS * (1 + clock.random());
  }

  /** The subscription has spoken, or has failed. `isAlone`: the rest of the fleet is away. */
  knows(hasWork: boolean | undefined, isAlone = false): void {
    if (hasWork === true && this.hasWork !== true) {
      this.wait = 0;
      const before = isAlone ? 0 : this.beforeIt();
      this.isInTurn = before <= TURNS_APART;
      this.lookAt = this.clock.now() + turnAt(before, this.fleet.size, TURN_GAP_MS);
    }
    this.hasWork = hasWork;
  }

  /** It claims once in so many ms, although the subscription says nothing, or is none. */
  looksIn(ms: number): void {
    this.watchAt = this.clock.now() + ms;
  }

  /** Its place, in the answer of a claim that has not scanned for jobs. */
  inFleet(fleet: PlaceInFleet | undefined): void {
    this.fleet = fleet ?? this.fleet;
  }

  /**
   * A claim was answered, after `tookMs`. `fleet`: its place among the workers of the queues, if the deployment has
   * counted them. `isBeside`: it came before its own scan was due, and takes the place of none of the first scans.
   */
  claimed(
    got: number,
    asked: number,
    tookMs: number,
    {
      fleet,
      isBeside = false,
    }: { fleet?: PlaceInFleet | undefined; isBeside?: boolean | undefined } = {},
  ): void {
    if (!isBeside) this.looksLeft -= 1;
    this.watchAt = null;
    this.fleet = fleet ?? this.fleet;
    this.polled(got);
    if (got > 0) {
      this.wait = got < asked ? EMPTY_WAIT_MIN_MS : 0;
      this.lookAt = this.clock.now() + this.wait;
      this.isInTurn = false;
      return;
    }
    this.wait = Math.min(EMPTY_WAIT_MAX_MS, Math.max(EMPTY_WAIT_MIN_MS, this.wait * 2));
    this.lookWithin(this.longest(tookMs), this.wait + this.untilTurn(this.wait));
  }

  /** When to claim, or null: when the subscription speaks. */
  claimAt(): number | null {
    if (this.looksLeft > 1) return this.lookAt;
    if (this.hasWork === false) return this.looksLeft > 0 ? this.lookAgainAt : this.watchAt;
    // Without a subscription there is nothing to say when work comes, and polling must stay cheap.
    if (this.hasWork === undefined && this.wait > 0) {
      const { lookAt, pollMs } = this;
      const pollAt = pollMs === undefined ? lookAt - this.wait + EMPTY_WAIT_MAX_MS : this.pollAt;
      return Math.max(lookAt, pollAt);
    }
    return this.lookAt;
  }

  /** Ever more seldom while polls find nothing, and never at the same time as the rest of the fleet for long. */
  private polled(got: number): void {
    const { clock, pollMs = 0 } = this;
    const doublings = got > 0 ? 0 : Math.min(this.emptyPolls, POLL_DOUBLINGS);
    this.emptyPolls = got > 0 ? 0 : this.emptyPolls + 1;
    this.pollAt = clock.now() + pollMs * 2 ** doublings * (0.75 + clock.random() / 2);
  }

  /** The longest wait after an empty claim that took so long. */
  private longest(tookMs: number): number {
    if (this.wait < EMPTY_WAIT_MIN_MS * 2 ** EMPTY_WAITS_SHORT)
      return Math.max(this.wait * (1 + this.clock.random()), tookMs);
    const shared = Math.min(EMPTY_WAIT_MAX_MS, this.fleet.size * EMPTY_WAIT_GAP_MS);
    return Math.max(this.wait * 2, shared, tookMs * EMPTY_WAIT_CLAIMS);
  }

  /** In its turn, in so many ms, or in `latest` ms if that is sooner. */
  private lookWithin(latest: number, turn: number): void {
    this.isInTurn = turn <= latest;
    this.lookAt = this.clock.now() + Math.min(turn, latest);
  }

  /** How many of the fleet come before it, after a wake of all. */
  private beforeIt(): number {
    const { size, rank } = this.fleet;
    if (rank === null) return this.clock.random() * (size - 1);
    const first = Math.floor(this.clock.date() / FIRST_MS) % size;
    return (rank - first + size) % size;
  }

  /** From `ms` from now until its next turn. */
  private untilTurn(ms: number): number {
    const { size, rank } = this.fleet;
    if (size === 1) return 0;
    const round = size * TURN_GAP_MS;
    if (rank === null) return this.clock.random() * round;
    const at = rank * TURN_GAP_MS - ((this.clock.date() + ms) % round);
    return at < 0 ? at + round : at;
  }
}
