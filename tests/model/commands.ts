/** The steps of a random life, as plain data that can be printed and played again; and how they are drawn. */
import fc from "fast-check";
import type { JobOptions, QueueConfig, QueueOverrides, Status } from "../../src/shared/index.js";

export type Kind = "succeeded" | "failed" | "fatal" | "after" | "released" | "snoozed" | "canceled";

export interface Wants {
  max: number;
  labels?: string[];
  maxCost?: number;
  groups?: string[];
}

export interface Filter {
  statuses?: Status[];
  priority?: number;
  tags?: string[];
  group?: string;
}

/** How an attempt ends, and the jobs that continue it. */
export interface End {
  lease: number;
  kind: Kind;
  ms: number;
  continued: JobOptions[];
}

/** Jobs, leases and workers are meant by a number, modulo how many there are. */
export type Command =
  | { do: "enqueue"; jobs: JobOptions[] }
  | { do: "replace"; job: number; by: JobOptions }
  | { do: "claim"; worker: number; wants: Wants }
  | {
      do: "complete";
      worker: number;
      ends: End[];
      claim?: number;
      deferCallbacks: boolean;
    }
  | { do: "takeBack"; worker: number; ends: End[] }
  /** A word about an attempt that may be long over, or another's. */
  | { do: "late"; worker: number; job: number; back: number; kind: Kind }
  | { do: "repeat"; worker: number }
  | { do: "stale"; worker: number }
  | { do: "beat"; worker: number; names: number }
  | { do: "newSession"; worker: number }
  | { do: "pass"; ms: number }
  | { do: "cancel" | "retry" | "pauseJob" | "resumeJob" | "delete"; job: number }
  | { do: "pauseQueue" | "drainQueue" | "resumeQueue" }
  | { do: "configure"; overrides: QueueOverrides }
  | { do: "resetConfig"; fields?: (keyof QueueOverrides)[] }
  | { do: "many"; action: "cancel" | "retry" | "delete"; filter: Filter }
  | { do: "hasWork"; wants: Omit<Wants, "max"> }
  /** The app's `onComplete` throws so often. */
  | { do: "throw"; times: number };

export interface Life {
  config: Partial<QueueConfig>;
  /** For the component's random choices. */
  seed: number;
  commands: Command[];
}

const index = fc.nat(30);
const worker = fc.nat(2);

function given<T>(part: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: part, arbitrary },
    { weight: 10 - part, arbitrary: fc.constant(undefined) },
  );
}

/** Fields drawn as `undefined` are left out, as on the wire. */
function record<T>(fields: { [F in keyof T]-?: fc.Arbitrary<T[F] | undefined> }): fc.Arbitrary<T> {
  return fc
    .record(fields as Record<string, fc.Arbitrary<unknown>>)
    .map(
      (one) =>
        Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as T,
    );
}

const RETRY = { maxAttempts: 3, initialBackoffMs: 1_000, base: 2, maxBackoffMs: 4_000 };
const RETRY_TWICE = { ...RETRY, maxAttempts: 2, initialBackoffMs: 200 };

