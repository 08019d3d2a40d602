/** Bugs in how attempts and jobs end, and in callbacks. */
import type { Plan } from "../plan.js";
import type { NewJob } from "../work.js";
import { guard } from "./guards.js";
import type { Mutant } from "./mutant.js";

/** The plan has a job with a first attempt that continues it. */
function continues({ events }: Plan): boolean {
  return events.some(
    ({ do: what, queue, jobs }) =>
      what === "producers.enqueue" &&
      ["pulled", "ring", "inlined"].includes(queue as string) &&
      (jobs as NewJob[]).some(({ payload }) => payload.turns[0]?.end === "continues"),
  );
}

/** Two jobs of one queue have one key, and one of them replaces the job that has it. */
function replacesKeys({ events }: Plan): boolean {
  const seen = new Set<string>();
  for (const { queue, jobs } of events.filter(({ do: what }) => what === "producers.enqueue")) {
    for (const { options } of jobs as NewJob[]) {
      const key = options["key"] as { value: string; onConflict: string } | undefined;
      if (key === undefined) continue;
      const name = `${queue as string} ${key.value}`;
      if (key.onConflict === "replace" && seen.has(name)) return true;
      seen.add(name);
    }
  }
  return false;
}

export const ENDS: readonly Mutant[] = [
  {
    name: "one attempt more than the rule allows",
    changes: [
      {
        in: "failing.ts:failAttempt",
        condition: "failures maxAttempts",
        is: "failures <= retry.maxAttempts",
      },
    ],
    finds: ["counts"],
  },
  {
    name: "an attempt is made again later than its rule allows",
    changes: [
      { in: "failing.ts:failAttempt", call: "waitMs", gives: "retry.maxBackoffMs + 1 + $it" },
    ],
    finds: ["counts"],
  },
  {
    name: "a retry by hand begins with attempt 1 again",
    changes: [
      {
        in: "transitions.ts:retry",
        from: "failures: undefined",
        to: "attempt: 0, failures: undefined",
      },
    ],
    finds: ["state machine"],
    needs: ["retries"],
  },
  {
    name: "a handler that is a mutation runs by itself, and not with its job's end",
    changes: [
      {
        in: "execute.ts:execute",
        call: "runMutation",
        gives:
          "await ctx.scheduler.runAfter(0, internal.push.execute.executeOne, call), { result: { n: ((await load(ctx.db, job.payload)) as { n: number }).n, attempt } }",
      },
    ],
    finds: ["effects atomic"],
    queues: ["written"],
  },
  {
    name: "a handler's writes stay when it throws",
    changes: [{ in: "execute.ts:executeOne", condition: "why", is: false }],
    finds: ["effects atomic", "runs as promised"],
    queues: ["written"],
  },
  {
    name: "a callback runs in a transaction of its own, before the end is sure",
    changes: [
      {
        in: "callbacks.ts:tell",
        call: "runMutation",
        gives: "await ctx.scheduler.runAfter(0, internal.edges.callbacks.runCallback, owed)",
      },
    ],
    finds: ["callback once"],
  },
  {
    name: "a callback's writes stay where the platform refuses its return value",
    changes: [
      {
        in: "callbacks.ts:tell",
        call: "runMutation",
        gives: "await call(ctx, owed), await discardForgotten(ctx, owed)",
      },
    ],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a callback that ran at once is owed as well",
    changes: [{ in: "callbacks.ts:tell", call: "runMutation", gives: "$it, await owe(ctx, owed)" }],
    finds: ["callback once"],
  },
  {
    name: "a callback that threw is forgotten",
    changes: [{ in: "callbacks.ts:tell", without: "owe" }],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a callback's debt outlives the transaction that tells it",
    changes: guard(
      "two plans of one try of a callback, and the try",
      "the end of the debt in the transaction that delivers it",
    ),
    finds: ["callback once", "simulation"],
    needs: ["callbacks"],
  },
  {
    name: "an end's callback runs while an earlier one is owed",
    changes: [{ in: "callbacks.ts:lastOwed", condition: "again", is: "again !== false" }],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "the end that comes behind one that is told is forgotten",
    changes: [{ in: "callbacks.ts:tryCallback", without: "startNext" }],
    finds: ["simulation", "callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a canceled job's callback is forgotten",
    changes: [
      {
        in: "cancel.ts:cancelJob",
        call: "transitions.cancel",
        gives: "$it, (ctx.effects.callbacks = [])",
      },
    ],
    finds: ["callback once"],
    needs: ["cancels"],
  },
  {
    name: "the callback of an attempt that was lost is forgotten",
    changes: [
      { in: "lostLeases.ts:endLost", call: "timeOut", gives: "$it, (ctx.effects.callbacks = [])" },
    ],
    finds: ["callback once"],
  },
  {
    name: "a job's continuation is forgotten",
    changes: [
      { in: "recording.ts:recordOne", condition: "continued length", is: "continued.length > 1" },
    ],
    finds: ["no job lost"],
    where: continues,
  },
  {
    name: "an enqueue that finds a job with its key reports it as new",
    changes: [{ in: "enqueue.ts:enqueueOne", from: "isNew: false }", to: "isNew: true }" }],
    finds: ["no job lost"],
  },
  {
    name: "the end of a job that was replaced frees the key of the other",
    changes: [
      { in: "enqueue.ts:outdo", call: "cancel", gives: "await cancel(ctx, job, queue, REPLACED)" },
      {
        in: "keys.ts:giveKey",
        call: "db.replace",
        gives: `(await db.get("keys", row._id)) !== null && ($it)`,
      },
    ],
    finds: ["keys"],
    where: replacesKeys,
  },
  {
    name: "a running job that is canceled ends as its handler says",
    changes: [{ in: "outcomes.ts:effective", returns: "sound(reported)" }],
    finds: ["canceled"],
    needs: ["cancels"],
  },
  {
    name: "a key is not free when its job has ended",
    changes: guard(
      "an enqueue with a key, and the success of the job that has it",
      "freeing the key with the end of its job",
    ),
    finds: ["keys"],
  },
];
