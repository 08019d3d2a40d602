/** Handlers with mistakes: each must cost its own attempt only. */
import { NonRetryableError, RetryAfterError, type Queue } from "convex-conveyor";
import { createFunctionHandle, makeFunctionReference } from "convex/server";
import { ConvexError, v } from "convex/values";
import { internal } from "./_generated/api.js";
import { action, internalAction, internalMutation, mutation, query } from "./_generated/server.js";
import { conveyor } from "./queues.js";

/** By reference: the payload selects the handler's behaviour. */
export const odd = conveyor.queue("odd", {
  payload: v.any(),
  maxParallelism: 24,
  timeoutMs: 5_000,
  retention: { failedMs: 60 * 60_000 },
  action: () => internal.odd.misbehave,
});

/** The same handlers in the lane's own process. */
export const inlined = conveyor.queue("inlined", {
  payload: v.any(),
  result: v.union(v.null(), v.string(), v.object({ said: v.string() })),
  maxParallelism: 24,
  timeoutMs: 5_000,
  inline: () => internal.odd.inlineWork,
});
export const inlineWork = inlined.inline(async (_ctx, job) => {
  if (job.payload === "listens") return await untilAborted(job.signal);
  if (job.payload === "follows") {
    job.continueWith(odd, "returns");
    return { said: "followed" };
  }
  if (job.payload === "talks") {
    talk(job);
    return { said: "much" };
  }
  return await behave(job.payload, job.snooze);
});

/** Run in Node: `oddNode.ts`. */
export const hashes = conveyor.queue("hashes", {
  payload: v.string(),
  result: v.string(),
  inline: () => internal.oddNode.work,
});

/** Mutations with effects that must be there if and only if their job has succeeded. */
export const ledger = conveyor.queue("ledger", {
  payload: v.any(),
  maxParallelism: 24,
  onComplete: () => internal.odd.refuses,
});
ledger.handledBy({ mutation: internal.odd.bookOddly, job: true });

const QUEUES: Record<string, Queue<any, any, any>> = { odd, inlined, hashes, ledger };

interface Talks {
  progress: (value: unknown) => void;
  log: (message: string) => { update: (change: { message: string }) => void };
  write: (text: string) => void;
}

function talk({ progress, log, write }: Talks): void {
  progress({ done: 1 });
  log("begun").update({ message: "begun, and changed" });
  write("a line\n");
  write("and the rest");
}

async function behave(what: unknown, snooze: (ms: number) => never): Promise<any> {
  const huge = "x".repeat(2_000_000);
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  switch (what) {
    case "returns":
      return "fine";
    case "returns nothing":
      return;
    case "returns too much":
      return huge;
    case "returns a cycle":
      return cycle;
    case "returns a function":
      return { f: () => 1 };
    case "returns depth": {
      let deep: unknown = 1;
      for (let i = 0; i < 80; i++) deep = [deep];
      return deep;
    }
    case "throws a string":
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw "a string";
    case "throws undefined":
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw undefined;
    case "throws much":
      throw new Error(huge);
    case "throws a cycle":
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw cycle;
    case "throws an error":
      throw new TypeError("It broke\nin two: lines.");
    case "throws a ConvexError":
      throw new ConvexError({ code: "odd", why: "it is" });
    case "never again":
      throw new NonRetryableError("It would fail again.");
    case "later":
      throw new RetryAfterError(30_000, "Not now.");
    case "snoozes":
      return snooze(60 * 60_000);
    case "never settles":
      return await new Promise(() => {});
    default:
      return null;
  }
}

/** Asks nothing: only its signal ends it. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  throw new Error("It got its signal to stop.");
}

export const misbehave = odd.action(async (ctx, job) => {
  const { payload } = job;
  if (payload === "talks") {
    talk(job);
    return "much";
  }
  if (payload === "follows") {
    job.continueWith(hashes, "after it");
    return "followed";
  }
  if (payload === "listens") return await untilAborted(job.signal);
  if (payload === "asks") {
    for (let i = 0; i < 40; i++) {
      if (await job.isCanceled()) return await Promise.reject(new Error("canceled"));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return "it was not canceled";
  }
  if (payload === "calls what is not there") {
    return await ctx.runAction(absent, {});
  }
  return await behave(payload, job.snooze);
});

/** An action of the app's own, which has nothing to do with jobs. */
export const busy = action({
  args: { ms: v.number() },
  returns: v.null(),
  handler: async (_ctx, { ms }) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return null;
  },
});

/** Stands for a function that a deploy has removed. */
export const idle = internalAction({ args: {}, handler: async () => null });
const absent = makeFunctionReference<"action", Record<string, never>, null>("odd:absent");

export const bookOddly = internalMutation({
  args: ledger.handlerArgs,
  returns: v.union(v.null(), v.string()),
  handler: async (ctx, { payload }): Promise<any> => {
    const book = async (text: string) =>
      await ctx.db.insert("notes", { n: 0, what: `${payload}${text}`, at: 0 });
    if (payload === "writes too much") {
      for (let i = 0; i < 20_000; i++) await ctx.db.insert("notes", { n: 1, what: "much", at: 0 });
    }
    if (payload === "writes a lot") {
      for (let i = 0; i < 3_000; i++) await ctx.db.insert("notes", { n: 2, what: "lot", at: 0 });
    }
    await book("");
    if (payload === "is refused what it returns") return { not: "declared" };
    return await behave(payload, () => {
      throw new Error("It cannot.");
    });
  },
});