const options: fc.Arbitrary<JobOptions> = record<JobOptions>({
  name: fc.constant(undefined),
  priority: given(4, fc.constantFrom(-10, -1, 0, 1, 10)),
  runAt: fc.constant(undefined),
  runAfter: given(3, fc.constantFrom(0, 50, 700, 5_000, 40_000)),
  key: given(
    4,
    record<NonNullable<JobOptions["key"]>>({
      value: fc.constantFrom("k", "l"),
      windowMs: given(3, fc.constantFrom(3_000, 20_000)),
      onConflict: given(8, fc.constantFrom("existing", "replace", "refuse")),
    }),
  ),
  group: given(3, fc.constantFrom("g", "h")),
  tags: given(3, fc.constantFrom(["t"], ["u"], ["t", "u"])),
  labels: given(2, fc.constantFrom(["a"], ["a", "b"])),
  cost: given(3, fc.constantFrom(2, 3, 8)),
  expiresAfterMs: given(2, fc.constantFrom(1_000, 4_000, 20_000)),
  deadlineMs: fc.constant(undefined),
  context: fc.constant(undefined),
  traceparent: fc.constant(undefined),
  prefer: fc.constant(undefined),
  rules: given(
    3,
    record<Omit<NonNullable<JobOptions["rules"]>, "handler">>({
      retry: given(5, fc.constantFrom(RETRY, RETRY_TWICE, { ...RETRY, maxAttempts: 1 })),
      maxResets: given(4, fc.constantFrom(0, 2)),
      leaseMs: given(3, fc.constantFrom(2_000, 9_000)),
      timeoutMs: given(4, fc.constantFrom(1_000, 3_000, 8_000)),
      onComplete: fc.constant(undefined),
      onCompleteExclude: fc.constant(undefined),
    }),
  ),
});

const offer: { [F in keyof Omit<Wants, "max">]-?: fc.Arbitrary<Wants[F] | undefined> } = {
  labels: given(7, fc.constantFrom(["a"], ["a", "b"], ["b"])),
  maxCost: given(3, fc.constantFrom(1, 3, 5, 9)),
  groups: given(2, fc.constantFrom(["g"], ["h", "g"])),
};

const kind = fc.constantFrom<Kind>(
  ...(["succeeded", "succeeded", "succeeded", "failed", "failed", "failed", "fatal"] as const),
  ...(["after", "released", "snoozed", "canceled"] as const),
);

const end = fc.record({
  lease: index,
  kind,
  ms: fc.constantFrom(0, 300, 2_500, 15_000),
  continued: fc.oneof(
    { weight: 3, arbitrary: fc.constant<JobOptions[]>([]) },
    { weight: 2, arbitrary: fc.array(options, { minLength: 1, maxLength: 2, size: "max" }) },
  ),
});
const ends = fc.array(end, { minLength: 1, maxLength: 4, size: "max" });

const filter = record<Filter>({
  statuses: fc.constant(undefined),
  priority: given(3, fc.constantFrom(0, 1)),
  tags: given(3, fc.constantFrom(["t"], ["t", "u"])),
  group: given(2, fc.constant("g")),
});

const finished: Status[] = ["succeeded", "failed", "canceled", "timedOut"];
const asked = fc.oneof(
  record<Extract<Command, { do: "many" }>>({
    do: fc.constant("many"),
    action: fc.constantFrom("cancel", "retry", "delete"),
    filter,
  }),
  fc.tuple(filter, fc.subarray(finished, { minLength: 1 })).map(([rest, statuses]) => ({
    do: "many" as const,
    action: "retry" as const,
    filter: { ...rest, statuses },
  })),
);

const oneJob = fc.record({
  do: fc.constantFrom(
    ...(["cancel", "cancel", "cancel", "retry", "retry", "retry"] as const),
    ...(["pauseJob", "resumeJob", "resumeJob", "delete"] as const),
  ),
  job: index,
});

const DAY_MS = 86_400_000;
const KEPT_SHORT = { succeededMs: 5_000, failedMs: 20_000, canceledMs: 1_000, timedOutMs: 40_000 };
const KEPT_LONG = {
  ...{ succeededMs: DAY_MS, failedMs: DAY_MS },
  ...{ canceledMs: DAY_MS, timedOutMs: DAY_MS },
};

const overrides: fc.Arbitrary<QueueOverrides> = record<
  Omit<
    QueueOverrides,
    "maxParallelism" | "fallbackAfterMs" | "handlerMissingAfterMs" | "deadlineMs"
  >
