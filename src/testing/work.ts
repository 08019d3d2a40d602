/**
 * An outside worker, played in an app's suite: the loop of `convex-conveyor/worker`, with calls to the suite's own
 * functions. Subscriptions are asked again after each step of time.
 */
import { componentsGeneric, type FunctionReference } from "convex/server";
import { isConveyorError, type Outcome, type Tracer, type Waiting } from "../shared/index.js";
import { systemClock, type Clock } from "../worker/clock.js";
import { isBatched, type AnyHandler } from "../worker/batching.js";
import { handlersOf } from "../worker/checkOptions.js";
import { noHandlers } from "../worker/errors.js";
import { OUTPUT_DEFAULT } from "../worker/limits.js";
import type { WorkerEvent } from "../worker/events.js";
import { Loop } from "../worker/loop.js";
import type { ContinuesOf, Handlers, QueuesOf, WorkerApi } from "../worker/types.js";
import { transportOver, type Wire } from "../worker/wire.js";
import {
  dueNow,
  MOMENT_MS,
  pass,
  real,
  STEP_MS,
  WITHIN_MS,
  type SettleOptions,
  type Suite,
} from "./time.js";

/** See {@link work}. */
export interface WorkOptions extends SettleOptions {
  /**
   * How many jobs to run at once, 1 to 64.
   * @default 1
   */
  concurrency?: number;
  /**
   * A worker token, where it matters which: for an `authorize` that checks it, or a token that is bound to queues or
   * groups.
   * @default one that `work` makes, for all queues
   */
  token?: string;
  /** The labels that the worker has, as jobs ask for them. */
  labels?: readonly string[];
  /** Takes only jobs of these groups. */
  groups?: readonly string[];
  /** The budget of its jobs' costs. */
  maxCost?: number;
  /** Makes the spans of its attempts, as the option of a `Worker`. */
  tracer?: Tracer;
}

/** An attempt that a handler ended. */
export interface WorkedAttempt<Queue extends string = string> {
  id: string;
  queue: Queue;
  /** 1 for the first. */
  attempt: number;
  outcome: Outcome["kind"];
  /** Of one that failed. */
  error?: string;
}

type SuiteWithCalls = Suite & {
  query: (query: any, args: any) => Promise<any>;
  mutation: (mutation: any, args: any) => Promise<any>;
};

/**
 * Plays an outside worker: claims the jobs of pull queues, runs your handlers with the same `job` as
 * `new Worker({ handlers })`, and records their results, by the functions that the app exports for its workers. It goes
 * on until all is at rest: no job of these queues can be claimed now, and nothing else is scheduled for now, as with
 * `settle`. A handler that throws fails its attempt, and the job is tried again as in production; a job that is due
 * more than a quarter of a second later stays: see `pass`, and call `work` again.
 *
 * @param t The suite that `convexTest(schema, modules)` returned.
 * @param api The module that exports `conveyor.workerApi(…)`, as in `api.workers`. The handlers' types come from it.
 * @param handlers The handler for each queue, as in `new Worker({ handlers })`.
 * @returns Each attempt that a handler ended, in that order.
 * @throws An error that stops a worker, such as `unknownQueue`; the error with which the functions refuse a claim; and
 * when all is not at rest within `withinMs`.
 * @example
 * const id = await t.mutation(api.videos.render, { scene: "s1" });
 * const done = await conveyor.work(t, api.workers, {
 *   renders: async (job) => ({ frames: job.payload.frames }),
 * });
 * expect(done).toMatchObject([{ id, attempt: 1, outcome: "succeeded" }]);
 */
export async function work<Api extends WorkerApi>(
  t: Suite,
  api: Api,
  handlers: Handlers<QueuesOf<Api>, ContinuesOf<Api>>,
  { withinMs = WITHIN_MS, ...options }: WorkOptions = {},
): Promise<WorkedAttempt<keyof QueuesOf<Api> & string>[]> {
  const suite = t as SuiteWithCalls;
  const token = options.token ?? (await tokenOf(suite, options.name));
  const worker = new Played(suite, { ...options, api, token, handlers: checked(handlers) });
  const { stepMs = STEP_MS } = options;
  let failure: unknown;
  try {
    for (let passed = 0; !worker.isOver; passed += stepMs) {
      await pass(t, passed === 0 ? 0 : stepMs, options);
      const open = [...(await worker.goOn()), ...(await dueNow(t, options.name ?? "conveyor"))];
      if (open.length === 0) break;
      if (passed >= withinMs) throw notAtRest(withinMs, open);
    }
  } catch (error) {
    failure = error;
  }
  // In time's steps: a handler that still runs is given up when the worker's grace is over.
  for (worker.stop(); !(await worker.ended());) await pass(t, stepMs, options);
  if ((worker.error ?? failure) !== undefined) throw worker.error ?? failure;
  return worker.attempts;
}

