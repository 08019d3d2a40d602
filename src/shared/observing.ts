/**
 * The reads of queues and jobs by people, between an app and the component: validators and the types inferred from them. Their
 * answers are for people; correctness never depends on them. Pure.
 */
import { v, type Infer } from "convex/values";
import { vQueueState } from "./operating.js";
import { vCounts } from "./jobStatus.js";
import { vStatus } from "./status.js";

// --- Lists --------------------------------------------------------------------------------------

/** A job as a list shows it: its row without payload, result and context. */
export const vListedJob = v.object({
  id: v.string(),
  queue: v.string(),
  status: vStatus,
  enqueuedAt: v.number(),
  attempt: v.number(),
  failures: v.number(),
  /** Of a scheduled one. */
  dueAt: v.optional(v.number()),
  startedAt: v.optional(v.number()),
  finishedAt: v.optional(v.number()),
  /** The worker that had it last. */
  worker: v.optional(v.string()),
  /** Of the last attempt that failed, its first 200 characters. */
  error: v.optional(v.string()),
  name: v.optional(v.string()),
  key: v.optional(v.string()),
  priority: v.optional(v.number()),
  group: v.optional(v.string()),
  tags: v.optional(v.array(v.string())),
  labels: v.optional(v.array(v.string())),
  paused: v.optional(v.boolean()),
  cancelRequestedAt: v.optional(v.number()),
});
export type ListedJob = Infer<typeof vListedJob>;

/**
 * The jobs of a list: one status, one tag or one group. The further fields narrow the rows read that way: a row that does not
 * match costs its read.
 */
export const vListFilter = v.object({
  status: v.optional(vStatus),
  /** For queues that ask for lists by tag and group. */
  tag: v.optional(v.string()),
  group: v.optional(v.string()),
  name: v.optional(v.string()),
  /** The name of the worker that has it, or had it last. */
  worker: v.optional(v.string()),
  /** Only jobs that wait for another attempt after a failure: `scheduled` ones, with `failures`. */
  retrying: v.optional(v.boolean()),
});
export type ListFilter = Infer<typeof vListFilter>;

/** `next`: as they are claimed, fall due, or ended. `newest`: the other way round. */
export const vListOrder = v.union(v.literal("next"), v.literal("newest"));
export type ListOrder = Infer<typeof vListOrder>;

/** As `paginationOptsValidator`: `usePaginatedQuery` sends it. */
export const vPageOptions = v.object({
  numItems: v.number(),
  cursor: v.union(v.string(), v.null()),
  endCursor: v.optional(v.union(v.string(), v.null())),
  id: v.optional(v.number()),
  maximumRowsRead: v.optional(v.number()),
  maximumBytesRead: v.optional(v.number()),
});
export type PageOptions = Infer<typeof vPageOptions>;

export const vJobPage = v.object({
  page: v.array(vListedJob),
  isDone: v.boolean(),
  continueCursor: v.string(),
  splitCursor: v.optional(v.union(v.string(), v.null())),
  pageStatus: v.optional(
    v.union(v.literal("SplitRecommended"), v.literal("SplitRequired"), v.null()),
  ),
});
export type JobPage = Infer<typeof vJobPage>;

// --- Statistics ---------------------------------------------------------------------------------

export const vPer = v.union(v.literal("minute"), v.literal("hour"), v.literal("day"));
export type Per = Infer<typeof vPer>;

/** Milliseconds below which so many of a hundred stay, as near as buckets of powers of two tell. */
export const vPercentiles = v.object({ p50: v.number(), p95: v.number(), p99: v.number() });
export type Percentiles = Infer<typeof vPercentiles>;

/** The counts of a minute, hour or day. */
export const vPeriod = v.object({
  /** Its beginning, milliseconds. */
  at: v.number(),
  enqueued: v.number(),
  /** Jobs whose last attempt began in it, counted when they ended. */
  started: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  canceled: v.number(),
  timedOut: v.number(),
  /** From enqueue to start, and from start to end, of the jobs that finished in it; `null` where none ran. */
  waitMs: v.union(vPercentiles, v.null()),
  runMs: v.union(vPercentiles, v.null()),
});
export type Period = Infer<typeof vPeriod>;

export const vStats = v.object({
  per: vPer,
  /** Oldest first, without gaps: an empty period has zeros. */
  periods: v.array(vPeriod),
});
export type Stats = Infer<typeof vStats>;

export const vLight = v.union(v.literal("green"), v.literal("yellow"), v.literal("red"));

/** The counts of a queue from its beginning on, some seconds behind: figures that only grow. */
export const vTotals = v.object({
  enqueued: v.number(),
  succeeded: v.number(),
  failed: v.number(),
  canceled: v.number(),
  timedOut: v.number(),
  /** From enqueue to start, and from start to end: jobs in each bucket of `buckets.ts`, and the durations added up. */
  waitMs: v.array(v.number()),
  runMs: v.array(v.number()),
  waitSumMs: v.number(),
  runSumMs: v.number(),
});
export type Totals = Infer<typeof vTotals>;

/** How the last jobs of a queue went, and whether it moves. */
export const vHealth = v.object({
  light: vLight,
  /** In words. */
  reason: v.string(),
  /**
   * The next lights with their times, if no job moves until then, in order: a stuck queue writes no row that could update a
   * subscription. A page shows the last light with a time in the past.
   */
  worsens: v.array(v.object({ at: v.number(), light: vLight, reason: v.string() })),
  /** How many of the jobs that ended last these are about. */
  of: v.number(),
  /** 0 to 1; 1 where none has ended. */
  successRate: v.number(),
  /** How many of these were begun: a job that expired, or waited at its deadline, was not. */
  ran: v.number(),
  /** From start to end, of the ones that ran; 5,000 where none did. */
  averageMs: v.number(),
});
export type Health = Infer<typeof vHealth>;

