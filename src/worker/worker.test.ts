/** The worker as a program uses it: its options, its types, and its start and end without a deployment. */
import { hostname } from "node:os";
import { anyApi, type ApiFromModules } from "convex/server";
import { v } from "convex/values";
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { Conveyor, type ComponentApi } from "../client/index.js";
import {
  isConveyorError,
  Worker,
  type Handlers,
  type Job,
  type QueuesOf,
  type WorkerState,
} from "./index.node.js";

const conveyor = new Conveyor({} as ComponentApi);
const tiles = conveyor.queue("tiles", {
  payload: v.object({ x: v.number() }),
  result: v.object({ pixels: v.string() }),
});
const pings = conveyor.queue("pings", { payload: v.null(), result: v.null() });
const loose = conveyor.queue("loose", { payload: v.any() });
const _functions = conveyor.workerApi({ queues: [tiles, pings, loose], continueWith: [tiles] });
const api = anyApi["worker"] as unknown as ApiFromModules<{ worker: typeof _functions }>["worker"];
type Queues = QueuesOf<typeof api>;

const options = {
  // Nothing listens here: these workers are made and not run, or stopped first.
  url: "http://127.0.0.1:1",
  token: "cvy_00000000_x",
  api,
  handlers: { tiles: async () => ({ pixels: "" }) },
  handleSignals: false,
};

/** Longer than a worker waits in all for a deployment that does not answer. */
const UNREACHABLE_MS = 60_000;

afterEach(() => void vi.useRealTimers());

describe("types", () => {
  // Shows N8.
  test("a handler's payload and result have the types of its queue's validators", () => {
    expectTypeOf<Queues["tiles"]>().toEqualTypeOf<{
      payload: { x: number };
      result: { pixels: string };
      progress: any;
    }>();
    new Worker({
      ...options,
      handlers: {
        tiles: async (job) => {
          expectTypeOf(job.payload).toEqualTypeOf<{ x: number }>();
          expectTypeOf(job.queue).toEqualTypeOf<"tiles">();
          expectTypeOf(job.signal).toEqualTypeOf<AbortSignal>();
          expectTypeOf(job.tags).toEqualTypeOf<string[]>();
          expectTypeOf(job.snooze).returns.toBeNever();
          job.continueWith("tiles", { x: 1 }, { priority: 2 });
          // @ts-expect-error the payload of `tiles` has a number
          job.continueWith("tiles", { x: "1" });
          // @ts-expect-error the app does not let workers continue with `pings`
          job.continueWith("pings", null);
          return { pixels: "abc" };
        },
        pings: ({ progress, isCanceled }) => {
          expectTypeOf(isCanceled).returns.resolves.toBeBoolean();
          progress({ whatever: 1 });
        },
        loose: ({ payload }) => {
          expectTypeOf(payload).toBeAny();
          return 5;
        },
      },
    });
  });

  test("a function that takes a job's part names its queue and payload, and serves a queue with any `continueWith`", () => {
    const draw = async ({ payload, signal }: Job<"tiles", { x: number }>) => {
      await Promise.resolve(signal);
      return { pixels: String(payload.x) };
    };
    new Worker({ ...options, handlers: { tiles: draw } });
    new Worker({ ...options, handlers: { tiles: async (job) => await draw(job) } });
    // @ts-expect-error it is for jobs of another queue
    new Worker({ ...options, handlers: { pings: (job: Job<"tiles", null>) => void job } });
  });

  test("progress has the type of its queue, and any where the queue says nothing", () => {
    type Told = { tiles: { payload: null; result: null; progress: { percent: number } } };
    const handlers: Handlers<Told> = { tiles: ({ progress }) => progress({ percent: 5 }) };
    // @ts-expect-error a number is wanted
    handlers.tiles = ({ progress }) => progress({ percent: "5" });
    const untold: Handlers<{ tiles: { payload: null; result: null } }> = {
      tiles: ({ progress }) => progress("half"),
    };
    expect(Object.keys({ ...handlers, ...untold })).toEqual(["tiles"]);
  });

  test("a handler takes its job, and nothing else", () => {
    const pings = (_job: unknown, ctx: { signal: unknown }) => void ctx;
    // @ts-expect-error a handler's functions are on the job
    new Worker({ ...options, handlers: { pings } });
  });

  test("a handler that returns something else, or serves a queue that there is not, is refused by the compiler", () => {
    // @ts-expect-error pixels must be a string
    new Worker({ ...options, handlers: { tiles: async () => ({ pixels: 5 }) } });
    // @ts-expect-error a result is wanted
    new Worker({ ...options, handlers: { tiles: async () => {} } });
    // @ts-expect-error there is no such queue
    new Worker({ ...options, handlers: { tyles: async () => ({ pixels: "" }) } });
  });
});