/** Throws for one of the payloads. */
export const refuses = internalMutation({
  args: ledger.onCompleteArgs,
  returns: v.null(),
  handler: async (_ctx, { payload }) => {
    if (payload === "is told of badly") throw new Error("The callback throws.");
    return null;
  },
});

export const enqueue = mutation({
  args: { queue: v.string(), payloads: v.array(v.any()), retry: v.optional(v.boolean()) },
  returns: v.array(v.string()),
  handler: async (ctx, { queue, payloads, retry }): Promise<string[]> => {
    const into = QUEUES[queue]!;
    return await into.enqueueBatch(ctx, payloads, retry === undefined ? {} : { retry });
  },
});

/** Queues with long jobs. */
export const enqueueLong = mutation({
  args: { queue: v.string(), payloads: v.array(v.any()) },
  returns: v.array(v.string()),
  handler: async (ctx, { queue, payloads }): Promise<string[]> =>
    await QUEUES[queue]!.enqueueBatch(ctx, payloads, { timeoutMs: 60_000 }),
});

/** In each kind of queue one that must end soon, and one that waits for a function which is gone. */
export const enqueueUrgent = mutation({
  args: { payload: v.any(), deadlineMs: v.number() },
  returns: v.record(v.string(), v.string()),
  handler: async (ctx, { payload, deadlineMs }): Promise<Record<string, string>> => ({
    action: await odd.enqueue(ctx, payload, { deadlineMs }),
    inline: await inlined.enqueue(ctx, payload, { deadlineMs }),
    mutation: await ledger.enqueue(ctx, payload, { deadlineMs }),
    absent: await odd.enqueue(ctx, {}, { deadlineMs, handler: await removed() }),
  }),
});

/** Mutations of which each must end a step later than the one before. */
export const enqueueDeadlines = mutation({
  args: { payloads: v.array(v.string()), fromMs: v.number(), stepMs: v.number() },
  returns: v.array(v.string()),
  handler: async (ctx, { payloads, fromMs, stepMs }): Promise<string[]> =>
    await Promise.all(
      payloads.map((payload, i) =>
        ledger.enqueue(ctx, payload, { retry: true, deadlineMs: fromMs + i * stepMs }),
      ),
    ),
});

/** The handle of a function that a deploy has removed since, as the local backend writes it. */
async function removed(): Promise<`function://${string}`> {
  const handle: string = await createFunctionHandle(internal.odd.idle);
  const address = atob(handle.slice("function://".length)).replace("idle", "absent");
  return `function://${btoa(address)}`;
}

/** Jobs with a handler of another kind than they name. */
export const enqueueWrong = mutation({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx): Promise<string[]> => [
    await odd.enqueue(ctx, {}, { handler: { action: internal.odd.aMutation as never } }),
    await odd.enqueue(ctx, {}, { handler: await removed() }),
    await odd.enqueue(ctx, "no object", { handler: internal.odd.idle }),
    await inlined.enqueue(ctx, {}, { handler: internal.odd.idle }),
  ],
});

export const aMutation = internalMutation({ args: {}, handler: async () => null });

/** How each attempt went. */
export const attempts = query({
  args: { queue: v.string(), id: v.string() },
  returns: v.any(),
  handler: async (ctx, { queue, id }): Promise<any> => await QUEUES[queue]!.attempts(ctx, id),
});

export const cancel = mutation({
  args: { queue: v.string(), id: v.string() },
  returns: v.any(),
  handler: async (ctx, { queue, id }): Promise<any> =>
    await QUEUES[queue]!.cancel(ctx, id as never),
});

export const look = query({
  args: { queue: v.string(), ids: v.array(v.string()) },
  returns: v.any(),
  handler: async (ctx, { queue, ids }): Promise<any> =>
    await QUEUES[queue]!.statusBatch(ctx, ids as never),
});

export const succeeded = query({
  args: {},
  returns: v.number(),
  handler: async (ctx): Promise<number> => (await odd.counts(ctx)).succeeded.count,
});

export const heard = query({
  args: { queue: v.string(), id: v.string() },
  returns: v.any(),
  handler: async (ctx, { queue, id }): Promise<any> => {
    const of = QUEUES[queue]!;
    const logs = await of.logs(ctx, id);
    const output = await of.output(ctx, id);
    return {
      logs: logs?.entries.map(({ message }) => message),
      output: output?.parts.map(({ text }) => text).join(""),
    };
  },
});

export const booked = query({
  args: {},
  returns: v.array(v.string()),
  handler: async (ctx): Promise<string[]> =>
    (
      await ctx.db
        .query("notes")
        .withIndex("n", (q) => q.eq("n", 0))
        .collect()
    ).map(({ what }) => what),
});