/** How a queue stands. Of a busy queue, from a row that the roll-up writes every few seconds. */
export const vGauge = v.object({
  /** When these figures were true, milliseconds. */
  at: v.number(),
  /** Counted up to 1,000 each. */
  counts: vCounts,
  /** When the job was enqueued that has been claimable for longest. */
  oldestPendingAt: v.optional(v.number()),
  /** Jobs a minute, over the last five minutes that are counted. */
  perMinute: v.object({
    enqueued: v.number(),
    finished: v.number(),
    failed: v.number(),
  }),
  health: vHealth,
});
export type Gauge = Infer<typeof vGauge>;

/** A queue as a monitoring system measures it. */
export const vMetrics = v.object({
  isPaused: v.boolean(),
  isDraining: v.boolean(),
  gauge: vGauge,
  totals: vTotals,
});
export type Metrics = Infer<typeof vMetrics>;

export const vQueueOverview = v.object({
  state: vQueueState,
  /** Whether Convex itself works on its jobs. */
  isPush: v.boolean(),
  gauge: vGauge,
  /** The last 30 minutes, oldest first. */
  recent: v.array(vPeriod),
});
export type QueueOverview = Infer<typeof vQueueOverview>;

/** The main loop of the mount: the processes in which Convex itself runs jobs, of all queues together. */
export const vMainLoop = v.object({
  /**
   * `idle`: no process runs. `waiting`: queues have jobs for which no slot or no place is left. `stalled`: the scheduled
   * function of a process has ended before the process did; a sweep frees its slot within half a minute.
   */
  status: v.union(
    v.literal("idle"),
    v.literal("running"),
    v.literal("waiting"),
    v.literal("stalled"),
  ),
  /** Processes that have been started so far. */
  generation: v.number(),
  /** The first alarm: which loop runs next, of which queue, and when. Five seconds overdue, it is dead. */
  next: v.optional(
    v.object({ kind: v.string(), queue: v.optional(v.string()), dueAt: v.number() }),
  ),
  /** Processes at once, at most. */
  slots: v.number(),
  /** Jobs at once: so many may run in the processes that there are, and so many more may be given to them. */
  places: v.object({ used: v.number(), left: v.number() }),
  /** Lanes that are awake, of all queues, and the jobs that they run. `more`: there are more than were read, 512. */
  lanes: v.object({ awake: v.number(), jobs: v.number(), more: v.boolean() }),
  /** Queues with lanes that are awake, or that wait for a place; the one with most jobs first. */
  queues: v.array(
    v.object({
      queue: v.string(),
      lanes: v.number(),
      /** Jobs that its lanes run: each takes a place, unless its handler is a mutation. */
      jobs: v.number(),
      isWaiting: v.boolean(),
    }),
  ),
  /** Processes that run, the oldest first. */
  processes: v.array(
    v.object({
      slot: v.number(),
      generation: v.number(),
      openedAt: v.number(),
      /** Until when it runs at most. */
      endsAt: v.number(),
      /** Whether lanes of other queues are handed to it. */
      isReceiving: v.boolean(),
      /** It runs in an action of the app. */
      isInline: v.boolean(),
      /** Its scheduled function has ended. Of the oldest 32 processes this is known; of the rest it is false. */
      hasEnded: v.boolean(),
      /** Jobs that it may run at once. */
      places: v.number(),
    }),
  ),
  /** Queues that wait, 100 at most. */
  waiting: v.array(v.string()),
});
export type MainLoop = Infer<typeof vMainLoop>;

// --- One job ------------------------------------------------------------------------------------

export const vPosition = v.object({
  /** Claimable jobs that are before it: exact to 100. */
  ahead: v.number(),
  /** Whether there are more than that. */
  more: v.boolean(),
  /** The estimated start, by the pace of the queue. Absent where no pace is known. */
  startsAt: v.optional(v.number()),
});
export type Position = Infer<typeof vPosition>;

export const vWhyKind = v.union(
  v.literal("ended"),
  v.literal("running"),
  v.literal("cancelRequested"),
  v.literal("expired"),
  v.literal("scheduled"),
  v.literal("backingOff"),
  v.literal("handlerMissing"),
  v.literal("noPermit"),
  v.literal("handlerMismatch"),
  v.literal("paused"),
  v.literal("queuePaused"),
  v.literal("noWorker"),
  v.literal("noWorkerWithLabels"),
  v.literal("preferred"),
  v.literal("atCapacity"),
  v.literal("behind"),
  v.literal("next"),
  v.literal("stuck"),
);

export type WhyKind = Infer<typeof vWhyKind>;

/** One reason why a job does not run. */
export const vReason = v.object({
  kind: vWhyKind,
  /** In words, with its figures. */
  text: v.string(),
  /** The remedy: an action that changes it. */
  remedy: v.string(),
  /** Until when it holds, where that is known. */
  until: v.optional(v.number()),
});
export type Reason = Infer<typeof vReason>;

/** Why a job is not running: its obstacles, the first one first. */
export const vWhy = v.object({ status: vStatus, reasons: v.array(vReason) });
export type Why = Infer<typeof vWhy>;
