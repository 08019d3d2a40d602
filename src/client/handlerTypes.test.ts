/** Handlers that fit their queue, and those that are compile errors. What is checked here is checked by the compiler. */
import { componentsGeneric, makeFunctionReference, type RegisteredAction } from "convex/server";
import { v } from "convex/values";
import { describe, expect, test } from "vitest";
import { Conveyor, type ComponentApi, type HandledJob } from "./index.js";

const conveyor = new Conveyor(
  (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor,
);
const mail = { to: v.string(), copies: v.number() };
let queues = 0;
/** A new one, since a queue takes one handler. */
const emails = () =>
  conveyor.queue(`emails${(queues += 1)}`, {
    payload: v.object(mail),
    result: v.object({ messageId: v.string() }),
  });

type Mail = { to: string; copies: number };
type Sent = { messageId: string };
const action = <Args extends Record<string, any>, Result>() =>
  makeFunctionReference<"action", Args, Result>("emails:send");
const mutation = <Args extends Record<string, any>, Result>() =>
  makeFunctionReference<"mutation", Args, Result>("emails:book");

describe("a handler fits its queue", () => {
  test("if it takes the payload, or more than that, and returns a result", () => {
    emails().handledBy(action<Mail, Sent>());
    emails().handledBy({ action: action<{ to: string; copies: number | string }, Sent>() });
    emails().handledBy({ mutation: mutation<Mail & { note?: string }, Sent>() });
    emails().handledBy({ action: action<any, any>() });
    emails().handledBy("function://elsewhere");
    emails().handledBy({ action: action<{ payload: Mail; job: HandledJob }, Sent>(), job: true });
    conveyor.queue("anything").handledBy(action<{ whatever: number }, void>());
    conveyor.queue("nothing", { result: v.null() }).handledBy(action<any, void>());
    expect(queues).toBe(6);
  });

  test("and not if its arguments are others", () => {
    // @ts-expect-error `copies` is a number
    emails().handledBy(action<{ to: string; copies: string }, Sent>());
    // @ts-expect-error the payload has no `subject`
    emails().handledBy({ mutation: mutation<Mail & { subject: string }, Sent>() });
    // @ts-expect-error it takes its job, and is not given it
    emails().handledBy({ action: action<{ payload: Mail; job: HandledJob }, Sent>() });
    // @ts-expect-error it is given its job, and takes the payload
    emails().handledBy({ action: action<Mail, Sent>(), job: true });
    // @ts-expect-error a mutation is no action
    emails().handledBy({ action: mutation<Mail, Sent>() });
    expect.assertions(0);
  });

  test("nor if what it returns is no result", () => {
    // @ts-expect-error `messageId` is a string
    emails().handledBy(action<Mail, { messageId: number }>());
    // @ts-expect-error a result is wanted
    emails().handledBy(action<Mail, void>());
    expect.assertions(0);
  });
});

type Misfits = { noSubject: Mail & { subject: string } };

describe("a handler that does not fit is refused wherever it is named", () => {
  const ctx = { runMutation: () => Promise.reject(new Error("called")) } as never;
  const fits = action<Mail, Sent>();
  const asksMore = action<Misfits["noSubject"], Sent>();
  const returnsNumber = action<Mail, { messageId: number }>();
  const mailOf = { payload: v.object(mail), result: v.object({ messageId: v.string() }) };
  const next = () => `named${(queues += 1)}`;

  test("in the queue's options", () => {
    conveyor.queue(next(), { ...mailOf, handler: fits });
    conveyor.queue(next(), { ...mailOf, handler: "perJob" });
    conveyor.queue(next(), { ...mailOf, handler: { mutation: mutation<Mail, Sent>() } });
    conveyor.queue(next(), { handler: action<{ whatever: number }, void>() });
    // @ts-expect-error the payload has no `subject`
    conveyor.queue(next(), { ...mailOf, handler: asksMore });
    // @ts-expect-error `messageId` is a string
    conveyor.queue(next(), { ...mailOf, handler: returnsNumber });
    // @ts-expect-error a mutation is no query
    conveyor.queue(next(), { ...mailOf, handler: { query: mutation<Mail, Sent>() } });
    // @ts-expect-error it is given its job, and takes the payload
    conveyor.queue(next(), { ...mailOf, handler: { action: fits, job: true } });
    expect.assertions(0);
  });

  test("with a job", () => {
    const to = { to: "a", copies: 1 };
    // Not called: what is checked is what would be.
    const calls = () => {
      const queue = emails();
      const handled = action<{ payload: Mail; job: HandledJob }, Sent>();
      void queue.enqueue(ctx, to, { handler: fits, priority: 1 });
      void queue.enqueue(ctx, to, { handler: { action: handled, job: true } });
      void queue.enqueue(ctx, to, { handler: "function://elsewhere" });
      void queue.enqueueUnique(ctx, to, {
        key: "k",
        handler: { mutation: mutation<Mail, Sent>() },
      });
      void queue.enqueueBatch(ctx, [to], { handler: fits });
      void queue.enqueueBatch(ctx, [to], (_mail, i) => ({ handler: fits, runAfter: i }));
      // @ts-expect-error the payload has no `subject`
      void queue.enqueue(ctx, to, { handler: asksMore });
      // @ts-expect-error `messageId` is a string
      void queue.enqueue(ctx, to, { handler: returnsNumber });
      // @ts-expect-error it takes its job, and is not given it
      void queue.enqueue(ctx, to, { handler: { action: handled } });
      // @ts-expect-error lanes are the queue's, and so is an inline handler
      void queue.enqueue(ctx, to, { handler: { inline: action<any, any>() } });
      // @ts-expect-error the payload has no `subject`
      void queue.enqueueUnique(ctx, to, { key: "k", handler: asksMore });
      // @ts-expect-error a key is wanted
      void queue.enqueueUnique(ctx, to, { handler: fits });
      // @ts-expect-error `messageId` is a string
      void queue.enqueueBatch(ctx, [to], { handler: returnsNumber });
      // @ts-expect-error the payload has no `subject`
      void queue.enqueueBatch(ctx, [to], () => ({ handler: asksMore }));
      // @ts-expect-error `messageId` is a string
      void queue.replace(ctx, "id", to, { handler: returnsNumber });
    };
    expect(calls).toBeTypeOf("function");
  });

  test("in what browsers' jobs are enqueued with", () => {
    const authorize = "public" as const;
    emails().api({ authorize, options: () => ({ handler: fits }) });
    emails().api({ authorize, options: async (_ctx, { to }) => ({ handler: fits, group: to }) });
    // @ts-expect-error the payload has no `subject`
    emails().api({ authorize, options: () => ({ handler: asksMore }) });
    // @ts-expect-error `messageId` is a string
    emails().api({ authorize, options: async () => ({ handler: returnsNumber }) });
    expect.assertions(0);
  });

  test("inline, where it was not made by the queue's own `worker`", () => {
    const queue = conveyor.queue("inlineFits", mailOf);
    const other = conveyor.queue("inlineOther", mailOf);
    const _own = queue.worker({ handler: (_ctx, { payload }) => ({ messageId: payload.to }) });
    type ArgsOf<Action> = Action extends RegisteredAction<any, infer Args, any> ? Args : never;
    const inline = makeFunctionReference<"action", ArgsOf<typeof _own>, null>("emails:work");
    // Not called: a queue takes one.
    const names = () => {
      queue.handledBy({ inline });
      queue.handledBy({ inline: action<any, any>() });
      // @ts-expect-error it is the other queue's
      other.handledBy({ inline });
      // @ts-expect-error an action like any other
      queue.handledBy({ inline: fits });
    };
    expect(names).toBeTypeOf("function");
  });
});

test("an inline handler gets its queue's payload, and returns its result", () => {
  const queue = emails();
  const others = conveyor.queue("others", { payload: v.object({ n: v.number() }) });
  const work = queue.worker({
    handler: async (_ctx, job) => {
      const { to } = job.payload;
      job.continueWith("others", { n: 1 });
      // @ts-expect-error a payload that does not fit
      job.continueWith("others", { n: "1" });
      // @ts-expect-error it may not continue with that
      job.continueWith("elsewhere", {});
      return { messageId: await Promise.resolve(to) };
    },
    continueWith: [others],
  });
  const typed: RegisteredAction<"internal", any, Promise<null>> = work;
  queue.worker({
    // @ts-expect-error a result that does not fit
    handler: () => ({ messageId: 1 }),
  });
  queue.worker({
    // @ts-expect-error a result is wanted
    handler: () => {},
  });
  expect(typed).toBe(work);
});

test("a job of its own cannot have an inline handler: lanes are the queue's", async () => {
  const ctx = { runMutation: () => Promise.reject(new Error("called")) };
  const inline = { inline: action<any, any>() };
  await expect(
    emails().enqueue(ctx as never, { to: "a", copies: 1 }, { handler: inline as never }),
  ).rejects.toThrow(/inline handler/);
});
