/**
 * The worker of a large fleet while it has room: on call it follows the waiting jobs, on standby it follows its call-up
 * alone, and in between it claims, since a claim's answer says which of the two it does (`claim/onCall.ts` of the
 * component). A worker of a small fleet follows the waiting jobs always, and asks for no duty.
 *
 *     all ──► off, as soon as it knows of a large fleet
 *     off ──► on call or standby, by the answer of a claim that leaves it room
 *     standby ──► off, when it is called up, or cannot know
 *     on call ──► off or standby, by the answer of a claim or beat
 *
 * On call without room it hears of jobs, too. One that no other worker takes is reported with a beat, and others are called.
 * So is a job that prefers another worker by its name: that one is called, if it stands by.
 */
import {
  DUTY_BEAT_MS,
  NAMED_MAX,
  RANKED_SESSIONS_MAX,
  stableHash,
  STANDBY_EACH_MS,
  STANDBY_MS,
  type Duty,
  type OnCallRequest,
} from "../shared/index.js";
import type { Asking } from "./asking.js";
import type { Clock } from "./clock.js";
import type { Following } from "./following.js";
import { EMPTY_WAIT_MAX_MS, UNTAKEN_MS } from "./limits.js";
import type { ClaimRequest, Transport } from "./transport.js";

/** What makes workers alike: jobs that one of them may have, each may. */
export interface Alike {
  queues: readonly string[];
  labels?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
}

/** What leaves a worker with jobs that it would not take, though it has room: its peers cannot know of these. */
export interface Choosy {
  beforeClaim?: unknown;
  backPressure?: unknown;
  poll?: unknown;
  maxCost?: number | undefined;
  whenIdle?: readonly string[];
}

/** Absent of a worker that has no peers. */
export function peersKey({
  queues,
  labels = [],
  groups = [],
  whenIdle = [],
  ...own
}: Alike & Choosy): string | undefined {
  const { beforeClaim, backPressure, poll, maxCost } = own;
  const isChoosy = [beforeClaim, backPressure, poll, maxCost].some((one) => one !== undefined);
  if (isChoosy || whenIdle.length > 0) return undefined;
  const parts = [queues, labels, groups].map((list) => [...new Set(list)].sort());
  const text = JSON.stringify(parts);
  return [text, `:${text}`].map((part) => stableHash(part).toString(36)).join("-");
}

export interface OnCallDeps {
  clock: Clock;
  transport: Pick<Transport, "watchStandby">;
  asking: Asking;
  following: Following;
  /** Absent: it never stands by. */
  peers: string | undefined;
  /** Its own word for how often it says that it lives on standby. */
  presenceMs: number | undefined;
  room: () => number;
  /** Has it beat at once. */
  beat: () => void;
  /** Its duty has changed. */
  changed: () => void;
}

export class OnCall {
  private duty: Duty["kind"] | "all" = "all";
  private nextMs: number | undefined;
  private fleet = 0;
  private unfollow = () => {};
  private cancelTimer = () => {};
  private isTimed = false;
  private untakenMs = UNTAKEN_MS;
  /** Waiting jobs that none has taken, to be said with the next beat. */
  private untaken = 0;
  /** Other workers that waiting jobs preferred when it last looked. */
  private preferred = "";

  constructor(private readonly deps: OnCallDeps) {}

  get kind(): Duty["kind"] | "all" {
    return this.duty;
  }

  /** How often it beats, where its duty says so: `null` for not at all, as where it watches, which claims do. */
  get beatMs(): number | null | undefined {
    return this.duty === "watch" && this.deps.room() > 0 ? null : this.nextMs;
  }

  /** The same request, which asks for a duty now if it may stand by. */
  withClaim(request: ClaimRequest): ClaimRequest {
    const { peers } = this.deps;
    // A worker that knows its places scans nothing that would tell it how large its fleet is.
    if (peers === undefined || (this.duty === "all" && request.placed === true)) return request;
    const more = this.follows ? Math.max(0, this.waiting - (request.named?.length ?? 0)) : 0;
    return Object.assign(request, { onCall: { peers, more, ...this.presence } });
  }

  /** To be sent with a beat. */
  withBeat(): { onCall?: OnCallRequest } {
    const { peers, room, asking } = this.deps;
    const { untaken: more } = this;
    this.untaken = 0;
    const hasDuty = this.duty !== "all" && this.duty !== "off";
    if (peers === undefined || (!hasDuty && more === 0)) return {};
    const names = this.duty === "onCall" ? asking.preferred : [];
    const preferred = names.length === 0 ? {} : { prefers: names };
    return { onCall: { ...{ peers, more, room: room() }, ...preferred, ...this.presence } };
  }

  /** A call was answered, or not: then a worker on standby does not know whether it is to go on call. */
  answered(asked: { onCall?: OnCallRequest | undefined } | undefined, duty?: Duty): void {
    if (asked?.onCall === undefined) return;
    if (duty !== undefined) this.takes(duty);
    else if (this.isStandby) this.comes();
    else if (this.duty === "off") this.followsAll();
  }

