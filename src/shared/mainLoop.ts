/**
 * The main loop of a mount: which process starts, which lane goes to which process, which process receives lanes, and which one
 * ends. Pure: its tables are in `component/push/mainLoop.ts`.
 *
 * A process is a scheduled action that runs lanes of many queues: a slot of the mount. {@link next} is its life; {@link choose}
 * says where a lane begins.
 */
import {
  INLINE_LIFE_MS,
  INLINE_OPEN_MS,
  PLACES_BY_CLASS,
  PLACES_MORE,
  PLACES_PART,
  PROCESS_LIFE_MS,
  PROCESSES_BY_CLASS,
  PROCESS_FULL,
  PROCESS_WIDTH,
  PUSH_TIMEOUT_DEFAULT_MS,
  SCHEDULER_SHARE_DEFAULT,
} from "./pushLimits.js";

/** Of the package: a process that was started by another version takes no more jobs. */
export const COMPONENT_VERSION = "0.1.0";

/**
 * The protocol of the workers' functions: one more with each release whose workers need a function that earlier deployments
 * lack.
 */
export const WORKER_PROTOCOL = 1;

// --- The life of a process -----------------------------------------------------------------------

export type ProcessState =
  /** The slot has no process. */
  | "free"
  /** A process runs, and takes jobs for the lanes that it has. */
  | "open"
  /** The same, and other lanes are handed to it: one slot was left when it began, or none. */
  | "receiving";

export type ProcessEvent =
  /** A wake starts it, and more than one slot is left. */
  | "start"
  /** A wake starts it, and one slot is left, or none. */
  | "startLast"
  /** A wake hands it a lane. */
  | "handOver"
  /** Its last lane leaves, and nothing has been handed to it. */
  | "close"
  /** Its last lane leaves, and another lane has been handed to it. */
  | "closeInVain"
  /** Its scheduled function has ended without a word. */
  | "lose";

/** A transaction does these with the change of the state. */
export type ProcessAction =
  /** Schedules the process, with its first lane and a generation one higher. */
  | "schedule"
  /** Inserts the lane's row of `handOvers`. */
  | "insert"
  /** Answers with the rows of `handOvers`. */
  | "adopt"
  /** Deletes the rows of `handOvers`: the janitor ends the leases of their lanes. */
  | "forget"
  /** Wakes the queues that wait for a slot or for places. */
  | "rouse";

interface Step {
  to: ProcessState;
  does: readonly ProcessAction[];
}

const TABLE: Record<ProcessState, Partial<Record<ProcessEvent, Step>>> = {
  free: {
    start: { to: "open", does: ["schedule"] },
    startLast: { to: "receiving", does: ["schedule"] },
  },
  open: {
    close: { to: "free", does: ["rouse"] },
    lose: { to: "free", does: ["rouse"] },
  },
  receiving: {
    handOver: { to: "receiving", does: ["insert"] },
    close: { to: "free", does: ["rouse"] },
    closeInVain: { to: "receiving", does: ["adopt"] },
    lose: { to: "free", does: ["forget", "rouse"] },
  },
};

/** The next state of a process after an event, and the transaction's part in it; `null` where the event is not allowed. */
export function next(state: ProcessState, event: ProcessEvent): Step | null {
  return TABLE[state][event] ?? null;
}

/** The same for a transaction that has made sure that the event may be. */
export function edge(state: ProcessState, event: ProcessEvent): Step {
  const step = next(state, event);
  if (step === null) throw new Error(`A process that is ${state} has no event ${event}.`);
  return step;
}

// --- Where a lane begins -------------------------------------------------------------------------

/** The slots and places of a mount. */
export interface MountLimits {
  /** Processes at once. */
  slots: number;
  /** Jobs at once, of queues that run two jobs or more as well. */
  any: number;
  /** Jobs at once: the rest is for queues that run fewer than two. */
  all: number;
}

/** The limits of a mount in a class, with this share of its scheduler. */
export function limitsOf(
  deploymentClass: string,
  share: number = SCHEDULER_SHARE_DEFAULT,
): MountLimits {
  const places = PLACES_BY_CLASS[deploymentClass] ?? PLACES_BY_CLASS.s16!;
  const part = (whole: number) =>
    Math.max(1, Math.floor((whole * share) / SCHEDULER_SHARE_DEFAULT));
  const slots = part(PROCESSES_BY_CLASS[deploymentClass] ?? PROCESSES_BY_CLASS.s16!);
  return { slots, any: part(places.any), all: Math.max(slots, part(places.all)) };
}

/** A process to which lanes may be handed. */
export interface Receiver<Id = string> {
  id: Id;
  openedAt: number;
}