/**
 * The limit of rounds without a step of time: a queue whose jobs never end must not keep the suite from its own bound.
 */
const ROUNDS_MAX = 200;
/** How long, by the real clock, the calls of its end are waited for before time moves on. */
const ENDING_MS = 1_000;

interface Follower {
  ask: () => Promise<unknown>;
  onValue: (value: any) => void;
  onError: (error: unknown) => void;
  last?: string;
}

interface PlayedOptions extends WorkOptions {
  api: WorkerApi;
  token: string;
  handlers: ReadonlyMap<string, AnyHandler>;
}

/** One worker, its calls and its handlers. */
class Played {
  readonly attempts: WorkedAttempt[] = [];
  /** The error that ended the loop, if one did. */
  error: unknown;
  isOver = false;
  private readonly loop: Loop;
  private readonly running: Promise<void>;
  private readonly followers = new Set<Follower>();
  private readonly atWork = new Map<string, number>();
  private inFlight = 0;
  private calls = 0;
  /** The error with which a subscription or a claim was refused: a deployment may get better, a suite does not. */
  private refusal: { error: unknown } | undefined;

  constructor(
    private readonly suite: SuiteWithCalls,
    private readonly options: PlayedOptions,
  ) {
    const { api, token, handlers, concurrency = 1, maxCost, labels = [], groups = [] } = options;
    const { tracer } = options;
    const budget = maxCost === undefined ? {} : { maxCost };
    const queues = [...handlers.keys()].sort();
    const name = NAME;
    this.loop = new Loop({
      ...{ clock, name, queues, concurrency, presenceMs: 0, output: OUTPUT_DEFAULT, ...budget },
      ...(tracer === undefined ? {} : { tracer }),
      transport: transportOver(
        {
          ...{ token, api, name, queues, ...budget, sessionKey: crypto.randomUUID() },
          ...{ labels: [...labels].sort(), groups: [...groups].sort() },
        },
        this.wire(),
      ),
      handlers: new Map([...handlers].map(([queue, handler]) => [queue, this.counted(handler)])),
      emit: (event) => this.note(event),
    });
    this.running = this.loop
      .run()
      .catch((error: unknown) => void (this.error = error))
      .then(() => void (this.isOver = true));
  }