  /** So many workers serve one of its queues, as it learns with a beat. A claim then says what it does. */
  knowsFleet(size: number): void {
    const isNews = size > RANKED_SESSIONS_MAX && size !== this.fleet;
    this.fleet = size;
    if (isNews && this.duty === "all" && this.deps.peers !== undefined) this.comes();
  }

  /** Its subscriptions have spoken, or its room has changed. */
  looksAgain(): void {
    const preferred = this.deps.asking.preferred.join();
    const isNews = preferred !== this.preferred && this.untakenMs > UNTAKEN_MS;
    this.preferred = preferred;
    const isUntaken = this.leaves > 0 || preferred !== "";
    if (this.duty !== "onCall" || !isUntaken || isNews) this.endTimer();
    if (this.duty !== "onCall" || !isUntaken || this.isTimed) return;
    this.isTimed = true;
    this.cancelTimer = this.deps.clock.after(this.untakenMs, () => {
      this.isTimed = false;
      // Ever more seldom: where all have been called, no more can come. A preferred worker may be none that is there.
      const mostMs = this.leaves > 0 ? EMPTY_WAIT_MAX_MS : DUTY_BEAT_MS;
      this.untakenMs = Math.min(2 * this.untakenMs, mostMs);
      this.untaken = this.leaves;
      this.deps.beat();
      this.looksAgain();
    });
  }

  private endTimer(): void {
    this.cancelTimer();
    this.cancelTimer = () => {};
    this.isTimed = false;
    this.untakenMs = UNTAKEN_MS;
  }

  /** Jobs that wait while it has no room. */
  private get leaves(): number {
    return this.deps.room() > 0 ? 0 : this.waiting;
  }

  /** It claims no more for a while, or for ever: a duty that needs room ends. */
  hasClosed(): void {
    if (this.duty === "onCall") this.deps.beat();
  }

  stop(): void {
    this.endStandby();
    this.cancelTimer();
    this.duty = "off";
  }

  /**
   * How often it is to say on standby that it lives, which finds the workers on call that are gone: of a fleet of any size
   * some worker does so every ten seconds, until each does every half hour. Spread, as all of a fleet start together.
   */
  private get presence(): { presenceMs?: number } {
    const { clock, presenceMs } = this.deps;
    if (presenceMs !== undefined) return { presenceMs };
    if (this.fleet === 0) return {};
    const ms = this.fleet * STANDBY_EACH_MS * (0.5 + clock.random());
    return { presenceMs: Math.min(STANDBY_MS, Math.round(ms)) };
  }

  private get isStandby(): boolean {
    return this.duty === "standby" || this.duty === "watch";
  }

  private get follows(): boolean {
    return this.duty === "all" || this.duty === "onCall";
  }

  /** Waiting jobs that its subscriptions name; one more than they name at most where more wait. */
  private get waiting(): number {
    return this.deps.asking.isBacklog === true ? NAMED_MAX + 1 : this.deps.asking.namedCount;
  }

  private takes({ kind, since = 0, size = 1, rank = 0, nextMs }: Duty): void {
    const { asking, following } = this.deps;
    this.nextMs = nextMs;
    const wasStandby = this.isStandby;
    const isStandby = kind === "standby" || kind === "watch";
    if (kind === "off") return this.comes();
    this.duty = kind;
    if (isStandby && !wasStandby) {
      following.pause();
      asking.rests();
      this.follow(since);
    }
    if (kind === "watch") asking.looksIn(nextMs ?? 0);
    if (kind === "onCall") {
      this.endStandby();
      if (following.isPaused) this.startsToFollow();
      asking.isOneOf({ size, rank });
    }
    this.looksAgain();
    this.deps.changed();
  }

  /** Its fleet is small, or no answer says what it is to do. */
  private followsAll(): void {
    this.duty = "all";
    this.nextMs = undefined;
    this.startsToFollow();
    this.deps.changed();
  }

  /** Until its subscriptions speak it polls: they may be out of reach where calls are not. */
  private startsToFollow(): void {
    this.deps.asking.knowsNothing();
    this.deps.following.start();
  }

  private endStandby(): void {
    const { unfollow } = this;
    this.unfollow = () => {};
    unfollow();
  }

  private follow(since: number): void {
    const { transport, peers } = this.deps;
    this.unfollow = transport.watchStandby(
      { peers: peers!, since },
      (isCalled) => {
        if (isCalled && this.isStandby) this.comes();
      },
      () => {
        if (this.isStandby) this.comes();
      },
    );
  }

  /** It claims as soon as it has room: it was called up, or has no duty. */
  private comes(): void {
    const { asking, following, room } = this.deps;
    const wasCalled = this.isStandby;
    this.endStandby();
    this.duty = "off";
    following.pause();
    asking.comes();
    // Called up without room, as one that is told to be quiet: another comes instead.
    if (wasCalled && room() === 0) {
      this.untaken = 1;
      this.deps.beat();
    }
    this.looksAgain();
    this.deps.changed();
  }
}