describe("hooks", () => {
  test("name queues of the worker's API", async () => {
    const handlers = { tiles: async () => ({ pixels: "" }) };
    new Worker({
      ...{ ...options, handlers },
      beforeClaim: async ({ peek }) => {
        await peek({ queues: ["tiles"] });
        // @ts-expect-error there is no such queue
        await peek({ queues: ["tyles"] });
        return { queues: ["tiles"] };
      },
    });
    // @ts-expect-error there is no such queue
    new Worker({ ...options, handlers, beforeClaim: () => ({ queues: ["tyles"] }) });
    const worker = new Worker({ ...options, handlers });
    // @ts-expect-error there is no such queue
    void (() => worker.peek({ queues: ["tyles"] }));
    expect(worker.state).toBe("starting");
  });
});

describe("options", () => {
  test.each([
    ["no room at all", { concurrency: 0 }],
    ["more than a session may hold", { concurrency: 65 }],
    ["half a slot", { concurrency: 1.5 }],
    ["no budget", { maxCost: 0 }],
    ["a label without a name", { labels: [" "] }],
    ["a label with the least of a number", { labels: ["vramGb>=24"] }],
    ["a text in place of labels", { labels: "gpu" as never }],
    ["a text in place of groups", { groups: "team" as never }],
    ["output that waits for hours", { output: { flushMs: 3_600_000 } }],
    ["a beat every millisecond", { presenceMs: 1 }],
    ["a grace of more than a day", { graceMs: 86_400_001 }],
    ["a status every millisecond", { statusMs: 1 }],
    ["a poll every millisecond", { poll: { everyMs: 1 } }],
    ["a share of no memory", { backPressure: { memory: 0 } }],
    ["queues that all come last", { queues: [{ queue: "tiles", onlyWhenIdle: true } as const] }],
    ["a queue twice", { queues: ["tiles", "tiles"] as const }, /must be named once/],
    [
      "a queue that is to come last and first",
      { queues: ["tiles", { queue: "tiles", onlyWhenIdle: true } as const] as const },
      /must be named once/,
    ],
    ["an end before the first job", { stopAfter: { jobs: 0 } }],
    ["a name of no letters", { name: "  " }],
    ["a name that is too long", { name: "x".repeat(65) }],
  ])("%s is refused with the rule", (_, wrong, rule: RegExp = /must be/) => {
    expect(() => new Worker({ ...options, ...wrong })).toThrow(rule);
  });

  test("a queue to serve without a handler is refused by name, with the queues that have one", () => {
    const make = () => new Worker({ ...options, queues: ["loose"] });
    expect(make).toThrow(/"loose".*it has: tiles/);
    try {
      make();
    } catch (error) {
      expect(isConveyorError(error, "handlerMissing")).toBe(true);
    }
  });

  test.each(["url", "token"] as const)(
    "a missing %s, as of a variable that is not set, is refused before anything is tried",
    (option) => {
      const missing = { ...options, [option]: undefined as unknown as string };
      expect(() => new Worker(missing)).toThrow(`\`${option}\` is missing`);
    },
  );

  test("the address of HTTP actions is refused, and the message says which one to give", () => {
    const url = "https://happy-otter-123.convex.site";
    const make = () => new Worker({ ...options, url });
    expect(make).toThrow(/ends with \.convex\.cloud.*HTTP actions are.*CONVEX_URL/);
    expect(() => new Worker({ ...options, url: "happy-otter-123" })).toThrow(/https:\/\//);
  });

  test("plain http at .convex.cloud is refused, since it would show the token; a local deployment may have it", () => {
    const url = "http://happy-otter-123.convex.cloud";
    expect(() => new Worker({ ...options, url })).toThrow(
      /must begin with https:\/\/.*Write https:\/\/happy-otter-123\.convex\.cloud\./,
    );
    expect(() => new Worker({ ...options, url: "http://127.0.0.1:3210" })).not.toThrow();
  });

  test.each([
    ["object", {}],
    ["string", "draw"],
    ["null", null],
  ])("a handler that is no function is refused with its queue: %s", (got, handler) => {
    const make = () => new Worker({ ...options, handlers: { tiles: handler as never } });
    expect(make).toThrow(`the queue "tiles" must be a function; got ${got}`);
  });

  test("a worker without handlers has nothing to serve", () => {
    expect(() => new Worker({ ...options, handlers: {} })).toThrow(/nothing to serve/);
  });

  // Shows CR-13, SG-20, L5.
  test("a worker without a name is called after its host and process", () => {
    expect(new Worker(options).name).toContain(`${hostname()}:${process.pid}`);
  });

  // Shows CR-13.
  test("a worker with a name has that one, whenever its program begins again", () => {
    const names = [1, 2].map(() => new Worker({ ...options, name: "gpu-1" }).name);
    expect(names).toEqual(["gpu-1", "gpu-1"]);
  });

  // Shows CR-13, L5.
  test("workers of one process without names have different ones: a retry goes to another name", () => {
    const names = [1, 2, 3].map(() => new Worker(options).name);
    expect(new Set(names).size).toBe(3);
    expect(names.filter((name) => name.includes(`:${process.pid}`))).toEqual(names);
  });
});

test("a worker that is stopped before it runs never connects", async () => {
  const events: string[] = [];
  const worker = new Worker({ ...options, onEvent: ({ kind }) => events.push(kind) });
  await worker.stop();
  await worker.run();
  expect(events).toEqual([]);
});

test("a worker's concurrency may be set, within its bounds, and its state is there before it runs", async () => {
  const worker = new Worker(options);
  worker.concurrency = 7;
  expect(worker.status).toMatchObject({ state: "starting", slots: { used: 0, had: 7 }, done: 0 });
  expect(() => (worker.concurrency = 65)).toThrow(/concurrency.*64/);
  worker.quiet();
  expect(worker.status.isQuiet).toBe(true);
  await worker.stop();
  expect(worker.state).toBe("stopped");
});

test("a listener to one kind of events gets these, until it is taken off, and one that throws harms nothing", async () => {
  const told = vi.spyOn(console, "error").mockReturnValue();
  const worker = new Worker({ ...options, onEvent: () => {} });
  const seen: string[] = [];
  worker.on("state", ({ state }) => {
    expectTypeOf(state).toEqualTypeOf<WorkerState>();
    seen.push(state);
    throw new Error("never mind");
  });
  const off = worker.on("stopped", () => seen.push("not heard"));
  off();
  vi.useFakeTimers();
  const running = worker.run();
  const stopped = worker.stop({ graceMs: 0 });
  await vi.advanceTimersByTimeAsync(UNREACHABLE_MS);
  await Promise.all([running, stopped]);
  expect(seen).toEqual(["draining", "stopped"]);
  expect(told).toHaveBeenCalledTimes(2);
  told.mockRestore();
});

test("SIGTERM stops a worker gracefully, and the listeners go with it", async () => {
  const before = process.listenerCount("SIGTERM");
  const events: string[] = [];
  const onEvent = ({ kind }: { kind: string }) => void events.push(kind);
  const worker = new Worker({ ...options, handleSignals: true, onEvent });
  vi.useFakeTimers();
  const running = worker.run();
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  process.emit("SIGTERM");
  await vi.advanceTimersByTimeAsync(UNREACHABLE_MS);
  await running;
  expect(events).toContain("stopping");
  expect(events.at(-1)).toBe("stopped");
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