>({
  leaseMs: given(3, fc.constantFrom(2_000, 9_000)),
  graceMs: given(2, fc.constantFrom(0, 700)),
  maxResets: given(3, fc.constantFrom(0, 1, 2)),
  // Where there have been several, nothing is said of the order within a priority any more.
  shards: given(1, fc.constantFrom(1, 2)),
  retry: given(3, fc.constantFrom(RETRY, RETRY_TWICE)),
  timeoutMs: given(2, fc.constantFrom(1_500, 6_000)),
  expiresAfterMs: given(1, fc.constant(10_000)),
  restMs: fc.constant(undefined),
  retention: given(2, fc.constantFrom(KEPT_SHORT, KEPT_LONG)),
  logLevel: fc.constant(undefined),
});
const OVERRIDABLE: (keyof QueueOverrides)[] = [
  ...(["leaseMs", "graceMs", "maxResets", "retry", "timeoutMs", "expiresAfterMs"] as const),
  "retention",
];

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constant("enqueue" as const),
      jobs: fc.array(options, { minLength: 1, maxLength: 4, size: "max" }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("replace" as const), job: index, by: options }),
  },
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      worker,
      wants: record<Wants>({ max: fc.integer({ min: 1, max: 5 }), ...offer }),
    }),
  },
  {
    weight: 22,
    arbitrary: record<Extract<Command, { do: "complete" }>>({
      do: fc.constant("complete"),
      worker,
      ends,
      claim: given(4, fc.integer({ min: 1, max: 4 })),
      deferCallbacks: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("takeBack" as const), worker, ends }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("configure" as const), overrides }),
  },
  {
    weight: 1,
    arbitrary: record<Extract<Command, { do: "resetConfig" }>>({
      do: fc.constant("resetConfig"),
      fields: given(7, fc.subarray(OVERRIDABLE)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("late" as const),
      worker: fc.nat(20),
      job: index,
      back: fc.nat(2),
      kind,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("repeat" as const, "repeat" as const, "stale" as const),
      worker,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("beat" as const), worker, names: fc.nat(15) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("newSession" as const), worker }) },
  {
    weight: 18,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.oneof(
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 1_000, max: 3_500 }),
        fc.integer({ min: 5_500, max: 8_000 }),
        fc.integer({ min: 10_000, max: 70_000 }),
      ),
    }),
  },
  { weight: 14, arbitrary: oneJob },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...(["pauseQueue", "drainQueue", "resumeQueue", "resumeQueue", "resumeQueue"] as const),
      ),
    }),
  },
  { weight: 3, arbitrary: asked },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("hasWork" as const),
      wants: record<Omit<Wants, "max">>(offer),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("throw" as const),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

type Pulled = Omit<
  Partial<QueueConfig>,
  | "push"
  | "handler"
  | "result"
  | "maxParallelism"
  | "fallbackAfterMs"
  | "handlerMissingAfterMs"
  | "schedulerShare"
  | "deadlineMs"
  | "listBy"
>;

const config: fc.Arbitrary<Pulled> = record<Pulled>({
  leaseMs: fc.constant(5_000),
  maxResets: fc.constantFrom(0, 1, 2),
  graceMs: given(3, fc.constant(500)),
  shards: fc.constantFrom(1, 1, 1, 3),
  retry: given(4, fc.constantFrom(RETRY, RETRY_TWICE)),
  timeoutMs: given(1, fc.constant(6_000)),
  expiresAfterMs: given(1, fc.constant(10_000)),
  circular: given(4, fc.constant(true)),
  restMs: given(4, fc.constant(1_500)),
  retention: given(3, fc.constant(KEPT_SHORT)),
  onComplete: fc.constant(undefined),
  onCompleteExclude: given(2, fc.constant(["canceled" as const])),
  logLevel: fc.constant("error" as const),
}).map(({ restMs, ...rest }) =>
  rest.circular === true && restMs !== undefined ? { ...rest, restMs } : rest,
);

/** Lives of at least 50 steps. */
export const life: fc.Arbitrary<Life> = fc.record({
  config,
  seed: fc.nat(),
  commands: fc.array(command, { minLength: 50, maxLength: 70, size: "max" }),
});
