/**
 * Why a job is not running, in words: its obstacles, the first one first, each with a remedy. Pure: the component has the
 * facts, and this file their meaning.
 */
import type { Reason, WhyKind } from "./observing.js";
import type { Blocked } from "./protocol.js";
import type { FinishedStatus } from "./status.js";
import { STUCK_MS } from "./health.js";
import { NOT_PROMOTED_MS } from "./lookLimits.js";
import { firstCharacters } from "./text.js";

/** Whether an attempt failed since its handler is not its queue's, or of another kind than it is named as. */
export function isMismatch(error: string | undefined): boolean {
  return error?.startsWith("handlerMismatch: ") === true;
}

// --- Jobs that have begun -----------------------------------------------------------------------

export function whyEnded({
  status,
  finishedAt,
  error,
  reason,
}: {
  status: FinishedStatus;
  finishedAt: number;
  error?: string | undefined;
  reason?: string | undefined;
}): Reason[] {
  const at = `at ${instant(finishedAt)}`;
  const because = (what: string | undefined) => (what === undefined ? "." : `: ${cut(what)}`);
  const texts: Record<FinishedStatus, string> = {
    succeeded: `It succeeded ${at}.`,
    failed: `It failed ${at}${because(error)}`,
    canceled: `It was canceled ${at}${because(reason)}`,
    timedOut: `It timed out ${at}${because(error)}`,
  };
  if (status === "failed" && isMismatch(error))
    return [one("handlerMismatch", texts.failed, "Deploy a definition that names it, and retry.")];
  return [one("ended", texts[status], "Retry it to run it again.")];
}

export function whyRunning({
  worker,
  startedAt,
  attempt,
  cancelRequestedAt,
  isPaused,
}: {
  worker: string;
  startedAt: number;
  attempt: number;
  cancelRequestedAt?: number | undefined;
  isPaused: boolean;
}): Reason[] {
  const asked =
    cancelRequestedAt === undefined
      ? []
      : [
          one(
            "cancelRequested",
            `Its cancel was requested at ${instant(cancelRequestedAt)}; ${worker} has not ended it yet.`,
            "The worker ends it after its next heartbeat, or its lease expires.",
          ),
        ];
  const text = `${worker} has run it since ${instant(startedAt)}, attempt ${attempt}.`;
  const paused = isPaused ? " It is paused when it returns to the queue." : "";
  return [...asked, one("running", `${text}${paused}`, "Cancel it to end it.")];
}

// --- Jobs that are due later --------------------------------------------------------------------

/** The reason for its due time. */
export type DueBecause =
  | { kind: "asked" | "snoozed" | "rests" }
  | { kind: Blocked; since: number; failsAt: number }
  | { kind: "failed"; failures: number; maxAttempts: number; error?: string | undefined };

export function whyScheduled(dueAt: number, because: DueBecause, now: number): Reason {
  const at = instant(dueAt);
  if (now >= dueAt + NOT_PROMOTED_MS) {
    return one(
      "stuck",
      `It fell due at ${at}, and has not been made claimable.`,
      "A claim in its queue, a worker's heartbeat or `conveyor.watch` restarts an overdue timer; or claims are far behind.",
    );
  }
  if (because.kind === "failed") {
    const { failures, maxAttempts, error } = because;
    const last = error === undefined ? "" : ` Last error: ${cut(error)}`;
    return {
      ...one(
        "backingOff",
        `It failed ${times(failures)} of up to ${maxAttempts} attempts, and is retried at ${at}.${last}`,
        "Wait, cancel it, or give the queue shorter backoffs (`retry`) for the next failure.",
      ),
      until: dueAt,
    };
  }
  if (because.kind === "handlerMissing" || because.kind === "noPermit")
    return { ...whyBlocked(because, at), until: dueAt };
  const texts = {
    asked: `It is due at ${at}.`,
    snoozed: `Its worker snoozed it until ${at}.`,
    rests: `It rests between two rounds until ${at}.`,
  };
  const remedy =
    because.kind === "rests"
      ? "Configure a shorter `restMs`, for its next round."
      : "Wait, or cancel it and enqueue it without a time.";
  return { ...one("scheduled", texts[because.kind], remedy), until: dueAt };
}

/** Its handler could not be begun. */
function whyBlocked(
  { kind, since, failsAt }: Extract<DueBecause, { kind: Blocked }>,
  at: string,
): Reason {
  const tried = `since ${instant(since)}: it is retried at ${at}, and fails after ${instant(failsAt)}.`;
  if (kind === "handlerMissing")
    return one(
      kind,
      `The deployment does not have its handler, ${tried}`,
      "Deploy the function, or name another one as the queue's handler, for jobs that do not bring their own.",
    );
  return one(
    kind,
    `The deployment has had no room for its handler, ${tried}`,
    "Lower `maxParallelism` of the queues, or use a larger deployment class.",
  );
}

// --- Jobs that wait -----------------------------------------------------------------------------

