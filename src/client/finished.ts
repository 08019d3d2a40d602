/**
 * Turns workers' reports into the component's arguments: results are checked against their queue's validator, and jobs
 * to continue with become jobs of their queues. A result that does not fit fails its job, reports that to the worker,
 * and holds up no other: the work is done, and no better report could come.
 */
import type { GenericDatabaseReader } from "convex/server";
import { v, type Infer } from "convex/values";
import {
  checkContinueKey,
  checkStorable,
  CONTINUED_MAX,
  conveyorError,
  firstCharacters,
  isConveyorError,
  vContinuation,
  vFinished,
  type Answer,
  type Continuation,
  type Finished,
  type FinishedAnswer,
  type Lease,
  logLine,
} from "../shared/index.js";
import { explainBadResult } from "../shared/mismatch.js";
import type { Served } from "./served.js";
import type { AnyQueue } from "./types.js";

const { id, attempt, outcome } = vFinished.fields;

/** One outcome, with its job's queue: it names the validator of the result. Without it, all that are served are tried. */
export const vWorkerFinished = v.object({
  ...{ id, attempt, outcome },
  queue: v.optional(v.string()),
  continued: v.optional(v.array(vContinuation)),
});
export type WorkerFinished = Infer<typeof vWorkerFinished>;

/** An outcome that is recorded as a failure instead. */
export interface RefusedResult {
  id: string;
  attempt: number;
  error: string;
}

interface Rules {
  served: Served;
  continues: Served;
  /** Of a mutation: ids in results must be of their table. An inline handler's action has none to ask. */
  db?: GenericDatabaseReader<any>;
}

/** Checks the outcomes. A repeated call is checked in the same way, and so is answered the same. */
export async function checkFinished(
  { served, continues, db }: Rules,
  finished: readonly WorkerFinished[],
): Promise<{ checked: Finished[]; refused: RefusedResult[]; notServed: RefusedResult[] }> {
  const checked: Finished[] = [];
  const refused: RefusedResult[] = [];
  const notServed: RefusedResult[] = [];
  for (const one of finished) {
    const { id, attempt, outcome } = one;
    if (isUnserved(served, one)) {
      notServed.push({ id, attempt, error: unserved(one.queue ?? "") });
      checked.push({ id, attempt, outcome: { kind: "released" } });
      continue;
    }
    const fit = checkResult(served, one, db);
    const following = "error" in fit ? fit : await follow(continues, one);
    if ("error" in following) {
      const { error } = following;
      refused.push({ id, attempt, error });
      checked.push({ id, attempt, outcome: { kind: "failed", error } });
    } else {
      checked.push({ id, attempt, outcome, ...fit, ...following });
    }
  }
  return { checked, refused, notServed };
}

/** The answers, with the results marked that were not recorded, since their queue is not served any more. */
export function answersWith(
  notServed: readonly RefusedResult[],
  answers: readonly Answer[],
): FinishedAnswer[] {
  return answers.map((one) =>
    one.answer === "ok" && notServed.some((other) => isSame(one, other))
      ? { ...one, answer: "queueNotServed" }
      : one,
  );
}

const isSame = (one: Lease, other: Lease) => one.id === other.id && one.attempt === other.attempt;

/** The deployment's own log has results that were not recorded too. Leases that do not stand have no line. */
export function logRefused(
  refused: readonly RefusedResult[],
  answers: readonly Pick<Answer, "id" | "attempt" | "answer">[],
): void {
  for (const { id: job, attempt, error } of refused) {
    const stands = answers.some((one) => isSame(one, { id: job, attempt }) && one.answer === "ok");
    if (stands) console.warn(logLine("warn", "resultRefused", { job, attempt, error }));
  }
}

/** A queue that is not served any more has no validator here: its result is not recorded, and the job goes back. */
function isUnserved(served: Served, { queue, outcome }: WorkerFinished): boolean {
  if (outcome.kind !== "succeeded") return false;
  return served.size === 0 || (queue !== undefined && !served.has(queue));
}

/**
 * Checks a result by the validator of the queue that the worker names, or of all that are served; the component checks
 * whether the job's own is among the queues that take it.
 */
function checkResult(
  served: Served,
  { queue: name, outcome }: WorkerFinished,
  db: GenericDatabaseReader<any> | undefined,
): { fits?: string[] } | { error: string } {
  if (outcome.kind !== "succeeded") return {};
  const errors = [...served.values()]
    .filter((queue) => name === undefined || queue.name === name)
    .map((queue) => ({
      queue: queue.name,
      error: explainBadResult(queue.name, queue.result, outcome.result ?? null, db),
    }));
  const fits = errors.filter(({ error }) => error === null).map(({ queue }) => queue);
  return fits.length > 0 ? { fits } : { error: errors[0]!.error! };
}

function unserved(queue: string): string {
  return (
    `queueNotServed: no queue "${firstCharacters(queue, NAME_SHOWN)}" is served here, so that its result cannot be checked; ` +
    "the job goes back. Add the queue to `conveyor.workerApi({ queues: […] })` until its jobs have ended."
  );
}
const NAME_SHOWN = 100;

/** The jobs that are to follow. Only a success is followed: a repeated attempt names its following jobs again. */
export async function follow(
  continues: Served,
  { outcome, continued = [] }: WorkerFinished,
): Promise<Pick<Finished, "continued"> | { error: string }> {
  if (outcome.kind !== "succeeded" || continued.length === 0) return {};
  try {
    if (continued.length > CONTINUED_MAX) throw tooMany(continued.length);
    const made: NonNullable<Finished["continued"]> = [];
    for (const one of continued) {
      const queue = find(continues, one.queue);
      checkStorable("The payload", one.payload);
      checkContinueKey(one.queue, one.options ?? {});
      const job = await queue.newJob(one.payload, one.options);
      const last = made.at(-1);
      // Consecutive jobs of one queue go together, in their order.
      if (last?.queue.name === one.queue) last.jobs.push(job);
      else made.push({ queue: await queue.declaration(), jobs: [job] });
    }
    return { continued: made };
  } catch (error) {
    // For any error: an outcome that cannot be recorded would be sent again for ever.
    const why = isConveyorError(error) ? error.data.message : String(error);
    return { error: `The job that was to follow cannot be enqueued: ${why}` };
  }
}

function find(continues: Served, name: Continuation["queue"]): AnyQueue {
  const queue = continues.get(name);
  if (queue !== undefined) return queue;
  throw conveyorError(
    "unknownQueue",
    `Workers may not continue with the queue "${name}"; they may with ${[...continues.keys()].join(", ") || "none"}. ` +
      "Add it to `conveyor.workerApi({ queues: […], continueWith: […] })`.",
    { queue: name },
  );
}

function tooMany(got: number): Error {
  return conveyorError(
    "invalidArgument",
    `A job may be followed by ${CONTINUED_MAX} jobs; this one by ${got}. Let one of them enqueue the rest.`,
    { got, max: CONTINUED_MAX },
  );
}
