/**
 * A handler's behaviour, inside Convex and outside: its payload determines it for this attempt. It reports its begin and end to a
 * service outside, as a handler that sends an e-mail does: such an effect cannot be undone.
 */
import { NonRetryableError, RetryAfterError } from "../../../src/client/index.js";
import { handle } from "./own.js";
import { turnOf, type Work } from "./payload.js";

/** A reserved name (RFC 2606); the simulator answers there. */
export const LEDGER_URL = "https://ledger.invalid/";

export interface Attempt {
  id: string;
  queue: string;
  attempt: number;
  payload: Work;
  /** Where the handler receives one: else the job's id is. */
  idempotencyKey?: string;
  /** Of a job that its handler was given with others. */
  batch?: string;
}

/** Facilities of a handler, where it has them. */
export interface Tools {
  signal?: AbortSignal;
  progress?: (value: unknown) => void;
  log?: (message: string) => unknown;
  write?: (text: string) => void;
  flush?: () => Promise<void>;
  snooze?: (ms: number) => never;
  continueWith?: (queue: never, payload: never) => void;
}

/** Numbers of jobs that continue a job: larger than the numbers of enqueued ones. */
export const FOLLOWS = 1_000_000;
const SNOOZE_MS = 1_500;
const RETRY_AFTER_MS = 2_500;
/** More than a result may have. */
const TOO_MANY_BYTES = 1_100_000;
/**
 * How long it waits for the service's answer: longer than the slowest link takes both ways. Where times differ most, one
 * message in 50,000 takes two seconds, and one in 30 million ten.
 */
const PATIENCE_MS = 10_000;
/** Longer than any timeout and any lease; not for ever, since a job without a timeout is never ended. */
const HANGS_MS = 12_000;

/** `next`: the queue of jobs that follow, as the handler is to name it. */
export async function take(
  attempt: Attempt,
  tools: Tools,
  next: unknown = "pulled",
): Promise<unknown> {
  const { payload } = attempt;
  const turn = turnOf(payload, attempt.attempt);
  const run = Math.random().toString(36).slice(2, 8);
  await tell({ ...about(attempt), run, what: "began" });
  if (turn.talks === true) talk(attempt, tools);
  if (handle !== null) {
    await handle({ idempotencyKey: attempt.id, ...attempt }, { ...tools, fetch });
  }
  await passes(turn.end === "hangs" ? HANGS_MS : turn.ms, turn.listens ? tools.signal : undefined);
  if (tools.signal?.aborted && turn.listens) throw new Error("It was aborted.");
  await tools.flush?.();
  await tell({ ...about(attempt), run, what: "ended" });
  switch (turn.end) {
    case "throws":
      throw new Error("It was to fail.");
    case "throwsText":
      return throwText();
    case "goesTooFar":
      return { n: payload.n, attempt: attempt.attempt, more: "x".repeat(TOO_MANY_BYTES) };
    case "throwsForGood":
      throw new NonRetryableError("It would fail again.");
    case "throwsUntil":
      throw new RetryAfterError(RETRY_AFTER_MS, "Not now.");
    case "snoozes":
      if (tools.snooze !== undefined) tools.snooze(SNOOZE_MS);
      break;
    case "returnsBadly":
      return { n: "not a number" };
    case "continues": {
      const follower: Work = { n: payload.n + FOLLOWS, turns: [{ ms: 10, end: "returns" }] };
      tools.continueWith?.(next as never, follower as never);
    }
  }
  return { n: payload.n, attempt: attempt.attempt };
}

/**
 * A batch's: each job ends by its own answer, or by its place in what is returned. `batch` tells the service outside which
 * jobs came together.
 */
export function takeAll(jobs: readonly any[], next: unknown = "pulled"): Promise<unknown>[] {
  const batch = Math.random().toString(36).slice(2, 8);
  return jobs.map(async (job) => {
    const result = await take({ ...job, batch }, job as Tools, next);
    if (job.payload.n % 3 === 0) job.succeed(result);
    return result;
  });
}

/** As some libraries do. */
export function throwText(): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error
  throw "It was to fail, and says so in a text.";
}

function about({ id, queue, attempt, payload: { n }, batch }: Attempt) {
  return { job: id, queue, attempt, n, ...(batch === undefined ? {} : { batch }) };
}

/** An attempt's whole output: the checker compares it with the stored one. */
export function outputOf(n: number, attempt: number): string[] {
  return Array.from({ length: 5 }, (_, i) => `${n}/${attempt}: line ${i}\n`);
}

function talk({ payload: { n }, attempt }: Attempt, tools: Tools): void {
  tools.progress?.({ attempt });
  tools.log?.(`${n} is tried, for time ${attempt}`);
  for (const line of outputOf(n, attempt)) tools.write?.(line);
}

/** The service may be out of reach: that is no reason for the work to fail. */
async function tell(told: object): Promise<void> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  const { signal } = patience;
  await fetch(LEDGER_URL, { method: "POST", body: JSON.stringify(told), signal }).catch(() => null);
  clearTimeout(timer);
}

function passes(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