/** The job is paused, or its queue is. */
export function whyPaused({
  isPaused,
  queue,
  pausedAt,
}: {
  isPaused: boolean;
  queue: string;
  pausedAt?: number | undefined;
}): Reason[] {
  const reasons = isPaused ? [one("paused", "It is paused.", "Resume the job.")] : [];
  if (pausedAt === undefined) return reasons;
  const text = `The queue "${queue}" has been paused since ${instant(pausedAt)}: its jobs cannot be claimed.`;
  return [...reasons, one("queuePaused", text, "Resume the queue.")];
}

/** It is left to certain workers for a while, and none of them is there. */
export function whyPreferred({
  worker,
  labels = [],
  until,
}: {
  worker?: string | undefined;
  labels?: readonly string[] | undefined;
  until: number;
}): Reason {
  const named = worker === undefined ? [] : [`the name ${worker}`];
  const labeled =
    labels.length === 0 ? [] : [`${count(labels.length, "label")} (${labels.join(", ")})`];
  const text =
    `Until ${instant(until)} it prefers a worker with ${[...named, ...labeled].join(" and ")}, and none that may take it is alive. ` +
    "After that any other may.";
  const remedy = "Wait, start such a worker, or enqueue jobs with a shorter `forMs`.";
  return { ...one("preferred", text, remedy), until };
}

export function whyExpired(expiresAt: number): Reason {
  return one(
    "expired",
    `It did not start by ${instant(expiresAt)}: it is about to fail.`,
    "Enqueue it again, with a longer `expiresAfterMs` or with more workers.",
  );
}

export function whyLate(deadlineAt: number): Reason {
  return one(
    "expired",
    `It did not finish by ${instant(deadlineAt)}: it is about to time out.`,
    "Retry it, which resets its deadline, or enqueue it with a longer `deadlineMs`.",
  );
}

/** The workers outside that are alive and serve the queue. */
export interface CrewFacts {
  serving: number;
  /** Alive as well, and quiet or about to stop: they are given no job, and are none of the serving ones. */
  quiet: number;
  /**
   * The serving workers with labels, groups and budget for the job; the idle ones among them, and the jobs that the busy ones
   * hold.
   */
  fitting: number;
  idle: number;
  held: number;
  /** Of some of the fitting ones. */
  names: readonly string[];
  /** Whether there may be more than were looked at. */
  more: boolean;
}

/** The queue's jobs inside Convex; `null` where Convex does not run them, or not this job. */
export interface InsideFacts {
  maxParallelism: number;
  running: number;
  /** Whether more may run than were read. */
  more: boolean;
  /** Names of some of these jobs, the longest running first. */
  names: readonly string[];
  /** The queue waits for a slot of the mount, or for places. */
  isWaiting: boolean;
  /** Until when the job is left to workers outside. */
  leftUntil: number;
}

export interface WaitingFacts {
  now: number;
  queue: string;
  labels: readonly string[];
  group?: string | undefined;
  cost: number;
  isDraining: boolean;
  eligibleWorkers: CrewFacts;
  inside: InsideFacts | null;
  ahead: number;
  more: boolean;
  startsAt?: number | undefined;
  /** Since when it has been claimable, and when a job of the queue was last claimed, if that is known. */
  claimableAt: number;
  claimedAt: number | null;
}

/** The reasons of a claimable job. */
export function whyWaits(facts: WaitingFacts): Reason[] {
  return [...whyNobody(facts), ...whyNotYet(facts)];
}

/** No worker or lane could take it, or none has room. */
function whyNobody(facts: WaitingFacts): Reason[] {
  const { inside, eligibleWorkers } = facts;
  const isLeft = inside !== null && facts.now < inside.leftUntil;
  if (inside !== null && !isLeft)
    return eligibleWorkers.idle > 0 ? [] : whyFullInside(inside, eligibleWorkers);
  if (eligibleWorkers.fitting === 0 && !eligibleWorkers.more)
    return [whoIsMissing(facts, isLeft ? inside : null)];
  if (eligibleWorkers.idle > 0 || eligibleWorkers.fitting === 0) return [];
  const all =
    eligibleWorkers.fitting === 1 ? "The only worker" : `All ${eligibleWorkers.fitting} workers`;
  return [
    one(
      "atCapacity",
      `${all} that could take it (${listed(eligibleWorkers.names, eligibleWorkers.fitting)}) ${eligibleWorkers.fitting === 1 ? "holds" : "hold"} ` +
        `${count(eligibleWorkers.held, "job")}: only the workers know their free slots.`,
      "Start another worker, or give these more concurrency.",
    ),
  ];
}

