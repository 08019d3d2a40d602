/**
 * Which jobs a worker asks for with its next claim, and when: jobs that its subscriptions have named, while few wait
 * (`waiting.ts`), or a scan, while more do (`idle.ts`). It knows nothing of calls or jobs in hand.
 */
import { LEASES_MAX, type Waiting as Answer } from "../shared/index.js";
import type { Clock } from "./clock.js";
import { Idle } from "./idle.js";
import type { ClaimConditions } from "./hookTypes.js";
import { EMPTY_CLAIMS_MAX, NAMED_CLAIMS_A_LOOK, NAMED_LOOK_QUEUES } from "./limits.js";
import { hasOtherOffer, narrow } from "./narrowing.js";
import { Preference } from "./preference.js";
import type { Claimed, ClaimRequest, PlaceInFleet } from "./transport.js";
import { Waiting } from "./waiting.js";

/** The free capacity of the worker. */
export type Bounds = Pick<ClaimRequest, "max" | "maxCost">;

type Due = ReturnType<Waiting["due"]>;

interface Origin {
  meant: ClaimRequest;
  side: readonly string[] | undefined;
  /** It came at once after a claim from the other side: none of the worker's own scans was due. */
  isBeside?: boolean;
}

/** Of jobs that came with a call that asked for none. */
const NO_CLAIM: Origin = { meant: { max: 0 }, side: undefined };

export class Asking {
  private readonly idle: Idle;
  private readonly waiting: Waiting;
  private cursor: string | undefined;
  /** Scans in a row that found nothing although the subscription reports a backlog. */
  private empty = 0;
  /** Queues that are followed from a cursor on. */
  private readonly ahead = new Set<string>();
  private readonly preference: Preference;
  /** Of a claim under conditions: the one that it comes from, and its side. */
  private readonly origins = new WeakMap<ClaimRequest, Origin>();

  /**
   * `whenIdle`: queues that it claims from only when its other queues had nothing. `pollMs`: how often it claims where nothing
   * is followed.
   */
  constructor(
    private readonly clock: Clock,
    private readonly queues: readonly string[],
    name: string,
    { whenIdle = [], pollMs }: { whenIdle?: readonly string[]; pollMs?: number | undefined } = {},
  ) {
    this.idle = new Idle(clock, pollMs);
    this.waiting = new Waiting(clock, queues, name);
    this.preference = new Preference(queues, whenIdle);
  }

  /** A queue's subscription has spoken. */
  subscriptionAnswered(queue: string, answer: boolean | Answer): void {
    this.waiting.subscriptionAnswered(queue, answer);
    if (this.waiting.isBacklog !== true) this.empty = 0;
    this.idle.knows(this.waiting.isBacklog, this.waiting.isAlone);
  }

  /** A queue's subscription has failed. */
  subscriptionFailed(queue: string): void {
    this.ahead.delete(queue);
    this.waiting.subscriptionFailed(queue);
    this.idle.knows(this.waiting.isBacklog);
  }

  /** Whether anywhere more waits than is named; `undefined` while a subscription says nothing. */
  get isBacklog(): boolean | undefined {
    return this.waiting.isBacklog;
  }

  /** How many waiting jobs are named. */
  get namedCount(): number {
    return this.waiting.named;
  }

  /** Other workers that waiting jobs prefer by their names. */
  get preferred(): string[] {
    return this.waiting.preferred;
  }

  /** It follows nothing, and claims at once, and then for as long as it finds jobs. */
  comes(): void {
    for (const queue of this.queues) this.waiting.subscriptionAnswered(queue, true);
    this.idle.knows(true, true);
  }

  /** It follows its queues anew, and has heard of none. */
  knowsNothing(): void {
    for (const queue of this.queues) this.subscriptionFailed(queue);
  }

  /** It follows nothing, and waits to be called up. */
  rests(): void {
    for (const queue of this.queues) this.waiting.subscriptionAnswered(queue, false);
    this.ahead.clear();
    this.idle.knows(false);
  }

  /** It claims once in so many ms though it follows nothing. */
  looksIn(ms: number): void {
    this.idle.looksIn(ms);
  }

  /** Its place among the workers that follow its queues. */
  isOneOf(place: PlaceInFleet): void {
    this.waiting.placed([{ queues: [...this.queues], ...place }]);
    this.idle.inFleet(place);
  }

  /** When to claim, or null: when a subscription speaks. */
  claimAt(): number | null {
    if (this.preference.isRestNext(this.mayHave)) return this.clock.now();
    return earlier(this.idle.claimAt(), this.waiting.nextDueAt(this.side()));
  }

  /** The claim to send now. Null where its conditions leave nothing to ask for: it counts as one that found nothing. */
  request(bounds: Bounds, conditions: ClaimConditions = {}): ClaimRequest | null {
    const looksAt = this.idle.claimAt();
    const isScan = looksAt !== null && looksAt <= this.clock.now();
    const side = this.side();
    const due = this.due(bounds, conditions, side);
    if (!isScan && !this.preference.isRestNext(this.mayHave))
      return this.narrowed(this.named(bounds, due), conditions, side);
    const look = { ...this.look(bounds, due), ...(this.idle.isInTurn ? { woken: true } : {}) };
    return this.narrowed(look, conditions, side, !isScan);
  }

  /** Whether a claim is to go with the outcomes: a job is known to wait, or nothing is known. */
  get asksBeside(): boolean {
    return this.waiting.isBacklog !== false || this.waiting.due(1, this.side()).named.length > 0;
  }

  /** The claim to send with the outcomes. */
  requestBeside(bounds: Bounds, conditions: ClaimConditions = {}): ClaimRequest | undefined {
    const side = this.side();
    const due = this.due(bounds, conditions, side);
    const isScan = this.waiting.isBacklog !== false;
    const meant = isScan ? this.look(bounds, due) : this.named(bounds, due);
    return this.narrowed(meant, conditions, side) ?? undefined;
  }

