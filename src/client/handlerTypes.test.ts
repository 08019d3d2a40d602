/** Handlers that fit their queue, and handlers that are compile errors. The compiler makes these checks. */
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
    conveyor
      .queue("anything", { payload: v.any() })
      .handledBy(action<{ whatever: number }, void>());
    conveyor
      .queue("nothing", { payload: v.any(), result: v.null() })
      .handledBy(action<any, void>());
    expect(queues).toBe(6);
  });

  test("and not if its arguments differ", () => {
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

  test("nor if its return value is no result", () => {
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

  test("with a job", () => {
    const to = { to: "a", copies: 1 };
    // Not called: the compiler checks the call all the same.
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

  test("in the options of browsers' jobs", () => {
    const authorize = "public" as const;
    emails().api({ authorize, enqueue: () => ({ handler: fits }) });
    emails().api({ authorize, enqueue: async (_ctx, { to }) => ({ handler: fits, group: to }) });
    // @ts-expect-error the payload has no `subject`
    emails().api({ authorize, enqueue: () => ({ handler: asksMore }) });
    // @ts-expect-error `messageId` is a string
    emails().api({ authorize, enqueue: async () => ({ handler: returnsNumber }) });
    expect.assertions(0);
  });
});

describe("a handler that its queue makes", () => {
  const others = conveyor.queue("others", { payload: { n: v.number() } });
  const shown = () =>
    conveyor.queue(`shown${(queues += 1)}`, {
      payload: mail,
      result: v.object({ messageId: v.string() }),
      progress: v.object({ percent: v.number() }),
    });

  test("gets its queue's payload, shows its queue's progress, and returns its queue's result", () => {
    const queue = shown();
    const send = queue.action(async (_ctx, job) => {
      const { to } = job.payload;
      job.progress({ percent: 1 });
      // @ts-expect-error a progress that does not fit
      job.progress({ percent: "1" });
      job.continueWith(others, { n: 1 });
      // @ts-expect-error a payload that does not fit
      job.continueWith(others, { n: "1" });
      job.signal.throwIfAborted();
      return { messageId: await Promise.resolve(to) };
    });
    const typed: RegisteredAction<"internal", any, Promise<Sent>> = send;
    // @ts-expect-error a result that does not fit
    queue.action(() => ({ messageId: 1 }));
    // @ts-expect-error a result is wanted
    queue.inline(() => {});
    expect(typed).toBe(send);
  });

  test("has the job's actions that its context allows", () => {
    const queue = shown();
    queue.mutation((ctx, job) => {
      void ctx.db.insert;
      job.log("written with the rest");
      job.continueWith(others, { n: 1 });
      // @ts-expect-error a transaction gets no signal to stop
      void job.signal;
      // @ts-expect-error nothing of a transaction is seen before its end
      void job.write;
      return { messageId: job.idempotencyKey };
    });
    queue.query((ctx, job) => {
      // @ts-expect-error a query writes nothing
      void ctx.db.insert;
      // @ts-expect-error nor does its job
      void job.log;
      return { messageId: job.payload.to };
    });
    expect.assertions(0);
  });

  test("is named in the definition by a function, and by nothing else", () => {
    const reference = action<any, any>();
    const define = () => {
      conveyor.queue("lazily", { action: () => reference });
      // @ts-expect-error () => reference
      conveyor.queue("eagerly", { action: reference });
      // @ts-expect-error () => reference
      conveyor.queue("eagerly", { onComplete: reference });
    };
    expect(define).toBeTypeOf("function");
  });

  test("receives the ends of its jobs, typed", () => {
    const queue = shown();
    queue.completed(async (ctx, { id, payload, outcome }) => {
      const typed: { id: string; to: string } = { id, to: payload.to };
      if (outcome.status === "succeeded") void outcome.result.messageId;
      // @ts-expect-error only a success has one
      else void outcome.result;
      await ctx.db.get(typed.to as never);
    });
    expect.assertions(0);
  });
});

test("a queue without payload is enqueued into without one", () => {
  const ctx = { runMutation: () => Promise.reject(new Error("called")) } as never;
  const calls = () => {
    const ticks = conveyor.queue("ticks", { result: v.null() });
    void ticks.enqueue(ctx);
    void ticks.enqueue(ctx, {}, { runAfter: 1_000 });
    // @ts-expect-error a payload is wanted
    void emails().enqueue(ctx);
  };
  expect(calls).toBeTypeOf("function");
});

test("a job of its own cannot have an inline handler: lanes are the queue's", async () => {
  const ctx = { runMutation: () => Promise.reject(new Error("called")) };
  const inline = { inline: action<any, any>() };
  await expect(
    emails().enqueue(ctx as never, { to: "a", copies: 1 }, { handler: inline as never }),
  ).rejects.toThrow(/inline handler/);
});
