/** How time goes on in an app's suite, and the functions that are still to run in it. */
import type { TestConvex } from "convex-test";
import type { GenericDatabaseReader, GenericSchema, SchemaDefinition } from "convex/server";

export type Suite = Pick<TestConvex<SchemaDefinition<GenericSchema, boolean>>, "run"> & {
  finishInProgressScheduledFunctions: () => Promise<void>;
};

/** How time goes on in a suite. */
export interface TimeOptions {
  /**
   * Moves the suite's clock: `(ms) => vi.advanceTimersByTime(ms)` where timers are faked.
   * @default waits for as long
   */
  advance?: (ms: number) => unknown;
  /**
   * How far the clock is moved at once, in milliseconds, 1 or more.
   * @default 50
   */
  stepMs?: number;
  /**
   * The real time, in milliseconds, that running functions have to end after each step. A function that still runs then
   * is taken to wait for the suite's clock, which moves on. Give more where handlers do real I/O, such as `fetch`.
   * @default 25
   */
  momentMs?: number;
}

/** See {@link settle}. */
export interface SettleOptions extends TimeOptions {
  /**
   * How much time may pass at most, in milliseconds.
   * @default 60_000
   */
  withinMs?: number;
  /**
   * As in `app.use(conveyor, { name })`.
   * @default "conveyor"
   */
  name?: string;
}

/** Timers of before a suite fakes them. */
const { setTimeout: realTimeout } = globalThis;
export const real = (ms: number) => new Promise<void>((resolve) => void realTimeout(resolve, ms));
function really(ms: number): Promise<void> {
  if (globalThis.setTimeout === realTimeout) return real(ms);
  throw new Error(
    "The suite's timers are faked, so time only moves on by an explicit call. Give `settle`, `pass` and `work`, as the last " +
      "argument, `{ advance: (ms) => vi.advanceTimersByTime(ms) }`, or your framework's equivalent.",
  );
}

/** Faked timers of all frameworks say so: a handler that takes a moment would be waited for by them, for ever. */
const wereFaked = "clock" in realTimeout;
function fakedTooEarly(): Error {
  return new Error(
    "The suite's timers were faked before `convex-conveyor/test` was loaded, which needs real ones to wait for handlers. Fake " +
      "them in `beforeEach`, or import `convex-conveyor/test` before they are faked, as at the head of a setup file.",
  );
}

export const MOMENT_MS = 25;
export const STEP_MS = 50;
/** A job that has fallen due is made claimable at the end of its tenth of a second. */
const SOON_MS = 250;
export const WITHIN_MS = 60_000;

/**
 * Lets time pass, and runs all that falls due in it: jobs that Convex runs, retries, reminders, sweeps.
 *
 * `await t.finishInProgressScheduledFunctions()` would wait for ever, with faked timers, for a lane that waits for the clock.
 *
 * @param t The suite that `convexTest(schema, modules)` returned.
 * @param ms How long, in milliseconds. 0 runs only functions that are due now.
 * @throws Where the suite's timers are faked and nothing says how they go on, or were faked before this was loaded.
 * @example
 * await conveyor.pass(t, 30_000, { advance: (ms) => vi.advanceTimersByTime(ms) });
 */
export async function pass(
  t: Suite,
  ms: number,
  { advance = really, stepMs = STEP_MS, momentMs = MOMENT_MS }: TimeOptions = {},
): Promise<void> {
  if (wereFaked) throw fakedTooEarly();
  let left = ms;
  do {
    const step = Math.min(stepMs, left);
    await advance(step);
    left -= step;
    await Promise.race([t.finishInProgressScheduledFunctions(), real(momentMs)]);
  } while (left > 0);
}

/**
 * Lets time pass until all is at rest: every job that Convex can run now has run, and nothing else is scheduled for now, by
 * the component or by the app. Jobs that are due more than a quarter of a second later, such as delayed retries, stay
 * as they are: see {@link pass}. So do jobs of queues that are paused, or that outside workers serve.
 *
 * @param t The suite that `convexTest(schema, modules)` returned.
 * @throws When it is not at rest within `withinMs`, with the names of functions that are scheduled or still run.
 * @example
 * await t.mutation(api.mails.send, { to: "ann" });
 * await conveyor.settle(t, { advance: (ms) => vi.advanceTimersByTime(ms) });
 * expect(await t.query(api.mails.sent, {})).toEqual(["ann"]);
 */
export async function settle(
  t: Suite,
  { withinMs = WITHIN_MS, name = "conveyor", ...time }: SettleOptions = {},
): Promise<void> {
  const stepMs = time.stepMs ?? STEP_MS;
  for (let passed = 0; ; passed += stepMs) {
    await pass(t, passed === 0 ? 0 : stepMs, time);
    const open = await dueNow(t, name);
    if (open.length === 0) return;
    if (passed < withinMs) continue;
    throw new Error(
      `The suite is not at rest after ${withinMs} ms: ${[...new Set(open)].join(", ")} is still scheduled for now, or runs. ` +
        "Give handlers that take longer more time (`withinMs`), and faked timers a way to go on (`advance`).",
    );
  }
}

interface Scheduled {
  name: string;
  scheduledTime: number;
  state: { kind: string };
}

/** The names of functions that run, or are to run now or in a moment: of the component, and of the app. */
export async function dueNow(t: Suite, component: string): Promise<string[]> {
  const look = async ({ db }: { db: GenericDatabaseReader<any> }): Promise<Scheduled[]> =>
    await db.system.query("_scheduled_functions").collect();
  const within = (
    t as { runInComponent?: (path: string, run: typeof look) => Promise<Scheduled[]> }
  ).runInComponent;
  if (within === undefined) {
    throw new Error(
      "This needs convex-test 0.0.60 or later: the component's scheduled functions cannot be seen.",
    );
  }
  const all = [...(await within(component, look)), ...(await t.run(look))];
  const isDue = ({ state, scheduledTime }: Scheduled) =>
    state.kind === "inProgress" ||
    (state.kind === "pending" && scheduledTime <= Date.now() + SOON_MS);
  return all.filter(isDue).map((one) => one.name);
}
