/** Reports of running jobs, and reads of them: in order, once, attempt by attempt, within bounds. */
import { describe, expect, test } from "vitest";
import { OUTPUT_MAX_BYTES, type OutputPage, type LogPage } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import type { Id } from "../_generated/dataModel.js";
import { failed, newWorld, refusal, succeeded, T0, type World } from "../setup.test.js";

const log = (id: string, entry: number, message: string, more: object = {}) => ({
  ...{ id, attempt: 1, entry, level: "info" as const, message },
  ...more,
});
const part = (id: string, index: number, text: string, attempt = 1) => {
  return { id, attempt, index, text };
};

async function readLogs(world: World, id: string, options: object = {}): Promise<LogPage> {
  return (await world.t.query(api.lib.logs, { id, ...options }))!;
}

async function readOutput(world: World, id: string, options: object = {}): Promise<OutputPage> {
  return (await world.t.query(api.lib.output, { id, ...options }))!;
}

const textOf = (page: OutputPage) => page.parts.map(({ text }) => text).join("");

/** A job that runs, and its worker. */
async function running(config: Parameters<typeof newWorld>[0] = {}) {
  const world = await newWorld({ leaseMs: 60_000, ...config });
  const id = await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  return { world, id, worker, job: job! };
}

describe("log entries", () => {
  // Shows SG-19, D9.
  test("stand in the worker's order, are changed in place, and stay when the job has ended", async () => {
    const { world, id, worker, job } = await running();
    await worker.report({
      logs: [log(id, 0, "begun", { data: { of: 10 } }), log(id, 1, "hm", { level: "warn" })],
    });
    await world.advance(1_000);
    await worker.report({ logs: [log(id, 0, "at work", { revision: 1 })] });
    await worker.complete([succeeded(job)]);
    expect((await readLogs(world, id)).entries).toEqual([
      {
        ...{ attempt: 1, entry: 0, level: "info", message: "at work" },
        ...{ at: T0, updatedAt: T0 + 1_000 },
      },
      { attempt: 1, entry: 1, level: "warn", message: "hm", at: T0 },
    ]);
  });

  // Shows SG-19.
  test("of a call that is repeated stand there once, and one that comes late changes nothing", async () => {
    const { world, id, worker } = await running();
    const first = { revision: 0 };
    const said = { logs: [log(id, 0, "old", first), log(id, 1, "two", first)] };
    await worker.report(said);
    await worker.report({ logs: [log(id, 0, "new", { revision: 1 })] });
    expect(await worker.report(said)).toEqual([{ id, attempt: 1, answer: "ok" }]);
    const { entries } = await readLogs(world, id);
    expect(entries.map(({ message }) => message)).toEqual(["new", "two"]);
    expect(entries[1]).not.toHaveProperty("updatedAt");
  });

  test("of earlier attempts make room for entries of the last", async () => {
    const { world, id, worker } = await running();
    await world.t.run(async (ctx) => {
      for (let entry = 0; entry < 3; entry += 1) {
        const row = { job: id, attempt: 0, entry, level: "info" as const, message: "old", at: T0 };
        await ctx.db.insert("logs", { ...row, total: 998 + entry });
      }
    });
    expect(await worker.report({ logs: [log(id, 0, "x"), log(id, 1, "y")] })).toEqual([
      { id, attempt: 1, answer: "ok" },
    ]);
    const { entries } = await readLogs(world, id);
    expect(entries.map(({ message }) => message)).toEqual(["old", "old", "old", "x", "y"]);
    // Said again, it is no new entry, for which another would have to go.
    for (const total of [1, 4]) {
      await world.t.run(async (ctx) => {
        const first = (await ctx.db.query("logs").first())!;
        await ctx.db.patch("logs", first._id, { total });
      });
      await worker.report({ logs: [log(id, 2, "z")] });
    }
    const after = await readLogs(world, id);
    expect(after.entries.map(({ message }) => message)).toEqual(["old", "old", "x", "y", "z"]);
  });

  test("beyond a thousand are not taken, and the answer says how many", async () => {
    const { world, id, worker } = await running();
    for (let at = 0; at < 1_000; at += 250) {
      const logs = Array.from({ length: 250 }, (_, i) => log(id, at + i, "x"));
      expect(await worker.report({ logs })).toEqual([{ id, attempt: 1, answer: "ok" }]);
    }
    const more = [log(id, 1_000, "x"), log(id, 1_001, "x"), log(id, 0, "y", { revision: 1 })];
    expect(await worker.report({ logs: more })).toMatchObject([{ answer: "ok", logsDropped: 2 }]);
    const page = await readLogs(world, id, { limit: 1_000 });
    expect(page.entries).toHaveLength(1_000);
    expect(page.entries[0]).toMatchObject({ message: "y" });
  });

  test("are counted over all attempts, and read in their order", async () => {
    const { world, id, worker } = await running({ leaseMs: 1_000, maxResets: 100 });
    await worker.report({ logs: [log(id, 0, "first"), log(id, 1, "second")] });
    await world.advance(2_000);
    const other = world.worker("b");
    await other.claim();
    await other.report({ logs: [log(id, 0, "third", { attempt: 2 })] });
    const { entries } = await readLogs(world, id);
    expect(entries.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, "first"],
      [1, "second"],
      [2, "third"],
    ]);
    expect((await world.all("logs")).map(({ total }) => total)).toEqual([1, 2, 3]);
  });

  test("are read in pages, with cursors that mean the same place for ever", async () => {
    const { world, id, worker } = await running();
    await worker.report({ logs: Array.from({ length: 5 }, (_, i) => log(id, i, `${i}`)) });
    const first = await readLogs(world, id, { limit: 2 });
    expect(first).toMatchObject({ isDone: false, entries: [{ entry: 0 }, { entry: 1 }] });
    const rest = await readLogs(world, id, { cursor: first.cursor });
    expect(rest).toMatchObject({ isDone: true });
    const empty = await readLogs(world, id, { cursor: rest.cursor });
    expect(empty).toEqual({ queue: "tiles", entries: [], cursor: rest.cursor, isDone: true });
    await worker.report({ logs: [log(id, 5, "five")] });
    expect((await readLogs(world, id, { cursor: first.cursor })).entries).toHaveLength(4);
    expect((await readLogs(world, id, { cursor: rest.cursor })).entries).toMatchObject([
      { message: "five" },
    ]);
  });
});

