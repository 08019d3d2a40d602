/**
 * What workers report, made into what the component takes: results are checked against their queue's validator, and jobs
 * to continue with become jobs of their queues. What does not fit fails its job, says so to the worker, and holds up no
 * other: the work is done, and nobody could report it better.
 */
import { v, type Infer } from "convex/values";
import {
  checkStorable,
  CONTINUED_MAX,
  conveyorError,
  isConveyorError,
  vContinuation,
  vFinished,
  type Continuation,
  type Finished,
  logLine,
} from "../shared/index.js";
import { explainBadResult } from "../shared/mismatch.js";
import type { AnyQueue } from "./types.js";

export type Served = ReadonlyMap<string, AnyQueue>;

const { id, attempt, outcome } = vFinished.fields;

/** One outcome, with its job's queue: it names the validator of the result. Without it, any that fits will do. */
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

/** Checks what finished. A repeated call is checked in the same way, and so is told the same. */
export async function checkFinished(
  { served, continues }: { served: Served; continues: Served },
  finished: readonly WorkerFinished[],
): Promise<{ checked: Finished[]; refused: RefusedResult[] }> {
  const checked: Finished[] = [];
  const refused: RefusedResult[] = [];
  for (const one of finished) {
    const { id, attempt, outcome } = one;
    const error = whyRefused(served, one);
    const following = error === null ? await follow(continues, one) : { error };
    if ("error" in following) {
      refused.push({ id, attempt, error: following.error });
      // The deployment's own log has it too: an older worker does not hear of it.
      console.warn(logLine("warn", "resultRefused", { job: id, attempt, error: following.error }));
      checked.push({ id, attempt, outcome: { kind: "failed", error: following.error } });
    } else {
      checked.push({ id, attempt, outcome, ...following });
    }
  }
  return { checked, refused };
}

/**
 * A queue that is not served any more (a deploy has dropped it while the job ran) has no validator left: the outcome of
 * work that is done is taken as it is.
 */
function whyRefused(served: Served, { queue: name, outcome }: WorkerFinished): string | null {
  if (outcome.kind !== "succeeded") return null;
  const errors = [...served.values()]
    .filter((queue) => name === undefined || queue.name === name)
    .map((queue) => explainBadResult(queue.name, queue.result, outcome.result ?? null));
  return errors.includes(null) ? null : (errors[0] ?? null);
}

/** The jobs that are to follow. Only a success is followed: an attempt that is made again says again what follows. */
async function follow(
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
      const job = await queue.newJob(one.payload, one.options);
      const last = made.at(-1);
      // Those that follow one another into one queue go together, in their order.
      if (last?.queue.name === one.queue) last.jobs.push(job);
      else made.push({ queue: await queue.declaration(), jobs: [job] });
    }
    return { continued: made };
  } catch (error) {
    if (!isConveyorError(error)) throw error;
    return { error: `The job that was to follow cannot be enqueued: ${error.data.message}` };
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
    `A job may be followed by ${CONTINUED_MAX} others; this one by ${got}. Let one of them enqueue the rest.`,
    { got, max: CONTINUED_MAX },
  );
}
