/** §8 and the parts of §7 that functions can see: clock, dice, forbidden calls, the end of a call, its metadata. */
import { makeFunctionReference } from "convex/server";
import { expect } from "vitest";
import { api, internal } from "../app/convex/_generated/api.js";
import type { Read } from "../app/convex/rows.js";
import { newGroup, refusal, type Case } from "../case.js";
import type { Target } from "../target.js";

const all: Read = { op: "read" };

interface Ticks {
  now: number;
  date: number;
  ticks: number;
}

async function rows(target: Target, group: string): Promise<number[]> {
  const [seen] = (await target.query(api.rows.look, { group, ids: [], steps: [all] })) as [
    number[],
  ];
  return seen;
}

function forbidden(what: string, words: RegExp, more: Partial<Case> = {}): Case {
  return {
    id: `8.no-${what}`,
    says: `mutations cannot use ${what}`,
    run: async (target) => {
      expect(await refusal(target.mutation(api.runtime.forbidden, { what }))).toMatch(words);
    },
    ...more,
  };
}

export const runtime: Case[] = [
  {
    id: "8.clock-frozen",
    says: "Date.now and new Date stand still in a mutation, at a whole millisecond",
    convexTest: "its clock moves, so whether it stands still is luck",
    run: async (target) => {
      const [first, last] = (await target.mutation(api.runtime.clock, {})) as [Ticks, Ticks];
      expect(last.now).toBe(first.now);
      expect(first.date).toBe(first.now);
      expect(Number.isInteger(first.now)).toBe(true);
    },
  },
  {
    id: "8.performance-in-mutations",
    says: "performance.now moves in mutations",
    run: async (target) => {
      const [first, last] = (await target.mutation(api.runtime.clock, {})) as [Ticks, Ticks];
      expect(last.ticks).toBeGreaterThan(first.ticks);
    },
  },
  {
    id: "8.performance-in-queries",
    says: "and stands still in queries",
    convexTest: "its clock moves, so whether it stands still is luck",
    run: async (target) => {
      const [first, last] = await target.query(api.runtime.queryTicks, {});
      expect(last).toBe(first);
    },
  },
  {
    id: "8.dice-anew",
    says: "each execution of a mutation has a seed of its own, for Math.random and crypto alike",
    run: async (target) => {
      interface Dice {
        numbers: number[];
        uuid: string;
        bytes: number[];
      }
      const throwDice = () => target.mutation(api.runtime.dice, {}) as Promise<Dice>;
      const [first, second] = [await throwDice(), await throwDice()];
      expect(second.numbers).not.toEqual(first.numbers);
      expect(first.numbers[0]).not.toBe(first.numbers[1]);
      expect(second.uuid).not.toBe(first.uuid);
      expect(first.uuid).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(second.bytes).not.toEqual(first.bytes);
    },
  },
  {
    id: "8.cache",
    says: "a query is answered from the cache while nothing that it read is written, dice or not",
    convexTest: { differs: "it has no cache" },
    run: async (target) => {
      const group = newGroup();
      const ask = () => target.query(api.runtime.cachedDiceOverRows, { group });
      const first = await ask();
      await target.mutation(api.rows.seed, { group: newGroup(), ns: [1] });
      expect(await ask()).toBe(first);
      await target.mutation(api.rows.seed, { group, ns: [1] });
      expect(await ask()).not.toBe(first);
    },
  },
  {
    id: "8.cache-by-arguments",
    says: "the cache knows arguments apart",
    run: async (target) => {
      const ask = (salt: string) => target.query(api.runtime.cachedDice, { salt });
      expect(await ask(newGroup())).not.toBe(await ask(newGroup()));
    },
  },
  {
    id: "8.cache-of-errors",
    says: "one that threw is not: it runs again for each caller",
    run: async (target) => {
      const salt = newGroup();
      const ask = async () => {
        const said = await refusal(target.query(api.runtime.thrownDice, { salt }));
        return /fell on [\d.e-]+/.exec(said)![0];
      };
      const [first, second] = [await ask(), await ask()];
      expect(second).not.toBe(first);
      const [third, fourth] = await Promise.all([ask(), ask()]);
      expect(fourth).not.toBe(third);
    },
  },
  {
    id: "8.cache-of-time",
    says: "one that asked for the time is cached too, for a while",
    run: async (target) => {
      const salt = newGroup();
      const ask = () => target.query(api.runtime.cachedClock, { salt });
      expect(await ask()).toBe(await ask());
    },
    convexTest: "it has no cache: two calls in one millisecond are equal by luck",
  },
  forbidden("setTimeout", /setTimeout/),
  forbidden("setInterval", /setInterval/),
  forbidden("fetch", /fetch/),
  forbidden("generateKey", /generateKey/, { convexTest: { differs: "keys can be made" } }),
  {
    id: "8.queries-do-not-write",
    says: "a query has no methods that write",
    run: async (target) => {
      expect(await target.query(api.runtime.queryWrites, {})).toBe("undefined");
    },
  },
  {
    id: "8.unhandled-rejection",
    says: "an unhandled rejection ends the mutation, and nothing is written",
    run: async (target) => {
      const group = newGroup();
      const message = await refusal(target.mutation(api.runtime.unhandled, { group }));
      expect(message).toContain("nobody listens");
      expect(await rows(target, group)).toEqual([]);
    },
    convexTest: "an unhandled rejection ends the test process",
  },
  {
    id: "8.never-resolves",
    says: "a promise that nothing can settle is an error and not a wait",
    run: async (target) => {
      const message = await refusal(target.mutation(api.runtime.never, {}));
      expect(message).toContain("will never resolve");
    },
    convexTest: "it waits for ever",
  },
  {
    id: "8.not-awaited",
    says: "calls that a mutation has begun and not awaited are done before it commits",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.runtime.notAwaited, { group });
      expect(await rows(target, group)).toEqual([1, 2]);
    },
  },
  {
    id: "8.reads-together",
    says: "reads that are started together each get their own answer",
    run: async (target) => {
      const group = newGroup();
      await target.mutation(api.rows.seed, { group, ns: [3, 7, 7] });
      const counts = await target.query(api.runtime.together, { group, count: 40 });
      expect(counts.flatMap((count, n) => (count === 0 ? [] : [[n, count]]))).toEqual([
        [3, 1],
        [7, 2],
      ]);
    },
  },
  {
    id: "8.actions-have-time",
    says: "actions have timers and a clock that moves",
    run: async (target) => {
      const { now, ticks } = (await target.action(api.runtime.actionClock, {})) as Ticks;
      expect(now).toBeGreaterThanOrEqual(25);
      expect(ticks).toBeGreaterThanOrEqual(25);
    },
  },
  {
    id: "8.web-platform",
    says: "functions have digests, structured clones and URLs",
    run: async (target) => {
      expect(await target.query(api.runtime.asynchronous, {})).toEqual({
        hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        clone: { a: 1 },
        url: "http://a.c/b",
      });
    },
  },
  {
    id: "8.globals",
    says: "they have these globals of the Web, and not those",
    convexTest: { differs: "it has Node's" },
    run: async (target) => {
      const there = (names: string[]) => target.query(api.runtime.globalsOf, { names });
      const these = [
        ..."AbortController AbortSignal Blob DOMException Event EventTarget File FormData".split(
          " ",
        ),
        ..."Headers ReadableStream ReadableStreamBYOBReader ReadableStreamDefaultReader".split(" "),
        ..."Request Response TextDecoder TextDecoderStream TextEncoder TextEncoderStream".split(
          " ",
        ),
        ..."TransformStream URL URLSearchParams WritableStream".split(" "),
        ..."WritableStreamDefaultWriter atob btoa console crypto fetch performance".split(" "),
        ..."process self setInterval setTimeout structuredClone".split(" "),
      ];
      expect(await there(these)).toEqual(these);
      const those = "Buffer CompressionStream CustomEvent DecompressionStream queueMicrotask";
      expect(await there([...those.split(" "), "require", "setImmediate"])).toEqual([]);
    },
  },
  {
    id: "8.no-timer-caught",
    says: "a timer ends a query or mutation, which cannot catch that; to clear one is nothing",
    run: async (target) => {
      const attempt = (what: string) => target.mutation(api.runtime.forbidden, { what });
      expect(await refusal(attempt("caughtTimer"))).toContain("Can't use setTimeout in queries");
      expect(await attempt("clearTimeout")).toBeNull();
    },
    convexTest: { differs: "it has Node's timers" },
  },
  {
    id: "8.no-dynamic-import",
    says: "a module cannot be imported while a query or mutation runs",
    run: async (target) => {
      const message = await refusal(target.mutation(api.runtime.forbidden, { what: "import" }));
      expect(message).toContain("TypeError: dynamic module import unsupported");
    },
    convexTest: { differs: "modules may be imported at any time" },
  },
  {
    id: "8.action-imports",
    says: "and can while an action runs",
    run: async (target) => {
      expect(await target.action(api.runtime.actionImports, {})).toBe("object");
    },
  },
  {
    id: "8.environment",
    says: "a variable that is not set is not there, and the deployment's URL is",
    run: async (target) => {
      const read = (name: string) => target.query(api.runtime.environment, { name });
      expect(await read("NO_SUCH_VARIABLE")).toBeNull();
      expect(await read("CONVEX_CLOUD_URL")).toMatch(/^http/);
    },
    convexTest: { differs: "CONVEX_CLOUD_URL is not set" },
  },
  {
    id: "7.metadata",
    says: "a function knows its own name, its component, and that no user is signed in",
    run: async (target) => {
      expect(await target.mutation(api.runtime.metadata, {})).toMatchObject({
        function: { name: "runtime:metadata", componentPath: "" },
        identity: null,
        deployment: { name: expect.any(String) as unknown, class: expect.any(String) as unknown },
      });
    },
  },
  {
    id: "7.default-named",
    says: "a default export is named by its module alone",
    convexTest: { differs: "the error names the export" },
    run: async (target) => {
      const missing = makeFunctionReference<"query">("nowhere:default");
      expect(await refusal(target.query(missing, {}))).toContain("for 'nowhere'");
    },
  },
  {
    id: "7.default-export",
    says: "a module's default export is called by the module's name",
    run: async (target) => {
      expect(await target.query(api.runtime.default, {})).toBe("the module's default");
    },
  },
  {
    id: "7.admin-calls-internal",
    says: "an admin may call internal functions",
    run: async (target) => {
      expect(await target.query(internal.runtime.hidden, {})).toBe("hidden");
    },
  },
  {
    id: "7.metrics",
    says: "a mutation can read its use of each limit, and the rest",
    run: async (target) => {
      const group = newGroup();
      const ids = await target.mutation(api.rows.seed, { group, ns: [1, 2, 3] });
      const [, , after] = (await target.mutation(api.rows.only, {
        group,
        ids,
        steps: [all, { op: "insert", n: 4 }, { op: "metrics" }],
      })) as [unknown, unknown, Record<string, { used: number; remaining: number }>];
      expect(after["documentsRead"]).toEqual({ used: 3, remaining: 31_997 });
      expect(after["documentsWritten"]).toEqual({ used: 1, remaining: 15_999 });
      expect(after["databaseQueries"]!.used).toBeGreaterThan(0);
      expect(after["bytesRead"]!.used).toBeGreaterThan(100);
      expect(after["bytesWritten"]!.used).toBeGreaterThan(50);
      expect(after["functionsScheduled"]).toEqual({ used: 0, remaining: 1000 });
    },
  },
  {
    id: "8.no-code-from-strings",
    says: "eval and new Function make no code of strings",
    convexTest: { differs: "functions run in Node" },
    run: async (target) => {
      expect(await target.query(api.runtime.generates, {})).toEqual(["EvalError", "EvalError"]);
    },
  },
  {
    id: "8.web-errors",
    says: "errors of URL, Headers and structuredClone are instances of Error",
    run: async (target) => {
      expect(await target.query(api.runtime.thrownByWeb, {})).toEqual([true, true, true]);
    },
  },
];