function whyFullInside(inside: InsideFacts, eligibleWorkers: CrewFacts): Reason[] {
  const { maxParallelism, running, names, isWaiting } = inside;
  if (maxParallelism === 0) {
    const text = "At most 0 of the queue's jobs may run inside Convex (`maxParallelism`).";
    return eligibleWorkers.fitting > 0
      ? []
      : [one("atCapacity", text, "Configure a higher `maxParallelism`.")];
  }
  if (running >= maxParallelism) {
    return [
      one(
        "atCapacity",
        `The queue runs ${maxParallelism} jobs inside Convex, its \`maxParallelism\`: ${listed(names, running)}.`,
        "Wait until one ends, or configure a higher `maxParallelism`.",
      ),
    ];
  }
  if (!isWaiting) return [];
  return [
    one(
      "atCapacity",
      "Jobs of other queues use all places of the deployment class; or the job may run longer than the running processes " +
        "have left.",
      "Wait until one ends, lower the `maxParallelism` of other queues, or use a larger deployment class. A job with a " +
        "`timeoutMs` of 10 minutes or less waits for no other process.",
    ),
  ];
}

function whoIsMissing(facts: WaitingFacts, left: InsideFacts | null): Reason {
  const later =
    left === null
      ? ""
      : ` It is reserved for external workers until ${instant(left.leftUntil)}, and then runs inside Convex.`;
  const until = left === null ? {} : { until: left.leftUntil };
  const orLater =
    left === null
      ? ", or give the queue a handler, so that Convex runs its jobs"
      : ", or configure a shorter `fallbackAfterMs`";
  const [kind, text, remedy] = missing(facts);
  return { ...one(kind, `${text}${later}`, `${remedy}${orLater}.`), ...until };
}

function missing(facts: WaitingFacts): [WhyKind, text: string, remedy: string] {
  const { eligibleWorkers, queue, labels, group, cost } = facts;
  const { serving, quiet } = eligibleWorkers;
  const alive = (n: number) =>
    `${count(n, "worker")} that serve${n === 1 ? "s" : ""} "${queue}" ${n === 1 ? "is" : "are"} alive`;
  if (serving > 0) {
    const text = `${alive(serving)}, none of which may take it: it needs ${needs(labels, group, cost)}.`;
    return ["noWorkerWithLabels", text, "Start a worker that offers it"];
  }
  const start = "Start a worker for this queue";
  if (quiet === 0) return ["noWorker", `No worker that serves "${queue}" is alive.`, start];
  const text = `${alive(quiet)}, and given no job: quiet or about to stop.`;
  return ["noWorker", text, `${start}, resume a quiet one`];
}

function needs(labels: readonly string[], group: string | undefined, cost: number): string {
  const parts = [
    ...(labels.length === 0 ? [] : [`${count(labels.length, "label")} (${labels.join(", ")})`]),
    ...(group === undefined ? [] : [`the group ${group}`]),
    ...(cost === 1 ? [] : [`a budget of ${cost}`]),
  ];
  return parts.length === 0 ? "one that takes jobs without a group" : parts.join(" and ");
}

/** Its position in the queue; or it is at the head, and no claim came. */
function whyNotYet(facts: WaitingFacts): Reason[] {
  const { now, ahead, more, startsAt, claimableAt, claimedAt, isDraining } = facts;
  const since = Math.max(claimableAt, claimedAt ?? 0);
  const draining = isDraining ? " The queue is draining, and its backlog still runs." : "";
  if (now - since >= STUCK_MS && couldBeTaken(facts)) {
    return [
      one(
        "stuck",
        `A worker or lane could take it, and no job of the queue has been claimed since ${instant(since)}.${draining}`,
        "Check the queue's events and its workers' logs; `conveyor.watch` restarts overdue timers.",
      ),
    ];
  }
  if (ahead === 0) {
    return [one("next", `It is next.${draining}`, "None needed: the next claim takes it.")];
  }
  const text = more
    ? `More than ${ahead} jobs are ahead of it.`
    : `${count(ahead, "job")} ${ahead === 1 ? "is" : "are"} ahead of it.`;
  const pace =
    startsAt === undefined ? "" : ` At the current pace it starts at about ${instant(startsAt)}.`;
  return [
    {
      ...one(
        "behind",
        `${text}${pace}${draining}`,
        "Add workers or raise `maxParallelism`; or enqueue urgent jobs with a higher `priority`.",
      ),
      ...(startsAt === undefined ? {} : { until: startsAt }),
    },
  ];
}

function couldBeTaken({ eligibleWorkers, inside, now }: WaitingFacts): boolean {
  if (eligibleWorkers.idle > 0) return true;
  if (inside === null || now < inside.leftUntil + STUCK_MS) return false;
  return !inside.isWaiting && !inside.more && inside.running < inside.maxParallelism;
}

// --- Words --------------------------------------------------------------------------------------

function one(kind: WhyKind, text: string, remedy: string): Reason {
  return { kind, text, remedy };
}

function instant(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
}

function times(n: number): string {
  return n === 1 ? "once" : `${n} times`;
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

function listed(names: readonly string[], of: number): string {
  const others = of - names.length;
  return others > 0 ? `${names.join(", ")} and ${others} more` : names.join(", ");
}

function cut(text: string): string {
  return text.length > 200 ? `${firstCharacters(text, 200)}…` : text;
}