  /** Does all work that needs no time to pass, and returns the work that is left. */
  async goOn(): Promise<string[]> {
    const { momentMs = MOMENT_MS } = this.options;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const before = this.calls;
      await this.rest(momentMs);
      const waiting = await this.look();
      await this.rest(momentMs);
      if (this.isOver) return [];
      if (this.refusal !== undefined) throw this.refusal.error;
      if (this.calls > before && !this.isBusy) continue;
      if (this.inFlight > 0) return ["a call of the worker"];
      return [...[...this.atWork.keys()].map((queue) => `a handler of "${queue}"`), ...waiting];
    }
    return ["a queue whose jobs do not end"];
  }

  stop(): void {
    this.loop.stop(0);
  }

  async ended(): Promise<boolean> {
    await Promise.race([this.running, real(ENDING_MS)]);
    return this.isOver;
  }

  private get isBusy(): boolean {
    return this.inFlight > 0 || this.atWork.size > 0;
  }

  private async rest(momentMs: number): Promise<void> {
    for (let ms = 0; this.isBusy && ms < momentMs; ms += 1) await real(1);
  }

  /**
   * Asks each subscription again, and notifies it of a change. Returns the names of the jobs that wait for the worker.
   */
  private async look(): Promise<string[]> {
    const waiting: string[] = [];
    for (const follower of [...this.followers]) {
      try {
        const value = await follower.ask();
        if (hasJobs(value)) waiting.push("a job that waits for the worker");
        const text = JSON.stringify(value);
        if (text === follower.last) continue;
        follower.last = text;
        follower.onValue(value);
      } catch (error) {
        this.refusal ??= { error };
        follower.onError(error);
      }
    }
    return waiting;
  }

  private wire(): Wire {
    const { suite, options } = this;
    const query: Wire["query"] = (reference, args) =>
      this.counting(() => suite.query(reference, args), true);
    const mutation: Wire["mutation"] = (reference, args) => {
      this.calls += 1;
      return this.counting(() => suite.mutation(reference, args), reference === options.api.claim);
    };
    return {
      ...{ query, mutation, beat: mutation },
      follow: (reference, args, onValue, onError) => {
        const ask = async () => await readably(() => suite.query(reference, args));
        const follower: Follower = { ask, onValue, onError };
        this.followers.add(follower);
        return () => void this.followers.delete(follower);
      },
      close: async () => {},
    };
  }

  private async counting(call: () => Promise<any>, isOfLook: boolean): Promise<any> {
    this.inFlight += 1;
    try {
      return await readably(call);
    } catch (error) {
      if (isOfLook) this.refusal ??= { error };
      throw error;
    } finally {
      this.inFlight -= 1;
    }
  }

  /** A batch begins with the jobs of one claim: nothing else would come while it waits. */
  private counted(handler: AnyHandler): AnyHandler {
    if (!isBatched(handler))
      return (job) => this.working(job.queue, async () => await handler(job));
    const { batch, handler: run } = handler;
    return {
      batch: { ...batch, waitMs: 0 },
      handler: (jobs, context) =>
        this.working(jobs[0]!.queue, async () => await run(jobs, context)),
    };
  }

  private async working<Result>(queue: string, work: () => Promise<Result>): Promise<Result> {
    this.atWork.set(queue, (this.atWork.get(queue) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = this.atWork.get(queue)! - 1;
      if (left > 0) this.atWork.set(queue, left);
      else this.atWork.delete(queue);
    }
  }

  private note(event: WorkerEvent): void {
    if (event.kind === "finished") {
      const { id, queue, attempt, outcome, error } = event;
      this.attempts.push({
        id,
        queue,
        attempt,
        outcome,
        ...(error === undefined ? {} : { error }),
      });
    } else if (event.kind === "resultRefused") {
      const { id, attempt, error } = event;
      const of = this.attempts.find((one) => one.id === id && one.attempt === attempt);
      if (of !== undefined) Object.assign(of, { outcome: "failed", error });
    }
  }
}

/** Of the worker, and of the token that it makes. */
const NAME = "convex-conveyor/test";

/** The suite's time, and no chance: a suite runs the same each time. */
const clock: Clock = { ...systemClock, now: Date.now, random: () => 0 };

/** Jobs that are left to a worker of another name for now are none of its own. */
function hasJobs(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value === null || typeof value !== "object" || !("jobs" in value)) return false;
  const { jobs, more } = value as Waiting;
  return jobs.some(({ worker = NAME }) => worker === NAME) || more;
}

/** With a suite's errors as a client gets them: `convex-test` leaves their data as text. */
async function readably<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    const { data } = error as { data?: unknown };
    if (error instanceof Error && typeof data === "string" && data.startsWith("{")) {
      const read = { data: JSON.parse(data) as unknown };
      if (isConveyorError(read)) throw Object.assign(error, read);
    }
    throw error;
  }
}

/** As `new Worker` checks them. */
function checked(handlers: Record<string, unknown>): Map<string, AnyHandler> {
  const given = handlersOf({ handlers });
  if (given.size === 0) throw noHandlers();
  return given;
}

const tokens = new WeakMap<object, Map<string, string>>();

/** One for all calls of a suite. */
async function tokenOf(suite: SuiteWithCalls, name = "conveyor"): Promise<string> {
  const known = tokens.get(suite) ?? new Map<string, string>();
  tokens.set(suite, known);
  const before = known.get(name);
  if (before !== undefined) return before;
  const components = componentsGeneric() as Record<string, any>;
  const createToken: FunctionReference<"mutation", "internal"> =
    components[name].operate.createToken;
  const made = (await suite.run(
    async (ctx: any) => await ctx.runMutation(createToken, { name: NAME }),
  )) as { token: string };
  known.set(name, made.token);
  return made.token;
}

function notAtRest(withinMs: number, open: readonly string[]): Error {
  return new Error(
    `The suite is not at rest after ${withinMs} ms: ${[...new Set(open)].join(", ")} is still to be done, or runs. ` +
      "Give handlers that take longer more time (`withinMs`), and faked timers a way to go on (`advance`).",
  );
}
