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
    replace: [
      {
        file: "component/attempts/failing.ts",
        text: "!fatal && failures < retry.maxAttempts;",
        by: "!fatal && failures <= retry.maxAttempts;",
      },
    ],
    finds: ["counts"],
  },
  {
    name: "an attempt is made again later than its rule allows",
    replace: [
      {
        file: "component/attempts/failing.ts",
        text: "const dueAt = now + waitMs(retry, failures, failure.retryAfterMs);",
        by: "const dueAt = now + retry.maxBackoffMs + 1 + waitMs(retry, failures, failure.retryAfterMs);",
      },
    ],
    finds: ["counts"],
  },
  {
    name: "a retry by hand begins with attempt 1 again",
    replace: [
      {
        file: "component/edges/transitions.ts",
        text: "failures: undefined,\n    resets: undefined,\n    releases: undefined,",
        by: "attempt: 0,\n    failures: undefined,\n    resets: undefined,\n    releases: undefined,",
      },
    ],
    finds: ["state machine"],
    needs: ["retries"],
  },
  {
    name: "a handler that is a mutation runs by itself, and not with its job's end",
    replace: [
      {
        file: "component/push/execute.ts",
        text: "const result: Value = await ctx.runMutation(internal.push.execute.executeOne, call, limits);",
        by: "await ctx.scheduler.runAfter(0, internal.push.execute.executeOne, call);\n    const { n } = (await load(ctx.db, job.payload)) as { n: number };\n    const result: Value = limits === null ? null : { n, attempt };",
      },
    ],
    finds: ["effects atomic"],
    queues: ["written"],
  },
  {
    name: "a handler's writes stay when it throws",
    replace: [
      {
        file: "component/push/execute.ts",
        text: 'const reference = handle as FunctionHandle<"mutation", Record<string, Value>>;\n    const result = (await ctx.runMutation(reference, args as Record<string, Value>)) ?? null;\n    const why = whyNoResult(queue, rule, result);\n    if (why !== null) throw new Error(why);',
        by: 'const reference = handle as FunctionHandle<"mutation", Record<string, Value>>;\n    const result = (await ctx.runMutation(reference, args as Record<string, Value>)) ?? null;\n    if (queue === "") throw new Error(whyNoResult(queue, rule, result)!);',
      },
    ],
    finds: ["effects atomic", "runs as promised"],
    queues: ["written"],
  },
  {
    name: "a callback runs in a transaction of its own, before the end is sure",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: `await ctx.runMutation(internal.edges.callbacks.runCallback, owed, {
      transactionLimits: CALLBACK_INLINE_LIMITS,
    });`,
        by: `await ctx.scheduler.runAfter(0, internal.edges.callbacks.runCallback, owed);`,
      },
    ],
    finds: ["callback once"],
  },
  {
    name: "a callback's writes stay where the platform refuses its return value",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: `await ctx.runMutation(internal.edges.callbacks.runCallback, owed, {
      transactionLimits: CALLBACK_INLINE_LIMITS,
    });`,
        by: `await call(ctx, owed);
    await discardForgotten(ctx, owed);`,
      },
    ],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a callback that ran at once is owed as well",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: `      transactionLimits: CALLBACK_INLINE_LIMITS,
    });
  } catch`,
        by: `      transactionLimits: CALLBACK_INLINE_LIMITS,
    });
    await owe(ctx, owed);
  } catch`,
      },
    ],
    finds: ["callback once"],
  },
  {
    name: "a callback that threw is forgotten",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: "await owe(ctx, owed, { error: cutError(errorText(error)), delayMs: CALLBACK_BACKOFF_MS });",
        by: "cutError(errorText(error));",
      },
    ],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a callback's debt outlives the transaction that tells it",
    replace: guard(
      "two plans of one try of a callback, and the try",
      "the end of the debt in the transaction that delivers it",
    ),
    finds: ["callback once", "simulation"],
    needs: ["callbacks"],
  },
  {
    name: "an end's callback runs while an earlier one is owed",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: "if (again !== true) return null;",
        by: "if (again !== false) return null;",
      },
    ],
    finds: ["callback once"],
    needs: ["callbacks"],
  },
  {
    name: "the end that comes behind one that is told is forgotten",
    replace: [
      {
        file: "component/edges/callbacks.ts",
        text: "if (row.planned !== undefined) await ctx.scheduler.cancel(row.planned);\n    await startNext(ctx, row);",
        by: "if (row.planned !== undefined) await ctx.scheduler.cancel(row.planned);",
      },
    ],
    finds: ["simulation", "callback once"],
    needs: ["callbacks"],
  },
  {
    name: "a canceled job's callback is forgotten",
    replace: [
      {
        file: "component/manage/cancel.ts",
        text: "await transitions.cancel(ctx, job, await getQueue(ctx.db, job.queue), reason);",
        by: "await transitions.cancel(ctx, job, await getQueue(ctx.db, job.queue), reason);\n    ctx.effects.callbacks = [];",
      },
    ],
    finds: ["callback once"],
    needs: ["cancels"],
  },
  {
    name: "the callback of an attempt that was lost is forgotten",
    replace: [
      {
        file: "component/tend/lostLeases.ts",
        text: "await timeOut(ctx, job, queue, error);",
        by: "await timeOut(ctx, job, queue, error);\n  ctx.effects.callbacks = [];",
      },
    ],
    finds: ["callback once"],
  },
  {
    name: "a job's continuation is forgotten",
    replace: [
      {
        file: "component/attempts/recording.ts",
        text: "if (continued.length > 0) await recordContinued(",
        by: "if (continued.length > 1) await recordContinued(",
      },
    ],
    finds: ["no job lost"],
    where: continues,
  },
  {
    name: "an enqueue that finds a job with its key reports it as new",
    replace: [
      {
        file: "component/enter/enqueue.ts",
        text: "return { id: found.owner!, isNew: false };",
        by: "return { id: found.owner!, isNew: true };",
      },
    ],
    finds: ["no job lost"],
  },
  {
    name: "the end of a job that was replaced frees the key of the other",
    replace: [
      {
        file: "component/enter/enqueue.ts",
        text: "await cancel(ctx, keyless, queue, REPLACED);",
        by: "await cancel(ctx, job, queue, REPLACED);",
      },
      {
        file: "component/rows/keys.ts",
        text: 'else await db.replace("keys", row._id, key);',
        by: 'else if ((await db.get("keys", row._id)) !== null) await db.replace("keys", row._id, key);',
      },
    ],
    finds: ["keys"],
    where: replacesKeys,
  },
  {
    name: "a running job that is canceled ends as its handler says",
    replace: [
      {
        file: "component/attempts/outcomes.ts",
        text: `return outcome.kind === "canceled" ? outcome : { kind: "canceled" };`,
        by: "return outcome;",
      },
    ],
    finds: ["canceled"],
    needs: ["cancels"],
  },
  {
    name: "a key is not free when its job has ended",
    replace: guard(
      "an enqueue with a key, and the success of the job that has it",
      "freeing the key with the end of its job",
    ),
    finds: ["keys"],
  },
];