describe("output", () => {
  // Shows LF-23, LF-26, SG-02, D7.
  test("is read from the beginning by a late reader, and stays when the job has ended", async () => {
    const { world, id, worker, job } = await running();
    await worker.report({ output: [part(id, 0, "Hello, "), part(id, 1, "world")] });
    expect(await readOutput(world, id)).toMatchObject({ attempt: 1, isDone: false });
    await worker.complete([succeeded(job)]);
    const page = await readOutput(world, id);
    expect(textOf(page)).toBe("Hello, world");
    expect(page).toMatchObject({ attempt: 1, lastAttempt: 1, isDone: true });
  });

  test("said again is recorded once, and after a gap nothing is: the answer names the part that is wanted", async () => {
    const { world, id, worker } = await running();
    const said = { output: [part(id, 0, "one"), part(id, 1, "two")] };
    expect(await worker.report(said)).toMatchObject([{ answer: "ok", nextIndex: 2 }]);
    expect(await worker.report(said)).toMatchObject([{ nextIndex: 2 }]);
    const gap = { output: [part(id, 3, "four"), part(id, 4, "five")] };
    expect(await worker.report(gap)).toMatchObject([{ answer: "ok", nextIndex: 2 }]);
    const late = { output: [part(id, 1, "two"), part(id, 2, "three")] };
    expect(await worker.report(late)).toMatchObject([{ nextIndex: 3 }]);
    expect(textOf(await readOutput(world, id))).toBe("onetwothree");
  });

  test("of a retry is a new one: a page changes over at once, and the old one can still be read", async () => {
    const { world, id, worker } = await running({ leaseMs: 1_000, maxResets: 9 });
    await worker.report({ output: [part(id, 0, "half a sent")] });
    const before = await readOutput(world, id);
    await world.advance(2_000);
    const other = world.worker("b");
    await other.claim();
    expect(await readOutput(world, id)).toMatchObject({ attempt: 2, parts: [], isDone: false });
    await other.report({ output: [part(id, 0, "a sentence", 2)] });
    expect(textOf(await readOutput(world, id))).toBe("a sentence");
    expect(await readOutput(world, id, { attempt: 1 })).toMatchObject({
      ...{ attempt: 1, lastAttempt: 2, isDone: true },
      parts: [{ index: 0, text: "half a sent" }],
    });
    expect(await readOutput(world, id, { cursor: before.cursor })).toMatchObject({
      ...{ attempt: 1, lastAttempt: 2, parts: [], isDone: true },
    });
  });

  test("is read in pages, by cursor or from an index", async () => {
    const { world, id, worker } = await running();
    await worker.report({ output: Array.from({ length: 5 }, (_, i) => part(id, i, `${i}`)) });
    const first = await readOutput(world, id, { limit: 2 });
    const second = await readOutput(world, id, { cursor: first.cursor, limit: 2 });
    const third = await readOutput(world, id, { fromIndex: 4 });
    expect([first, second, third].map(textOf)).toEqual(["01", "23", "4"]);
    const mixed = world.t.query(api.lib.output, { id, cursor: first.cursor, attempt: 1 });
    expect(await refusal(mixed)).toMatchObject({ code: "invalidArgument" });
  });

  test("of earlier attempts makes room for output of the last: a job with rounds over years is refused no word", async () => {
    const { world, id, worker } = await running();
    await wrote(world, id, 0, full);
    const said = { output: [part(id, 0, "o"), part(id, 1, "ver")] };
    expect(await worker.report(said)).toEqual([{ id, attempt: 1, answer: "ok", nextIndex: 2 }]);
    const left = await world.all("chunks");
    expect(left.map(({ attempt }) => attempt)).toEqual([...Array<number>(16).fill(0), 1, 1]);
  });

  test("makes room by no more rows than one call may delete, and takes all: the next calls delete the rest", async () => {
    const { world, id, worker } = await running();
    const rest = full.at(-1)!.slice(600);
    await wrote(world, id, 0, [...Array<string>(600).fill("x"), ...full.slice(0, -1), rest]);
    const said = { output: [part(id, 0, "y".repeat(550))] };
    expect(await worker.report(said)).toEqual([{ id, attempt: 1, answer: "ok", nextIndex: 1 }]);
    expect((await world.all("chunks")).filter(({ text }) => text === "x")).toHaveLength(88);
    const more = { output: [part(id, 1, "z".repeat(100))] };
    expect(await worker.report(more)).toEqual([{ id, attempt: 1, answer: "ok", nextIndex: 2 }]);
    const lengths = (await world.all("chunks")).map(({ text }) => text.length);
    expect(lengths.reduce((a, b) => a + b)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  });

  test("keeps no more than twice as much for small parts that are still to be deleted", async () => {
    const { world, id, worker } = await running();
    await wrote(world, id, 0, [...Array<string>(2_000).fill("x"), ...full, ...full]);
    const said = { output: [part(id, 0, "y".repeat(1_489)), part(id, 1, "z".repeat(100))] };
    expect(await worker.report(said)).toMatchObject([{ nextIndex: 0, outputFull: true }]);
    expect((await world.all("chunks")).filter(({ text }) => text === "x")).toHaveLength(1_488);
  });

  test.each([0, 600])("of 16 MiB is all that one may write, behind %i parts", async (parts) => {
    const { world, id, worker } = await running();
    await wrote(world, id, 0, Array<string>(parts).fill("x"));
    await wrote(world, id, 1, [...full.slice(1), full[0]!.slice(4)]);
    const over = (text: string) => worker.report({ output: [part(id, 17, text)] });
    expect(await over("over!")).toMatchObject([{ answer: "ok", nextIndex: 17, outputFull: true }]);
    expect(await over("over")).toMatchObject([{ nextIndex: 18 }]);
  });
});

describe("a report", () => {
  test("of a lease that is lost, over, or another's is answered so, and the call's other reports stand", async () => {
    const { world, id, worker, job } = await running();
    const [lost] = await world.enqueueBatch([1]);
    await world.worker("b").claim();
    const said = { output: [part(id, 0, "mine"), part(lost!, 0, "not mine")] };
    expect((await worker.report(said)).map(({ answer }) => answer)).toEqual(["ok", "leaseLost"]);
    await worker.complete([failed(job)]);
    expect(await worker.report({ output: [part(id, 1, "late")] })).toMatchObject([
      { answer: "leaseLost" },
    ]);
    expect(await worker.report({ logs: [log("no id at all", 0, "x")] })).toMatchObject([
      { answer: "leaseLost" },
    ]);
    expect((await world.all("chunks")).map(({ text }) => text)).toEqual(["mine"]);
  });

  test("with the session's id needs no snapshot read, and another's id is no use", async () => {
    const { id, worker } = await running();
    const session: string = (await worker.session())._id;
    const said = { output: [part(id, 0, "x")] };
    const call = async (as: string) =>
      await worker.world.t.mutation(api.lib.report, {
        ...{ token: worker.token, sessionKey: "unknown", session: as },
        ...said,
      });
    expect((await call(id)).answers).toMatchObject([{ answer: "leaseLost" }]);
    expect((await call(session)).answers).toMatchObject([{ answer: "ok", nextIndex: 1 }]);
  });

  test("by a token that may not serve the job's queue is answered leaseLost", async () => {
    const { world, id, worker } = await running();
    const queues = ["other"];
    const { token } = await world.t.mutation(api.operate.createToken, { name: "narrow", queues });
    const session: string = (await worker.session())._id;
    const args = {
      token,
      sessionKey: worker.sessionKey,
      session,
      updates: [{ id, attempt: 1, value: 1 }],
    };
    expect((await world.t.mutation(api.lib.report, args)).answers).toMatchObject([
      { answer: "leaseLost" },
    ]);
  });

  test("by another token of the same queue is answered leaseLost, though it names the session", async () => {
    const { world, id, worker } = await running();
    const { token } = await world.t.mutation(api.operate.createToken, {
      name: "other",
      queues: null,
    });
    const session: string = (await worker.session())._id;
    const said = { output: [part(id, 0, "not mine")] };
    for (const sessionKey of [worker.sessionKey, "another"]) {
      const args = { token, sessionKey, session, ...said };
      expect((await world.t.mutation(api.lib.report, args)).answers).toMatchObject([
        { answer: "leaseLost" },
      ]);
    }
    expect(await world.all("chunks")).toEqual([]);
  });

  test("of a canceled job is recorded, and the answer says so", async () => {
    const { world, id, worker } = await running();
    await world.t.mutation(api.operate.cancelJob, { id });
    expect(await worker.report({ logs: [log(id, 0, "stopping")] })).toMatchObject([
      { answer: "canceled" },
    ]);
    expect((await readLogs(world, id)).entries).toHaveLength(1);
  });

  // Rules out D30, P21.
  test("writes neither the job's row nor its session's: a transaction that moves the job does not conflict with it", async () => {
    const { world, id, worker } = await running();
    const before = [await world.job(id), await worker.session()];
    await worker.report({
      updates: [{ id, attempt: 1, value: 1 }],
      logs: [log(id, 0, "x")],
      output: [part(id, 0, "x")],
    });
    expect([await world.job(id), await worker.session()]).toEqual(before);
  });

  test("shows the progress that was said last, though an older call arrives after it", async () => {
    const { world, id, worker } = await running();
    const update = (value: number, revision: number) => ({
      updates: [{ id, attempt: 1, value, revision }],
    });
    await worker.report(update(0.5, 2));
    await worker.report(update(0.1, 1));
    expect(await world.status(id)).toMatchObject({ progress: 0.5 });
  });

  test.each([
    ["nothing", {}],
    ["a message over 4 KiB", { logs: [log("x", 0, "m".repeat(4_097))] }],
    ["data over 8 KiB", { logs: [log("x", 0, "m", { data: "d".repeat(8_193) })] }],
    ["half an entry", { logs: [log("x", 0.5, "m")] }],
    ["a part of output over 64 KiB", { output: [part("x", 0, "€".repeat(22_000))] }],
    ["a part of output without text", { output: [part("x", 0, "")] }],
    ["an index below 0", { output: [part("x", -1, "t")] }],
    [
      "too many parts of output",
      { output: Array.from({ length: 257 }, (_, i) => part("x", i, "t")) },
    ],
    ["too many leases", { updates: leases(65) }],
    ["more than 4 MiB", { output: Array.from({ length: 65 }, (_, i) => part("x", i, big)) }],
    ["what is too wide to be stored", { updates: [{ id: "x", attempt: 1, value: wide() }] }],
  ])("with %s is refused whole", async (_, said) => {
    const { worker } = await running();
    expect((await refusal(worker.report(said))).code).toMatch(/invalidArgument|payloadTooLarge/);
  });
});

test.each(["x", "1", "1:", "1:2:3", "-1:0", "1:-2", "9999999999999999999:1"])(
  "%j is no cursor",
  async (cursor) => {
    const { world, id } = await running();
    const code = "invalidArgument";
    expect(await refusal(world.t.query(api.lib.logs, { id, cursor }))).toMatchObject({ code });
    expect(await refusal(world.t.query(api.lib.output, { id, cursor }))).toMatchObject({ code });
  },
);

test("the cursor of the last page leads on, even behind the greatest number", async () => {
  const { world, worker, id } = await running();
  const entry = Number.MAX_SAFE_INTEGER;
  await worker.report({ logs: [log(id, entry, "the last there can be")] });
  const page = (await world.t.query(api.lib.logs, { id }))!;
  expect(page.entries).toMatchObject([{ entry }]);
  const { cursor } = page;
  expect(await world.t.query(api.lib.logs, { id, cursor })).toMatchObject({ entries: [] });
});

test("there is nothing to read of a job of another queue, or of none", async () => {
  const { world, id } = await running();
  const asked: { id: string; queue?: string }[] = [{ id, queue: "other" }, { id: "nonsense" }];
  for (const args of asked) {
    expect(await world.t.query(api.lib.logs, args)).toBeNull();
    expect(await world.t.query(api.lib.output, args)).toBeNull();
    expect(await world.t.query(api.lib.attempts, args)).toBeNull();
    expect(await world.t.query(api.lib.status, args)).toBeNull();
  }
  expect(await world.t.query(api.lib.logs, { id: id, queue: "tiles" })).not.toBeNull();
});

const big = "b".repeat(64 * 2 ** 10);
/** All that is kept of a job. */
const full = [...Array<string>(16).fill("b".repeat(1_000_000)), "b".repeat(777_216)];

/** As if an attempt had written this. */
async function wrote(world: World, job: Id<"jobs">, attempt: number, texts: readonly string[]) {
  await world.t.run(async (ctx) => {
    let total = (await ctx.db.query("chunks").order("desc").first())?.total ?? 0;
    for (const [index, text] of texts.entries()) {
      total += text.length;
      await ctx.db.insert("chunks", { job, attempt, index, text, total });
    }
  });
}

function leases(count: number) {
  return Array.from({ length: count }, (_, i) => ({ id: `job${i}`, attempt: 1, value: 1 }));
}

function wide(): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 1_025 }, (_, i) => [i.toString(36) + "k", 1]));
}
