/** Queues in every state that a dashboard has to show. */
import { Conveyor } from "convex-conveyor";
import { v } from "convex/values";
import { components, internal } from "./_generated/api.js";
import type { DataModel } from "./_generated/dataModel.js";

export const conveyor = new Conveyor<DataModel>(components.conveyor);

/** Well: short jobs, some of which fail once. */
export const mails = conveyor.queue("mails", {
  payload: v.object({ to: v.string(), subject: v.string(), fails: v.boolean() }),
  retry: { maxAttempts: 3, initialBackoffMs: 500, base: 2 },
  maxParallelism: 8,
});
mails.handledBy(internal.handlers.send);

/** Long jobs that report their progress, log, and stream their output. */
export const answers = conveyor.queue("answers", {
  payload: { question: v.string(), words: v.number(), everyMs: v.number() },
  result: v.object({ words: v.number() }),
  progress: v.object({ percent: v.number() }),
  action: () => internal.handlers.answer,
  maxParallelism: 4,
});

/** Not well: every job fails for good. */
export const webhooks = conveyor.queue("webhooks", {
  payload: v.object({ url: v.string() }),
  maxParallelism: 4,
});
webhooks.handledBy(internal.handlers.call);

/** For workers outside. */
export const renders = conveyor.queue("renders", {
  payload: v.object({ frame: v.number(), ms: v.number() }),
  result: v.object({ bytes: v.number() }),
});

/** No worker serves these. */
export const imports = conveyor.queue("imports", { payload: v.object({ file: v.string() }) });
