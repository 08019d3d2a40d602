/** Spans of attempts in a worker: which are active, how odd ends show, and tracers that misbehave. */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  context,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type ContextManager,
} from "@opentelemetry/api";
import { BasicTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Tracer } from "../shared/index.js";
import { manual, startLoop } from "./fakes.test.js";
import type { LoopOptions } from "./parts.js";

const spans: ReadableSpan[] = [];
const tracer = new BasicTracerProvider({
  spanProcessors: [
    {
      onStart: () => {},
      onEnd: (span) => void spans.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  ],
}).getTracer("worker");

/** As `AsyncLocalStorageContextManager` of OpenTelemetry's Node SDK. */
class Contexts implements ContextManager {
  private readonly store = new AsyncLocalStorage<Context>();
  active = () => this.store.getStore() ?? ROOT_CONTEXT;
  with = ((given: Context, run: (...args: any[]) => any, self?: unknown, ...args: unknown[]) =>
    this.store.run(given, () => run.apply(self, args))) as ContextManager["with"];
  bind = <T>(_context: Context, target: T) => target;
  enable = () => this;
  disable = () => this;
}

beforeAll(() => void context.setGlobalContextManager(new Contexts()));
afterAll(() => context.disable());
beforeEach(() => {
  spans.length = 0;
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});

const parent = { traceId: "ab".repeat(16), spanId: "cd".repeat(8) };
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`;

const attempts = () => spans.filter(({ name }) => name === "attempt tiles");
const outcomes = () => attempts().map(({ attributes }) => attributes["conveyor.outcome"]);

describe("the span of an attempt", () => {
  // Shows K11.
  test("is active while its handler runs, awaits included, and is the parent of its spans", async () => {
    const { clock, deployment } = startLoop(
      async () => {
        await Promise.resolve();
        tracer.startSpan("inner").end();
        return null;
      },
      { tracer },
    );
    deployment.enqueue(1, "tiles", { traceparent });
    await clock.advance(100);
    const [attempt] = attempts();
    const [inner] = spans.filter(({ name }) => name === "inner");
    expect(attempt).toMatchObject({ parentSpanContext: parent });
    expect(inner!.parentSpanContext?.spanId).toBe(attempt!.spanContext().spanId);
    expect(inner!.spanContext().traceId).toBe(parent.traceId);
  });

  test("of a job without a trace begins one, whatever span was active where the worker began", async () => {
    const { clock, deployment } = trace
      .getTracer("none")
      .startActiveSpan("main", () =>
        context.with(trace.setSpan(ROOT_CONTEXT, tracer.startSpan("main")), () =>
          startLoop(async () => null, { tracer }),
        ),
      );
    deployment.enqueue();
    deployment.enqueue();
    await clock.advance(100);
    expect(attempts()).toHaveLength(2);
    const traces = new Set(attempts().map((span) => span.spanContext().traceId));
    expect(traces.size).toBe(2);
    for (const span of attempts()) expect(span.parentSpanContext).toBeUndefined();
    expect(spans.filter(({ name }) => name.startsWith("wait"))).toEqual([]);
  });

  test("ends once with a lost lease, a cancel, and a handler that is given up", async () => {
    const { begun, handler } = manual();
    const { clock, deployment, running, loop } = startLoop(handler, { tracer, concurrency: 3 });
    const [lost, canceled] = [1, 2, 3].map((n) => deployment.enqueue(n, "tiles", { traceparent }));
    await clock.advance(100);
    deployment.held.delete(lost!);
    deployment.cancel(canceled!);
    await clock.advance(2_000);
    begun[0]!.resolve();
    begun[1]!.reject(begun[1]!.signal.reason);
    await clock.advance(100);
    expect(outcomes()).toEqual(["lost", "canceled"]);
    expect(attempts().map(({ status }) => status.code)).toEqual([0, 0]);
    loop.stop(0);
    await clock.advance(60_000);
    await running;
    expect(outcomes()).toEqual(["lost", "canceled", "released"]);
    begun[2]!.resolve();
    await clock.advance(100);
    expect(attempts()).toHaveLength(3);
  });

  test("jobs that follow are told the span of this attempt; without a tracer nothing is added", async () => {
    const play = async (options: Partial<LoopOptions>) => {
      const { clock, deployment } = startLoop(async (job) => {
        job.continueWith("tiles", 1);
        job.continueWith("tiles", 2, { traceparent, priority: 1 });
        return null;
      }, options);
      const id = deployment.enqueue(0, "tiles", { traceparent });
      await clock.advance(100);
      return deployment.continued.get(id)!.map((one) => one.options);
    };
    const own = { traceparent, priority: 1 };
    expect(await play({})).toEqual([undefined, own]);
    const [first, second] = await play({ tracer });
    const { traceId, spanId } = attempts()[0]!.spanContext();
    expect(first).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
    expect(second).toEqual(own);
  });

  test("a malformed traceparent is refused where the handler names it", async () => {
    const { clock, deployment } = startLoop(async (job) => {
      job.continueWith("tiles", 1, { traceparent: "00-1-2-3" });
      return null;
    });
    const id = deployment.enqueue();
    await clock.advance(100);
    expect(deployment.outcomeOf(id)).toMatchObject({
      kind: "failed",
      error: expect.stringContaining("A traceparent must be of the form"),
    });
  });

  test("jobs of a batch have a span each, with its own end", async () => {
    const { clock, deployment } = startLoop(async () => null, {
      tracer,
      concurrency: 1,
      handlers: new Map([
        [
          "tiles",
          {
            batch: { size: 2, waitMs: 50 },
            handler: async (jobs: any[]) => jobs[0].fail(new RangeError("Too far.")),
          },
        ],
      ]),
    });
    deployment.enqueue(1, "tiles", { traceparent });
    deployment.enqueue(2, "tiles", { traceparent });
    await clock.advance(1_000);
    expect(outcomes().sort()).toEqual(["failed", "succeeded"]);
    const failed = attempts().find(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed!.events[0]!.attributes).toMatchObject({ "exception.type": "RangeError" });
  });
});

describe("a tracer that misbehaves", () => {
  const boom = () => {
    throw new Error("boom");
  };
  const span = {
    spanContext: () => ({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 }),
    setAttribute: () => {},
    recordException: () => {},
    setStatus: () => {},
    end: () => {},
  };
  const begins = (of: object): Tracer => ({ startSpan: () => ({ ...span, ...of }) });
  const actives = (startActiveSpan: (run: (span: any) => unknown) => unknown): Tracer => ({
    startSpan: boom,
    startActiveSpan: (_name, _options, _context, run) => startActiveSpan(run),
  });
  const TRACERS: [string, Tracer][] = [
    ["throws before it begins", actives(boom)],
    ["throws after it has begun", actives((run) => (void run(span), boom()))],
    ["never calls back", actives(() => undefined)],
    ["calls back twice", actives((run) => (void run(span), run(span)))],
    ["calls back with nothing", actives((run) => run(undefined))],
    ["is no tracer", {} as Tracer],
    ["gives nothing", begins({}) && { startSpan: () => undefined as never }],
    ["has spans without functions", { startSpan: () => ({}) as never }],
    ["has ids of another form", begins({ spanContext: () => ({ traceId: 5, spanId: {} }) })],
    ...Object.keys(span).map((name): [string, Tracer] => [
      `throws in ${name}`,
      begins({ [name]: boom }),
    ]),
  ];

  // Shows K11.
  test.each(TRACERS)(
    "one that %s: each handler runs once, and its end is recorded",
    async (_, bad) => {
      const runs: string[] = [];
      const { clock, deployment } = startLoop(
        async ({ id, payload }) => {
          runs.push(id);
          if (payload === "fails") throw new Error("It was to fail.");
          return null;
        },
        { tracer: bad },
      );
      const well = deployment.enqueue("ends", "tiles", { traceparent, claimableAt: 1 });
      const ill = deployment.enqueue("fails", "tiles", { traceparent });
      await clock.advance(200);
      expect(runs).toEqual([well, ill]);
      expect(deployment.outcomeOf(well)).toEqual({ kind: "succeeded", result: null });
      expect(deployment.outcomeOf(ill)).toMatchObject({ kind: "failed", error: "It was to fail." });
    },
  );
});