  /** The queues that the next claim is for; undefined for all. */
  private side(): readonly string[] | undefined {
    return this.preference.side(this.mayHave);
  }

  /** The named jobs that it comes for; with conditions on their queues all of these, for `narrow` to choose from. */
  private due({ max }: Bounds, { queues }: ClaimConditions, side: readonly string[] | undefined) {
    return this.waiting.due(queues === undefined ? max : LEASES_MAX, side);
  }

  private narrowed(
    meant: ClaimRequest,
    conditions: ClaimConditions,
    side: readonly string[] | undefined,
    isBeside = false,
  ): ClaimRequest | null {
    if (side === undefined && Object.keys(conditions).length === 0) return meant;
    const queues = (side ?? this.queues).filter(
      (queue) => conditions.queues?.includes(queue) ?? true,
    );
    const of = { all: this.queues, queueOf: (id: string) => this.waiting.queueOf(id) };
    const request = narrow(meant, { ...conditions, queues }, of);
    if (request === null) {
      this.foundNothing({ meant, side, isBeside });
      return null;
    }
    // Named jobs that were left out wait for a claim to which they belong; under `ids` all have had their turn.
    const isOfIds = conditions.ids !== undefined;
    const origin = isOfIds ? meant : { ...meant, named: request.named ?? [] };
    this.origins.set(request, { meant: origin, side, isBeside });
    return request;
  }

  private readonly mayHave = (queue: string): boolean => this.waiting.mayHave(queue);

  private originOf(request: ClaimRequest): Origin {
    return this.origins.get(request) ?? { meant: request, side: undefined };
  }

  /** A claim was answered, after `tookMs`; jobs may come of an earlier copy of one, though none was asked for. */
  answered(
    { jobs, cursor, fleet, places = [] }: Claimed,
    request: ClaimRequest | undefined,
    tookMs: number,
  ): void {
    const origin = request === undefined ? NO_CLAIM : this.originOf(request);
    const { meant, side, isBeside } = origin;
    const { max, named = [], lookIn } = meant;
    this.waiting.placed(places);
    this.waiting.claimed(named, jobs);
    this.preference.answered(side, jobs.length >= max);
    // A claim that scanned nothing has no cursor to go on from.
    if (lookIn?.length === 0) return this.idle.inFleet(fleet);
    const isOwnScan = request?.lookIn?.length !== 0 && !hasOtherOffer(request ?? meant);
    if (isOwnScan) this.cursor = cursor ?? this.cursor;
    this.empty = jobs.length > 0 || this.waiting.isBacklog !== true ? 0 : this.empty + 1;
    this.idle.claimed(jobs.length, max, tookMs, { fleet, isBeside });
  }

  /**
   * The queues that are to be followed from the cursor on, after the claim that was just answered. They report a
   * backlog, and scan after scan finds nothing: the waiting jobs are not for this worker, and more of them wait than a
   * subscription reads.
   */
  toFollow(request: ClaimRequest): { queues: string[]; cursor: string } {
    const { cursor = "", empty, ahead } = this;
    const { lookIn } = request;
    if (cursor === "" || empty === 0 || hasOtherOffer(request)) return { queues: [], cursor };
    const queues = this.waiting
      .backlogs()
      .filter((queue) => lookIn?.includes(queue) !== false)
      .filter((queue) => ahead.has(queue) || empty >= EMPTY_CLAIMS_MAX);
    for (const queue of queues) ahead.add(queue);
    return { queues, cursor };
  }

  /** A claim was refused. */
  cameInVain(request: ClaimRequest): void {
    this.foundNothing(this.originOf(request));
    this.cursor = undefined;
  }

  private foundNothing({ meant, side, isBeside }: Origin): void {
    if (meant.lookIn?.length !== 0) this.idle.claimed(0, meant.max, 0, { isBeside });
    this.waiting.claimed(meant.named ?? [], []);
    this.preference.answered(side, false);
  }

  /** A claim sent with outcomes was refused; it may have been the cause. */
  rejected(request: ClaimRequest | undefined): void {
    if (request !== undefined) this.waiting.claimed(this.originOf(request).meant.named ?? [], []);
    this.cursor = undefined;
  }

  /** A claim that scans: the queues with a backlog, or all queues while nothing is known and once more after that. */
  private look(bounds: Bounds, { named }: Due): ClaimRequest {
    const { isBacklog } = this.waiting;
    return {
      ...bounds,
      ...(this.cursor === undefined ? {} : { cursor: this.cursor }),
      ...(named.length > 0 ? { named } : {}),
      ...(isBacklog === false ? { waited: true } : {}),
      ...(isBacklog === true ? { lookIn: this.waiting.backlogs() } : {}),
      ...(isBacklog === true && this.waiting.isAlone ? { woken: true } : {}),
    };
  }

  /**
   * A claim of named jobs. It scans the queues in which such a claim failed before, and now and then further queues.
   */
  private named(bounds: Bounds, { named, lookIn }: Due): ClaimRequest {
    const looks = this.clock.random() * NAMED_CLAIMS_A_LOOK < 1;
    const others = looks ? this.waiting.some(NAMED_LOOK_QUEUES) : [];
    const look = [...new Set([...lookIn, ...others])];
    return {
      ...bounds,
      ...{ named, lookIn: look },
      ...(look.length > 0 ? { waited: true, woken: true } : {}),
      ...(look.length > 0 && this.cursor !== undefined ? { cursor: this.cursor } : {}),
      ...(this.waiting.isPlaced(named) ? { placed: true } : {}),
    };
  }
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