/** The slots as a transaction sees them. Of many free ones it sees a few more than are kept. */
export interface MountView<Id = string> {
  free: number;
  /** So many slots are kept for processes that receive. */
  kept: number;
  /** Processes to which a lane may be handed, as far as their places show. */
  receivers: readonly Receiver<Id>[];
}

/** As many receivers as it takes to run all places of the mount, and one that begins before another is too old. */
export function keptSlots({ all }: MountLimits, isInline: boolean): number {
  return isInline ? 2 : Math.max(2, Math.ceil(all / PROCESS_FULL));
}

export type Choice<Id = string> =
  /** In a slot of its own. */
  | { kind: "start"; event: "start" | "startLast" }
  /** In this process. */
  | { kind: "handOver"; to: Id }
  /** Nowhere for now. */
  | { kind: "wait" };

/** How long a process may run, in milliseconds. */
export function lifeOf(isInline: boolean): number {
  return isInline ? INLINE_LIFE_MS : PROCESS_LIFE_MS;
}

/**
 * The process for a lane whose jobs may run for `timeoutMs`.
 *
 * A slot of its own while more are free than are kept for receivers: that is soonest. Then the youngest receiver that is not
 * full: of wakes that want the last slot that may still be taken, all but one would conflict and retry. The last free slot is
 * for the successor of a receiver that is too old, so that a process young enough for a job of ten minutes always exists: a
 * longer job may take it only if there is no receiver yet.
 */
export function choose<Id>(
  { free, kept, receivers }: MountView<Id>,
  { timeoutMs, isInline }: { timeoutMs: number; isInline: boolean },
  now: number,
): Choice<Id> {
  if (free > kept) return { kind: "start", event: "start" };
  const fitting = receivers.filter((one) => receives(one, timeoutMs, isInline, now));
  const youngest = fitting.sort((a, b) => b.openedAt - a.openedAt)[0];
  if (youngest !== undefined) return { kind: "handOver", to: youngest.id };
  if (free > 1) return { kind: "start", event: "startLast" };
  const isSuccessor = timeoutMs <= PUSH_TIMEOUT_DEFAULT_MS || endInTurn(receivers, isInline, now);
  if (free === 1 && isSuccessor) return { kind: "start", event: "startLast" };
  return { kind: "wait" };
}

/** Whether a lane with such jobs may be handed to the process now. */
export function receives(
  { openedAt }: { openedAt: number },
  timeoutMs: number,
  isInline: boolean,
  now: number,
): boolean {
  const life = lifeOf(isInline);
  return now + Math.max(timeoutMs, life - receivesMs(isInline)) <= openedAt + life;
}

/** So long after it was opened lanes are handed to a process. */
export function receivesMs(isInline: boolean): number {
  return isInline ? INLINE_OPEN_MS : PROCESS_LIFE_MS - PUSH_TIMEOUT_DEFAULT_MS;
}

/** Whether a receiver ends before one that begins now is too old to receive. */
function endInTurn(
  receivers: readonly Receiver<unknown>[],
  isInline: boolean,
  now: number,
): boolean {
  if (receivers.length === 0) return true;
  const life = lifeOf(isInline);
  return receivers.some(({ openedAt }) => openedAt + life <= now + receivesMs(isInline));
}

// --- Places --------------------------------------------------------------------------------------

/**
 * How many more places processes with these places may get: for any queue, and for queues that run fewer than two jobs. Each
 * slot has one place of its own, so that a process starts with one job without reading the other processes.
 */
export function placesLeft(
  { slots, any, all }: MountLimits,
  grants: readonly { extra: number }[],
): { any: number; few: number } {
  const taken = grants.reduce((sum, { extra }) => sum + extra, 0);
  const few = Math.max(0, all - slots - taken);
  return { any: Math.max(0, Math.min(any - 1 - taken, few)), few };
}

/** How many more places a process asks for. */
export interface Asked {
  any: number;
  /** Of queues that run fewer than two jobs. */
  few: number;
  /** For jobs that may be there: of many places that are left it is given a part. */
  isPart?: boolean;
}

/** How many more places one process is given that has this many above its own, and asks for so many. */
export function grant(left: { any: number; few: number }, extra: number, asked: Asked): number {
  const most = Math.max(0, PROCESS_WIDTH - 1 - extra);
  const part = asked.isPart === true ? partOf(left.any) : Infinity;
  const any = Math.min(asked.any, left.any, most, part);
  return any + Math.max(0, Math.min(asked.few, left.few - any, most - any));
}

function partOf(left: number): number {
  return Math.max(PLACES_MORE, Math.floor(left / PLACES_PART));
}
