/**
 * A pair of transactions that insert and stop scanning, or that write one row: the state before them, the calls, and the
 * conditions after every possible order. Conditions on the tables after any commit are in `../races/invariants.ts`; the final
 * state, once no further call comes, is checked here.
 */
import { onlyForgets } from "../support/forgetting.js";
import type { Deployment } from "../../local/functions/types.js";
import type { Change } from "../planted/change.js";
import { checkCursor, checkTables, KEPT_TIMERS, type Job } from "../races/invariants.js";
import { must, Violation } from "../races/world.js";
import { explore, type End } from "./explore.js";
import { LEASE_MS, Line } from "./line.js";
import { answerOf, Transactions, type Call } from "./transactions.js";
import { Worker } from "./worker.js";

export interface Pair {
  /** The transactions that overlap. */
  of: string;
  /** So many orders are explored at least: were they fewer, orders that are no longer played could go unnoticed. */
  orders: number;
  setUp(line: Line): Promise<Meeting>;
  mutants: readonly Mutant[];
}

export interface Meeting {
  calls: Readonly<Record<string, Call>>;
  /** Calls that may be refused, with the words of the refusal; the answer is `undefined` then. */
  refusals?: Readonly<Record<string, RegExp>>;
  /** The condition on answers and rows at an order's end. */
  check?(answers: Answers, line: Line): Promise<void> | void;
  /** A last call before all calls stop, as to end a pause. */
  restore?(line: Line): Promise<unknown>;
  /** The condition on the final state, where no worker outside takes the remaining jobs. */
  rest?(line: Line): Promise<void>;
}

/** One guard taken out of the component, by changes in its functions or, for guards by validation, in the engine. */
export interface Mutant {
  without: string;
  changes?: readonly Change[];
  unvalidated?: boolean;
  finds: RegExp;
}

/** Shows that the two transactions conflict at all: the violation when neither has to retry. */
export const UNVALIDATED: Mutant = {
  without: "validation by the engine",
  unvalidated: true,
  finds: /./,
};

export class Answers {
  constructor(
    private readonly byName: ReadonlyMap<string, unknown>,
    private readonly order: string,
  ) {}

  of<T>(name: string): T {
    return this.byName.get(name) as T;
  }

  /** Whether one had committed before the other did. */
  isBefore(one: string, other: string): boolean {
    const words = this.order.split(" ");
    const at = words.indexOf(`=${one}`);
    return at >= 0 && at < words.indexOf(`=${other}`);
  }
}

/** The same pair, but the first caller's clock is so much ahead of all other clocks, or behind. */
export function withSkew(pair: Pair, skewMs: number): Pair {
  return {
    ...pair,
    async setUp(line) {
      const meeting = await pair.setUp(line);
      const [name, call] = Object.entries(meeting.calls)[0]!;
      return { ...meeting, calls: { ...meeting.calls, [name]: { ...call, skewMs } } };
    },
  };
}

/** Plays every order. Throws a `Violation` that names the first in which something does not hold. */
export async function play(
  deployment: Deployment,
  pair: Pair,
  { validates = true } = {},
): Promise<{ orders: number; ends: number }> {
  const transactions = new Transactions(deployment, { validates });
  const start = new Line(transactions);
  await start.open();
  const meeting = await pair.setUp(start);
  const { now } = transactions;
  const checking = (check: (end: End) => Promise<void>) => async (end: End) => {
    try {
      await check(end);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      throw new Violation(`${error.message}, after ${end.order}`);
    } finally {
      transactions.now = now;
    }
  };
  return await explore(transactions, start.point, meeting.calls, {
    onPoint: (point) => checkTables(point.begin()),
    onEnd: checking((end) => checkEnd(start, meeting, end)),
    onRest: checking(async (end) => {
      const line = start.after(end.point);
      await meeting.restore?.(line);
      await (meeting.rest ?? checkRest)(line);
    }),
  });
}

async function checkEnd(start: Line, meeting: Meeting, end: End): Promise<void> {
  const line = start.after(end.point);
  const names = Object.keys(meeting.calls);
  const answers = new Map(names.map((name, i) => [name, answerTo(name, meeting, end.ended[i]!)]));
  const jobs = line.rows("jobs") as unknown as Job[];
  for (const answer of answers.values()) {
    const { cursor, jobs: claimed } = (answer ?? {}) as { cursor?: string; jobs?: unknown };
    if (cursor !== undefined && claimed !== undefined) checkCursor(cursor, jobs);
  }
  await meeting.check?.(new Answers(answers, end.order), line);
  await checkSubscribers(line, end);
}

function answerTo(name: string, { refusals = {} }: Meeting, begun: End["ended"][number]): unknown {
  if (begun.result === null) return undefined;
  try {
    return answerOf(begun);
  } catch (error) {
    const { message } = error as Error;
    if (refusals[name]?.test(message)) return undefined;
    throw new Violation(`${name} is refused: ${message}`);
  }
}

/** A subscriber's query has the present result, or a commit touched its read set. */
async function checkSubscribers(line: Line, end: End): Promise<void> {
  for (const { call, transaction, result } of end.ended) {
    if (call.kind !== "query" || !result?.ok) continue;
    const { beginTs, reads } = transaction;
    const isTold = end.point.touchedSince(beginTs, reads);
    const fresh = await line.do(call);
    must(
      isTold || JSON.stringify(fresh) === JSON.stringify(result.value),
      "a subscriber gets no update",
    );
  }
}

/** Claims in which one worker must get everything. */
const COLLECTOR_TRIES = 20;
/** Longer than a claimer waits before it takes jobs in shards of other workers. */
const STOLEN_AFTER_MS = 1_000;
/** Longer than any lease, backoff and wait of a pair: by then everything has come back. */
const SILENCE_MS = 6 * LEASE_MS;

/** All calls stop until the leases have been ended; then one worker gets all jobs, and no row remains. */
async function checkRest(line: Line): Promise<void> {
  const wakes = async () => {
    if (!line.rows("jobs").some(({ status }) => status === "pending")) return false;
    const hasWork = await line.do<boolean>(line.asks());
    must(hasWork, "a job is pending, and hasWork says that there is none");
    return true;
  };
  await wakes();
  if (line.rows("faults", "").length > 0) await line.app("mend");
  await line.pass(SILENCE_MS);
  const collector = new Worker(line, "collector");
  for (let tries = 0; tries < COLLECTOR_TRIES && (await wakes()); tries += 1) {
    const jobs = await collector.claim(8, line.queues);
    if (jobs.length > 0) await collector.complete(jobs);
    else await line.pass(STOLEN_AFTER_MS);
  }
  await line.pass(SILENCE_MS);
  await checkTables(line.point.begin());
  const stuck = line.rows("jobs").filter(({ status }) => OPEN.has(status));
  must(stuck.length === 0, `a ${String(stuck[0]?.status)} job is stuck`);
  const sessions = line.rows("sessions");
  const left = line
    .rows("timers")
    .filter((timer) => !KEPT_TIMERS.has(timer["kind"]) && !onlyForgets(timer, sessions, line.now));
  must(left.length === 0, `a timer of the ${String(left[0]?.["kind"])} remains`);
  must(line.rows("callbacks").length === 0, "a callback is stuck");
}

const OPEN = new Set<unknown>(["scheduled", "pending", "running"]);
