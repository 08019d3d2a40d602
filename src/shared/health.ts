/**
 * A queue's health, judged by its progress and by the outcome of its last jobs: a light, and the reason in words. Pure.
 *
 * A queue is stuck when a job is claimable, a worker or lane could take it, the queue is not paused, and yet no job has been
 * claimed for too long. A queue with busy workers only is not at fault: it waits.
 */
import { v, type Infer } from "convex/values";
import { BLOCKED_SHOWN_MS } from "./pushLimits.js";
import type { Health } from "./observing.js";
import { vHandlerTrouble, type HandlerTrouble } from "./protocol.js";

/** Jobs by which `health` judges, by default and at most. */
export const HEALTH_DEFAULT = 5;
export const HEALTH_MAX = 100;
/** The average where no job ran. */
export const AVERAGE_MS_DEFAULT = 5_000;

/** With claimable work and room for it, a queue that takes nothing for so long stands still. */
export const STUCK_MS = 60_000;
/** Fewer of the last jobs succeeded than this. Of fewer than four jobs a rate says nothing. */
export const SUCCESS_RATE_MIN = 0.75;
export const RATED_MIN = 4;
/** A job waits longer than usual when it has waited at least this long, and twice the 95th percentile of recent waits. */
export const SLOW_TIMES = 2;
export const SLOW_MIN_MS = 30_000;

/** The outcome of one job that started, or failed without a start: `ms` is its run time. */
export const vSample = v.object({ ms: v.optional(v.number()), succeeded: v.boolean() });
export type Sample = Infer<typeof vSample>;

/** How a queue moves, as it stood at one instant. */
export const vQueueFlow = v.object({
  /** Jobs that run, counted up to some bound. */
  running: v.number(),
  /** Since when the job has been claimable that has been so for longest; absent if none is. */
  claimableAt: v.optional(v.number()),
  /** When a job was last claimed, as far as the jobs that are there tell. */
  claimedAt: v.optional(v.number()),
  /** Workers outside that serve the queue and hold nothing. Looked for only where a job is claimable. */
  idleWorkers: v.number(),
  /** Whether any external worker serves the queue. */
  hasWorkers: v.boolean(),
  /** A job was put off since its handler could not be begun, and when there was an event of that. */
  blocked: v.optional(v.object({ kind: vHandlerTrouble, at: v.number() })),
  /** How long 95 in 100 of the jobs waited that ended yesterday and today. */
  usualWaitMs: v.optional(v.number()),
});
export type QueueFlow = Infer<typeof vQueueFlow>;

/** How the queue is set. */
export interface Setting {
  isPaused: boolean;
  isDraining: boolean;
  /** How many of its jobs Convex itself may run at once; `null` for a queue without a handler. */
  maxParallelism: number | null;
  /** How long jobs are left to workers outside before Convex takes them. */
  fallbackAfterMs: number;
}

/** The average time and success rate of the last jobs, newest first. */
export function rateOf(
  samples: readonly Sample[],
): Pick<Health, "of" | "successRate" | "ran" | "averageMs"> {
  const ran = samples.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
  const total = ran.reduce((sum, ms) => sum + ms, 0);
  const succeeded = samples.filter((sample) => sample.succeeded).length;
  return {
    of: samples.length,
    successRate: samples.length === 0 ? 1 : succeeded / samples.length,
    ran: ran.length,
    averageMs: ran.length === 0 ? AVERAGE_MS_DEFAULT : total / ran.length,
  };
}

type Judgement = Pick<Health, "light" | "reason">;

/** A queue's health at `now`; `worsens`: at which instants it gets worse, if nothing happens until then. */
export function judgeHealth(
  samples: readonly Sample[],
  flow: QueueFlow,
  setting: Setting,
  now: number,
): Health {
  const rate = rateOf(samples);
  const present = judgeAt(rate, flow, setting, now);
  const worsens: Health["worsens"] = [];
  let rank = RANKS[present.light];
  for (const at of turnsOf(flow, setting).sort((a, b) => a - b)) {
    const turned = judgeAt(rate, flow, setting, at);
    if (at <= now || RANKS[turned.light] <= rank) continue;
    rank = RANKS[turned.light];
    worsens.push({ at, ...turned });
  }
  return { ...present, ...rate, worsens };
}

const RANKS = { green: 0, yellow: 1, red: 2 } as const;

