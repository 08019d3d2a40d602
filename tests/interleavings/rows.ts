/** The app's own table as a queue, as the app of the pairs has it: its calls, a worker of its rows, and their end. */
import type { ClaimedJob, Finished } from "../../src/shared/index.js";
import { onlyForgets } from "../support/forgetting.js";
import { checkTables, KEPT_TIMERS } from "../races/invariants.js";
import { must } from "../races/world.js";
import { LEASE_MS, mutation, type Line, type Row } from "./line.js";
import type { Call } from "./transactions.js";
import type { ClaimReply, CompleteReply } from "./worker.js";

export const NOTES = "notes";
/** Claims in which one worker must get everything. */
const TRIES = 10;

/** A call of the app's module. */
export function notes(name: string, args: object = {}): Call {
  return { ...mutation(`notes:${name}`, args), namespace: "" };
}

/** A call of the module with a loop over batches of rows. */
export function lines(name: string, args: object = {}): Call {
  return { ...mutation(`lines:${name}`, args), namespace: "" };
}

/** Inserts a row, and announces it unless it is `silent`. */
export async function inserted(line: Line, { silent = false } = {}): Promise<string> {
  return await line.do<string>(notes("insert", { silent }));
}

export const rowOf = (line: Line, id: string): Row | undefined =>
  line.rows(NOTES, "").find(({ _id }) => _id === id);

/** A row's jobs, in the order of their insertion. */
export const jobsOf = (line: Line, id: string): Row[] =>
  line.rows("jobs").filter(({ key, payload }) => key === id || isPayload(payload, id));

const isPayload = (payload: unknown, id: string) => (payload as { inline?: unknown }).inline === id;

export const isAnnounced = (line: Line): boolean =>
  line.rows("announced").some(({ more }) => more === true);

/** A worker's process as far as the app sees it. */
export class RowWorker {
  #callSeq = 0;

  constructor(
    private readonly line: Line,
    readonly name: string,
  ) {}

  claims(max = 1): Call {
    return notes("claim", { ...this.#call(), name: this.name, queues: [NOTES], max });
  }

  completes(jobs: readonly ClaimedJob[], outcome: Finished["outcome"] = SUCCEEDED): Call {
    const finished = jobs.map(({ id, attempt }) => ({ id, attempt, queue: NOTES, outcome }));
    return notes("complete", { ...this.#call(), finished });
  }

  beats(jobs: readonly ClaimedJob[]): Call {
    const leases = jobs.map(({ id, attempt }) => ({ id, attempt }));
    const { callSeq: _, ...session } = this.#call();
    this.#callSeq -= 1;
    return notes("heartbeat", { ...session, leases });
  }

  async claim(max = 1): Promise<ClaimedJob[]> {
    return (await this.line.do<ClaimReply>(this.claims(max))).jobs;
  }

  async complete(jobs: readonly ClaimedJob[]): Promise<CompleteReply> {
    return await this.line.do<CompleteReply>(this.completes(jobs));
  }

  #call() {
    this.#callSeq += 1;
    return { token: this.line.token, sessionKey: `session-${this.name}`, callSeq: this.#callSeq };
  }
}

const SUCCEEDED: Finished["outcome"] = { kind: "succeeded", result: 1 };

/** The subscription of an idle worker. */
function asks(line: Line): Call {
  const call = { kind: "hasWork", queues: [NOTES] };
  return { ...notes("watch", { token: line.token, call }), kind: "query" };
}

/** All calls stop until leases have been ended; one worker takes what is left, and then every row has its end. */
export async function restOfRows(line: Line): Promise<void> {
  await line.pass(6 * LEASE_MS);
  const collector = new RowWorker(line, "collector");
  for (let tries = 0; tries < TRIES && (await line.do<boolean>(asks(line))); tries += 1) {
    const jobs = await collector.claim(8);
    if (jobs.length > 0) await collector.complete(jobs);
    else await line.pass(1_000);
  }
  await line.pass(6 * LEASE_MS);
  await checkTables(line.point.begin());
  must(line.rows("announced").length <= 1, "a queue has two rows that say whether rows wait");
  must(!isAnnounced(line), "rows are announced, and none waits");
  for (const { _id, status } of line.rows(NOTES, "")) {
    must(status !== "new", "a row waits, and no worker is told");
    must(status !== "busy", "a row runs, and no worker has it");
    const told = line
      .rows("told", "")
      .filter(({ id }) => jobsOf(line, _id).some((job) => job._id === id));
    must(told.length <= 1, "a row had two ends");
    must(status !== "done" || told.length === 1, "a row is done, and its results are not there");
  }
  const open = line.rows("jobs").filter(({ status }) => !ENDED.has(status));
  must(open.length === 0, `a ${String(open[0]?.status)} job of a row is stuck`);
  must(line.rows("cancels").length === 0, "an ended job is still asked to end");
  must(line.rows("keys").length === 0, "a key is left of a row's job");
  must(line.rows("callbacks").length === 0, "a callback is stuck");
  const sessions = line.rows("sessions");
  const left = line
    .rows("timers")
    .filter((timer) => !KEPT_TIMERS.has(timer["kind"]) && !onlyForgets(timer, sessions, line.now));
  must(left.length === 0, `a timer of the ${String(left[0]?.["kind"])} remains`);
}

/** The loop goes on by itself until no row waits: each has been in one batch. */
export async function restOfLoop(line: Line): Promise<void> {
  await line.pass(6 * LEASE_MS);
  await checkTables(line.point.begin());
  for (const { status, times } of line.rows("lines", "")) {
    must(status !== "new", "a row waits, and no loop is under way");
    must(times === 1, "a row was in two batches");
  }
  const open = line.rows("jobs").filter(({ status }) => !ENDED.has(status));
  must(open.length === 0, `a ${String(open[0]?.status)} batch is stuck`);
}

const ENDED = new Set<unknown>(["succeeded", "failed", "canceled", "timedOut"]);
