/** Traces from enqueue to handler, by the real SDK of OpenTelemetry: on `convex-test`, with the real component. */
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { anyApi, componentsGeneric, mutationGeneric, queryGeneric } from "convex/server";
import { v } from "convex/values";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { pass, settle, work } from "../test.js";
import { Conveyor, type ComponentApi, type Queue, type Tracer } from "./index.js";
import { suiteOf } from "./suite.test.js";

const spans: ReadableSpan[] = [];
const provider = new BasicTracerProvider({
  spanProcessors: [
    {
      onStart: () => {},
      onEnd: (span) => void spans.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  ],
});
const real = provider.getTracer("conveyor");

/** The tracer of the app: each test sets it. */
let tracer: Tracer = real;
const passed: Tracer = {
  startSpan: (...args) => tracer.startSpan(...args),
  startActiveSpan: (...args) => tracer.startActiveSpan!(...args),
};

const component = (componentsGeneric() as unknown as { conveyor: ComponentApi }).conveyor;
const conveyor = new Conveyor(component, { tracer: passed });
/** Its definitions are of another module: they have no tracer. */
const plain = new Conveyor(component);
const functions: Record<string, any> = anyApi["app"] as never;

const MINUTE = 60_000;
const payload = { does: v.string() };
const retry = { maxAttempts: 2, initialBackoffMs: MINUTE, base: 1, jitter: "none" } as const;
const named = (name: string) => () => functions[name];

const QUEUES = {
  acts: conveyor.queue("acts", { payload, retry, action: named("act") }),
  runs: conveyor.queue("runs", { payload, retry, inline: named("run") }),
  batches: conveyor.queue("batches", {
    ...{ payload, retry, inline: named("runMany") },
    batch: { size: 2, waitMs: 50 },
  }),
  writes: conveyor.queue("writes", { payload, retry, mutation: named("write") }),
  reads: conveyor.queue("reads", { payload, retry, query: named("read") }),
  pulls: conveyor.queue("pulls", { payload, retry }),
  untraced: plain.queue("untraced", { payload, retry }),
};
type Name = keyof typeof QUEUES;

interface Seen {
  attempt: number;
  traceparent: string | undefined;
  active: string | undefined;
}
const seen: Seen[] = [];

function does(job: any): null {
  const active = trace.getActiveSpan()?.spanContext().spanId;
  seen.push({ attempt: job.attempt, traceparent: job.traceparent, active });
  const { does } = job.payload as { does: string };
  if (does === "fails once" && job.attempt === 1) throw new TypeError("No paint.");
  if (does === "is followed") job.continueWith(QUEUES.untraced, { does: "ends" });
  if (does === "snoozes" && job.attempt === 1) job.snooze(MINUTE);
  return null;
}

const app = {
  ...plain.workerApi({
    queues: [QUEUES.pulls, QUEUES.untraced],
    continueWith: [QUEUES.untraced],
  }),
  act: QUEUES.acts.action(async (_ctx, job) => does(job)),
  run: QUEUES.runs.inline(async (_ctx, job) => does(job)),
  runMany: QUEUES.batches.inline(async (_ctx, jobs) => {
    for (const job of jobs) {
      try {
        does(job);
      } catch (error) {
        job.fail(error);
      }
    }
  }),
  write: QUEUES.writes.mutation(async (_ctx, job) => does(job)),
  read: QUEUES.reads.query(async (_ctx, job) => does(job)),
  enqueue: mutationGeneric({
    args: { queue: v.string(), does: v.string(), options: v.optional(v.any()) },
    handler: async (ctx, { queue, does, options }): Promise<string> =>
      await (QUEUES[queue as Name] as Queue<any, any>).enqueue(ctx, { does }, options),
  }),
  enqueueBatch: mutationGeneric({
    args: { options: v.array(v.any()) },
    handler: async (ctx, { options }): Promise<string[]> =>
      await QUEUES.pulls.enqueueBatch(
        ctx,
        options.map(() => ({ does: "ends" })),
        (_payload, i) => options[i],
      ),
  }),
  status: queryGeneric({
    args: { queue: v.string(), id: v.string() },
    handler: async (ctx, { queue, id }): Promise<any> =>
      await (QUEUES[queue as Name] as Queue<any, any>).status(ctx, id),
  }),
};

const time = { advance: (ms: number) => void vi.advanceTimersByTime(ms) };

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  spans.length = 0;
  seen.length = 0;
  tracer = real;
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const setup = () => suiteOf(app);
type World = ReturnType<typeof setup>;

async function enqueue(t: World, queue: Name, does: string, options?: object): Promise<string> {
  const args = { queue, does, ...(options && { options }) };
  return (await t.mutation(functions["enqueue"], args)) as string;
}

/** Has all jobs done that are due, inside Convex and by one worker outside. */
async function goOn(t: World, worker: Tracer | undefined): Promise<void> {
  await settle(t, time);
  const traced = worker === undefined ? {} : { tracer: worker };
  const handlers = { pulls: outside, untraced: outside } as any;
  await work(t, functions as any, handlers, { ...time, ...traced });
}

function outside(job: any): null {
  const { continueWith } = job;
  const byName = (queue: { name: string }, ...rest: unknown[]) => continueWith(queue.name, ...rest);
  return does(Object.assign(job, { continueWith: byName }));
}

async function play(queue: Name, does: string, options?: object) {
  const t = setup();
  const id = await enqueue(t, queue, does, options);
  await goOn(t, passed);
  await pass(t, MINUTE, { ...time, stepMs: 5_000 });
  await goOn(t, passed);
  const status = await t.query(functions["status"], { queue, id });
  return { t, id, status };
}

const msOf = ([seconds, nanos]: [number, number]) => seconds * 1_000 + nanos / 1e6;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const traceOf = (span: ReadableSpan) => span.spanContext().traceId;
const spansOf = (name: string) => spans.filter((span) => span.name === name);

describe.each(["pulls", "acts", "runs", "batches", "writes", "reads"] as const)(
  "in %s",
  (queue) => {
    // Shows SG-42, K11.
    test("enqueue, waits, a failed and a successful attempt are one trace", async () => {
      const { id, status } = await play(queue, "fails once");
      expect(status).toMatchObject({ status: "succeeded" });
      const [enqueued] = spansOf(`enqueue ${queue}`);
      const [first, second, ...more] = spansOf(`attempt ${queue}`);
      expect(more).toEqual([]);
      expect(spansOf(`enqueue ${queue}`)).toHaveLength(1);

      expect(new Set(spans.map(traceOf)).size, "one trace").toBe(1);
      expect(enqueued!.parentSpanContext).toBeUndefined();
      expect(enqueued!.kind).toBe(3);
      expect(enqueued!.attributes).toEqual({
        "messaging.system": "conveyor",
        "messaging.operation.name": "enqueue",
        "messaging.destination.name": queue,
        "messaging.message.id": id,
      });
      for (const span of spans) {
        expect(span.links).toEqual([]);
        if (span === enqueued) continue;
        expect(span.parentSpanContext).toMatchObject({ spanId: idOf(enqueued!), isRemote: true });
      }

      expect([first!.kind, second!.kind]).toEqual([4, 4]);
      expect(first!.attributes).toEqual({
        "messaging.system": "conveyor",
        "messaging.operation.name": "attempt",
        "messaging.destination.name": queue,
        "messaging.message.id": id,
        "conveyor.attempt": 1,
        "conveyor.outcome": "failed",
        ...(queue === "pulls" ? { "messaging.client.id": "convex-conveyor/test" } : {}),
      });
      expect(first!.status).toEqual({ code: 2, message: "No paint." });
      const [exception] = first!.events;
      expect(exception).toMatchObject({
        name: "exception",
        attributes: { "exception.type": "TypeError", "exception.message": "No paint." },
      });
      expect(exception!.attributes!["exception.stacktrace"]).toContain("traced.test.ts");
      expect(second!.status).toEqual({ code: 0 });
      expect(second!.events).toEqual([]);
      expect(second!.attributes).toMatchObject({
        "conveyor.attempt": 2,
        "conveyor.outcome": "succeeded",
      });
      expect(msOf(second!.startTime)).toBeGreaterThanOrEqual(msOf(first!.startTime) + MINUTE);

      const waits = spansOf(`wait ${queue}`);
      const attempts = [first!, second!];
      expect(waits).toHaveLength(attempts.length);
      for (const [i, attempt] of attempts.entries()) {
        const [from, to] = [waits[i]!.startTime, waits[i]!.endTime].map((at) => msOf(at));
        const due = i === 0 ? msOf(enqueued!.startTime) : msOf(first!.startTime) + MINUTE;
        expect(Math.abs(from! - due), "from when it was claimable").toBeLessThan(2_000);
        expect(to).toBeLessThanOrEqual(msOf(attempt.startTime));
        expect(to).toBeGreaterThanOrEqual(from!);
        expect(waits[i]!.attributes["conveyor.attempt"]).toBe(i + 1);
      }
      expect(
        seen.map(({ traceparent }) => traceparent),
        "each handler passes on its own attempt",
      ).toEqual([first!, second!].map((span) => `00-${traceOf(span)}-${idOf(span)}-01`));
    });

    test("a job of a trace of the caller's is its child, and takes it along without a tracer", async () => {
      const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
      tracer = {
        startSpan: () => {
          throw new Error("This tracer is broken.");
        },
      };
      const { status } = await play(queue, "fails once", { traceparent });
      expect(status, "no fault of a tracer harms a job").toMatchObject({ status: "succeeded" });
      expect(seen).toMatchObject([
        { attempt: 1, traceparent },
        { attempt: 2, traceparent },
      ]);
      tracer = real;
      await play(queue, "ends", { traceparent });
      expect(spans.length).toBeGreaterThan(2);
      expect(new Set(spans.map(traceOf))).toEqual(new Set(["ab".repeat(16)]));
      const [enqueued] = spansOf(`enqueue ${queue}`);
      expect(enqueued!.parentSpanContext).toMatchObject({ spanId: "cd".repeat(8) });
    });

    test("a snooze is no error", async () => {
      if (queue === "batches") return;
      await play(queue, "snoozes");
      const [first, second] = spansOf(`attempt ${queue}`);
      expect(first!.status).toEqual({ code: 0 });
      expect(first!.attributes["conveyor.outcome"]).toBe("snoozed");
      expect(second!.attributes["conveyor.outcome"]).toBe("succeeded");
    });
  },
);

describe("jobs that follow", () => {
  test.each(["pulls", "acts", "runs", "writes"] as const)(
    "one of %s are children of its attempt",
    async (queue) => {
      await play(queue, "is followed");
      const [attempt] = spansOf(`attempt ${queue}`);
      const [following] = spansOf("attempt untraced");
      expect(traceOf(following!)).toBe(traceOf(attempt!));
      expect(following!.parentSpanContext!.spanId).toBe(idOf(attempt!));
    },
  );

  test("inherit the job's traceparent where no worker has a tracer", async () => {
    const t = setup();
    await enqueue(t, "pulls", "is followed");
    await goOn(t, undefined);
    const [enqueued] = spans;
    expect(spans).toHaveLength(1);
    const traceparent = `00-${traceOf(enqueued!)}-${idOf(enqueued!)}-01`;
    expect(seen.map((one) => one.traceparent)).toEqual([traceparent, traceparent]);
  });
});

describe("an enqueue", () => {
  const own = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-00`;

  test("of a batch is one span for all its jobs, but for one that has a trace of its own", async () => {
    const t = setup();
    await t.mutation(functions["enqueueBatch"], { options: [{}, { traceparent: own }, {}] });
    const [enqueued, ...more] = spans;
    expect(more).toEqual([]);
    expect(enqueued!.attributes).toMatchObject({ "messaging.batch.message_count": 3 });
    await goOn(t, undefined);
    const batch = `00-${traceOf(enqueued!)}-${idOf(enqueued!)}-01`;
    expect(seen.map(({ traceparent }) => traceparent).sort()).toEqual([batch, batch, own].sort());
  });

  test("that is refused shows so, and is refused", async () => {
    const t = setup();
    await expect(enqueue(t, "pulls", "ends", { priority: 99 })).rejects.toThrow("priority");
    expect(spans).toHaveLength(1);
    expect(spans[0]!.status.code).toBe(2);
    expect(spans[0]!.events[0]!.name).toBe("exception");
  });

  test.each(["pulls", "untraced"] as const)(
    "into %s with a malformed traceparent is refused, with the way out",
    async (queue) => {
      const t = setup();
      const refused = expect(enqueue(t, queue, "ends", { traceparent: "00-1-2-3" }));
      await refused.rejects.toThrow(/A traceparent must be of the form.*00-1-2-3.*leave it out/s);
      expect(spans).toEqual([]);
    },
  );

  test("without a tracer and a traceparent takes nothing along", async () => {
    const t = setup();
    await enqueue(t, "untraced", "ends");
    await goOn(t, undefined);
    expect(seen).toEqual([{ attempt: 1, traceparent: undefined, active: undefined }]);
    expect(spans).toEqual([]);
  });
});