/** The instants at which the light may change by itself. */
function turnsOf(flow: QueueFlow, setting: Setting): number[] {
  const { claimableAt, claimedAt } = flow;
  if (claimableAt === undefined) return [];
  const bound = stuckAfter(flow, setting);
  return [
    claimableAt + bound,
    Math.max(claimableAt, claimedAt ?? claimableAt) + bound,
    claimableAt + slowAfter(flow, setting),
  ];
}

function judgeAt(
  rate: Pick<Health, "of" | "successRate">,
  flow: QueueFlow,
  setting: Setting,
  now: number,
): Judgement {
  const { claimableAt } = flow;
  const waits =
    claimableAt === undefined ? "" : ` A job has waited for ${span(now - claimableAt)}.`;
  const halted = haltedBy(flow, setting);
  if (halted !== null) {
    return { light: waits === "" ? "green" : "yellow", reason: `${halted}${waits}` };
  }
  const room = roomIn(flow, setting);
  if (claimableAt !== undefined && room !== null) {
    const since = Math.max(claimableAt, flow.claimedAt ?? claimableAt);
    if (now - since >= stuckAfter(flow, setting))
      return { light: "red", reason: `${room}${waits}` };
  }
  const { blocked } = flow;
  if (blocked !== undefined && now < blocked.at + BLOCKED_SHOWN_MS)
    return { light: "yellow", reason: `${BLOCKED_TEXTS[blocked.kind]}${waits}` };
  if (rate.of >= RATED_MIN && rate.successRate < SUCCESS_RATE_MIN) {
    const failed = Math.round(rate.of * (1 - rate.successRate));
    return { light: "yellow", reason: `${failed} of the last ${rate.of} jobs did not succeed.` };
  }
  if (claimableAt !== undefined && now - claimableAt >= slowAfter(flow, setting)) {
    return { light: "yellow", reason: `${room ?? "All workers are busy."}${waits}` };
  }
  const drains = setting.isDraining ? " It is draining and refuses new jobs." : "";
  return { light: "green", reason: `${moves(flow)}${drains}` };
}

const BLOCKED_TEXTS: Record<HandlerTrouble, string> = {
  handlerMissing: "The deployment does not have the handler of some jobs.",
  noPermit: "The deployment has no room for the handlers of some jobs.",
  handlerMismatch: "The handler of some jobs was made by another queue, or is of another kind.",
};

/** Why nothing is meant to be taken. */
function haltedBy({ hasWorkers }: QueueFlow, { isPaused, maxParallelism }: Setting): string | null {
  if (isPaused) return "The queue is paused.";
  if (maxParallelism !== 0 || hasWorkers) return null;
  return "maxParallelism is 0, and no external worker serves the queue.";
}

function moves({ running, claimableAt }: QueueFlow): string {
  if (running > 0) return "Processing jobs.";
  return claimableAt === undefined ? "Idle." : "A job is about to be claimed.";
}

/** The reason why only the queue itself can hold its jobs up; `null` where all its workers and lanes are busy. */
function roomIn(flow: QueueFlow, { maxParallelism }: Setting): string | null {
  const { running, idleWorkers, hasWorkers } = flow;
  if (maxParallelism !== null && running < maxParallelism) {
    return `No job is claimed, although ${maxParallelism - running} more may run.`;
  }
  if (idleWorkers > 0) {
    return `No job is claimed, although ${idleWorkers} of the queue's workers are idle.`;
  }
  return hasWorkers || running > 0 ? null : "No worker serves the queue.";
}

/** Jobs that are left to workers outside at first have so much longer. */
function stuckAfter(
  { idleWorkers, hasWorkers }: QueueFlow,
  { maxParallelism, fallbackAfterMs }: Setting,
): number {
  return (
    STUCK_MS + (maxParallelism === null || idleWorkers > 0 || !hasWorkers ? 0 : fallbackAfterMs)
  );
}

function slowAfter({ usualWaitMs = 0 }: QueueFlow, { fallbackAfterMs }: Setting): number {
  return Math.max(SLOW_MIN_MS + fallbackAfterMs, SLOW_TIMES * usualWaitMs);
}

/** A time in words, rounded down. */
function span(ms: number): string {
  const units = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
  ] as const;
  const [name, length] = units.find(([, length]) => ms >= length) ?? units[3];
  const count = Math.floor(Math.max(0, ms) / length);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
