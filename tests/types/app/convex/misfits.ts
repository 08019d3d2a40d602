/**
 * Mistakes that types see. Each line below a directive is an error, and its text holds the words of the directive, with each
 * compiler: `tests/types/checkCompiler.ts`.
 */
import { v } from "convex/values";
import { internal } from "./_generated/api";
import { internalAction, mutation, query } from "./_generated/server";
import { conveyor } from "./conveyor";
import { emails } from "./emails";

export const other = internalAction({ args: { subject: v.string() }, handler: async () => 1 });
export const fits = internalAction({
  args: { to: v.string(), body: v.string() },
  handler: async () => ({ messageId: "1" }),
});
export const fails = internalAction({
  args: { to: v.string(), body: v.string() },
  handler: async () => ({ messageId: 1 }),
});
export const told = internalAction({
  args: emails.handlerArgs,
  handler: async () => ({ messageId: "1" }),
});

// --- The definition
// @ts-expect-error Write `() =>` before the reference.
conveyor.queue("a", { action: internal.emails.send });
// @ts-expect-error Write `() =>` before the reference.
conveyor.queue("b", { onComplete: internal.emails.sent });
// @ts-expect-error Write `() =>` before the reference.
conveyor.queue("c", { inline: internal.emails.ping });
// @ts-expect-error Did you mean to write 'maxParallelism'?
conveyor.queue("d", { maxParalelism: 3 });
// @ts-expect-error Type 'number' is not assignable to type 'RetryOption | undefined'.
conveyor.queue("e", { retry: 3 });
// @ts-expect-error Type 'string' is not assignable to type 'number'.
conveyor.queue("j", { deadlineMs: "1 day" });
// @ts-expect-error Did you mean to write 'deadlineMs'?
conveyor.queue("k", { deadlineMS: 60_000 });
// @ts-expect-error 'attempts' does not exist in type 'Partial<{
conveyor.queue("f", { retry: { attempts: 3 } });
// @ts-expect-error Type 'string' is not assignable to type 'Validator<
conveyor.queue("g", { payload: { to: "string" } });
// @ts-expect-error Type '"optional"' is not assignable to type '"required"'.
conveyor.queue("h", { payload: v.optional(v.string()) });
// @ts-expect-error Write `() =>` before the reference.
conveyor.queue("i", { action: async () => {}, mutation: internal.emails.count });

// --- Handlers
export const noResult =
  // @ts-expect-error Type 'void' is not assignable to type '{ messageId: string; }'.
  emails.action(async () => {});
export const wrongResult =
  // @ts-expect-error Type 'number' is not assignable to type 'string'.
  emails.action(async () => ({ messageId: 1 }));
export const wrongUse = emails.action(async (_ctx, job) => {
  // @ts-expect-error Property 'subject' does not exist on type
  void job.payload.subject;
  // @ts-expect-error Did you mean to write 'percent'?
  job.progress({ percents: 1 });
  // @ts-expect-error Argument of type 'string' is not assignable to parameter of type 'AnyQueue'.
  job.continueWith("emails", { to: "a", body: "b" });
  // @ts-expect-error Property 'body' is missing in type '{ to: string; }'
  job.continueWith(emails, { to: "a" });
  // @ts-expect-error Property 'flush' does not exist on type 'ActionJob<
  job.flush();
  return { messageId: "1" };
});
export const inTransaction = emails.mutation(async (_ctx, job) => {
  // @ts-expect-error Property 'signal' does not exist on type 'MutationJob<
  void job.signal;
  // @ts-expect-error Property 'progress' does not exist on type 'MutationJob<
  job.progress({ percent: 1 });
  // @ts-expect-error Property 'write' does not exist on type 'MutationJob<
  job.write("x");
  return { messageId: "1" };
});
export const ended = emails.completed(async (_ctx, { outcome, payload }) => {
  // @ts-expect-error Property 'result' does not exist on type '{ error: string; status: "failed"; }'.
  void outcome.result;
  // @ts-expect-error Property 'subject' does not exist on type
  void payload.subject;
});
// @ts-expect-error does not fit the arguments of this handler: declare the queue's `payload` as its `args`.
emails.handledBy(internal.misfits.other);
// @ts-expect-error does not fit the queue's result: return that, or declare the queue's `result` so.
emails.handledBy(internal.misfits.fails);
// @ts-expect-error It takes its job: write `{ action: …, job: true }`, or name it in the queue's definition.
emails.handledBy(internal.misfits.told);
// @ts-expect-error Type '"action"' is not assignable to type '"mutation"'.
emails.handledBy({ mutation: internal.misfits.fits });
// @ts-expect-error Type '"mutation"' is not assignable to type '"action"'.
emails.handledBy(internal.emails.note);

// --- Enqueuing
export const enqueues = mutation({
  args: {},
  handler: async (ctx) => {
    const mail = { to: "a", body: "b" };
    // @ts-expect-error Expected 2-3 arguments, but got 1.
    await emails.enqueue(ctx);
    // @ts-expect-error Expected 2-3 arguments, but got 1.
    await emails.enqueue(mail);
    // @ts-expect-error Property 'body' is missing in type '{ to: string; }'
    await emails.enqueue(ctx, { to: "a" });
    // @ts-expect-error Type 'number' is not assignable to type 'string'.
    await emails.enqueue(ctx, { ...mail, to: 1 });
    // @ts-expect-error 'delay' does not exist in type 'EnqueueOptions<
    await emails.enqueue(ctx, mail, { delay: 1_000 });
    // @ts-expect-error Type 'Date' is not assignable to type 'number'.
    await emails.enqueue(ctx, mail, { runAt: new Date() });
    // @ts-expect-error Type 'string' is not assignable to type 'number'.
    await emails.enqueue(ctx, mail, { deadlineMs: "90s" });
    // @ts-expect-error 'deadlineAt' does not exist in type 'EnqueueOptions<
    await emails.enqueue(ctx, mail, { deadlineAt: 1_800_000_000_000 });
    // @ts-expect-error Type 'number' is not assignable to type 'RetryOption | undefined'.
    await emails.enqueue(ctx, mail, { retry: 3 });
    // @ts-expect-error does not fit the arguments of this handler: declare the queue's `payload` as its `args`.
    await emails.enqueue(ctx, mail, { handler: internal.misfits.other });
    // @ts-expect-error Type '"action"' is not assignable to type '"mutation"'.
    await emails.enqueue(ctx, mail, { onComplete: internal.misfits.fits });
    // @ts-expect-error Property 'key' is missing in type '{}'
    await emails.enqueueUnique(ctx, mail, {});
  },
});
export const enqueuesInQuery = query({
  args: {},
  handler: async (ctx) => {
    // @ts-expect-error Property 'runMutation' is missing in type 'GenericQueryCtx<
    await emails.enqueue(ctx, { to: "a", body: "b" });
  },
});

// --- Leave
// @ts-expect-error Property 'authorize' is missing in type '{}'
emails.api({});
// @ts-expect-error Type 'undefined' is not assignable to type 'boolean | Promise<boolean>'.
emails.api({ authorize: (ctx) => void ctx });
// @ts-expect-error Type 'void' is not assignable to type 'boolean'.
emails.api({ authorize: async () => {} });
