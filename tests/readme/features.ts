/**
 * The README's functions, without a backend: copied beside them and run there with `convex-test`, as an app's own tests are. The
 * worker's half of the protocol is played by hand.
 */
import { convexTest } from "convex-test";
import { anyApi, type SchemaDefinition } from "convex/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import conveyor from "convex-conveyor/test";

const modules = import.meta.glob("./**/*.ts");
const schemas = import.meta.glob("./schema.ts", { eager: true, import: "default" });

interface Claimed {
  id: string;
  queue: string;
  attempt: number;
  payload: any;
  related?: any;
}

/** An app with a worker that may serve everything. */
async function newApp() {
  const t = convexTest(schemas["./schema.ts"] as SchemaDefinition<any, any>, modules);
  conveyor.register(t);
  const { id: tokenId, token } = await t.mutation(anyApi.tokens!.create!, { name: "worker" });
  const session = { token, sessionKey: "s-1" };
  let n = 0;
  const claim = async (queue: string, conditions: object = {}): Promise<Claimed[]> => {
    const args = { ...session, name: "w-1", callSeq: ++n, queues: [queue], max: 10, ...conditions };
    return (await t.mutation(anyApi.workers!.claim!, args)).jobs;
  };
  const complete = async ({ id, attempt, queue }: Claimed, outcome: object, also: object = {}) => {
    const finished = [{ id, attempt, queue, outcome, ...also }];
    const args = { ...session, callSeq: ++n, finished };
    return (await t.mutation(anyApi.workers!.complete!, args)).answers[0].answer as string;
  };
  const report = async (args: object) =>
    await t.mutation(anyApi.workers!.report!, { ...session, ...args });
  const time = {
    advance: (ms: number) => vi.advanceTimersByTime(ms),
    stepMs: 1_000,
    momentMs: 200,
  };
  /** Lets time pass, with the functions that fall due in it, and the ones that these start at once. */
  const settle = async (ms: number) => {
    await conveyor.pass(t, ms, time);
    await conveyor.settle(t, time);
  };
  return { t, tokenId, token, claim, complete, report, settle };
}

const gpu = { labels: ["gpu"], maxCost: 48 };
const status = async (t: { query: any }, id: string) =>
  (await t.query(anyApi.jobs!.status!, { id })) as { status: string } & Record<string, any>;

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterEach(() => void vi.useRealTimers());

test("a reminder is one a user: a newer one takes its place, until it has begun", async () => {
  const { t, claim } = await newApp();
  const remind = async (text: string, at = Date.now() + 60_000) =>
    await t.mutation(anyApi.reminders!.remind!, { user: "ann", text, at });
  const [first, second] = [await remind("one"), await remind("two")];
  expect([first.isNew, second.isNew]).toEqual([true, true]);
  const corrected = { id: second.id, user: "ann", text: "three" };
  expect(await t.mutation(anyApi.reminders!.correct!, corrected)).toMatchObject({ replaced: true });
  expect(await t.mutation(anyApi.reminders!.correct!, corrected)).toMatchObject({
    replaced: false,
    status: "canceled",
  });
  const begun = await remind("four", Date.now());
  await claim("reminders");
  expect(await remind("five")).toEqual({ id: begun.id, isNew: false, tooLate: true });
});

test("a batch from an action is enqueued with options of each, and only a user without a job gets one", async () => {
  const { t, claim } = await newApp();
  const ids: string[] = await t.action(anyApi.reminders!.remindAll!, {
    users: ["ann", "bob", "ann"],
    text: "all",
  });
  expect(ids[2]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(2);
  expect((await claim("reminders")).map(({ payload }) => payload.user)).toEqual(["ann"]);
});

// Shows WP-24, D14.
test("a job's own onComplete runs with its context, and not for ends that it excludes", async () => {
  const { t, claim, complete } = await newApp();
  const notes = async () => await t.run(async (ctx) => await ctx.db.query("notes").collect());
  const remind = async () =>
    await t.mutation(anyApi.reminders!.remindLoudly!, { user: "ann", text: "now" });
  const canceled = { id: await remind(), user: "ann", text: "later" };
  expect(await t.mutation(anyApi.reminders!.correct!, canceled)).toMatchObject({ replaced: true });
  await remind();
  const jobs = await claim("reminders");
  for (const job of jobs) expect(job).not.toHaveProperty("context");
  vi.advanceTimersByTime(500);
  for (const job of jobs) await complete(job, { kind: "succeeded" });
  expect(await notes()).toMatchObject([{ text: "ann: succeeded after 500 ms" }]);
});

// Shows LF-30, DE-20, SG-09, E7.
test("a failure is tried again after a wait, one that is final is not", async () => {
  const { t, claim, complete, settle } = await newApp();
  await t.mutation(anyApi.reminders!.remindLoudly!, { user: "ann", text: "a" });
  const [first] = await claim("reminders");
  await complete(first!, { kind: "failed", error: "The mail service says 500." });
  expect(await claim("reminders")).toEqual([]);
  for (let second = 0; second < 3; second++) await settle(1_000);
  const [second] = await claim("reminders");
  expect(second).toMatchObject({ id: first!.id, attempt: 2, failures: 1 });
  await complete(second!, { kind: "failed", error: "No user is called ann.", retryable: false });
  expect(await claim("reminders")).toEqual([]);
});

test("a job goes to a worker that has its labels and room for its cost, with related data", async () => {
  const { t, claim } = await newApp();
  await t.mutation(anyApi.photos!.add!, { url: "https://example.com/a.jpg" });
  for (const question of ["a", "b", "c"]) {
    await t.mutation(anyApi.answers!.ask!, { user: "ann", question });
  }
  expect(await claim("answers")).toEqual([]);
  expect(await claim("answers", { labels: ["gpu"], maxCost: 23 })).toEqual([]);
  expect(await claim("answers", { ...gpu, groups: ["bob"] })).toEqual([]);
  const jobs = await claim("answers", gpu);
  expect(jobs).toHaveLength(2);
  expect(jobs[0]!.related).toEqual({ photos: ["https://example.com/a.jpg"] });
});

// Shows LF-41, K3.
test("a query joins a job's status with its output", async () => {
  const { t, claim, report } = await newApp();
  const id = await t.mutation(anyApi.answers!.ask!, { user: "ann", question: "Why?" });
  const [{ attempt }] = (await claim("answers", gpu)) as [Claimed];
  const output = ["You ", "asked"].map((text, index) => ({ id, attempt, index, text }));
  await report({ output });
  expect(await t.query(anyApi.answers!.transcript!, { id })).toEqual({
    status: "running",
    text: "You asked",
  });
});

// Shows DE-08, DE-22, D11.
test("a result may be a file: a storage id, which the page gets with the status", async () => {
  const { t, claim, complete } = await newApp();
  const id = await t.mutation(anyApi.answers!.ask!, { user: "ann", question: "Sing!" });
  const [job] = await claim("answers", gpu);
  const audio = await t.run(async (ctx) => await ctx.storage.store(new Blob(["la"])));
  await complete(job!, { kind: "succeeded", result: { words: 1, audio } });
  const { result } = await status(t, id);
  expect(await t.run(async (ctx) => await ctx.storage.getUrl(result.audio))).toMatch(/^https:/);
});

// Shows WP-39.
test("a job's continuation is enqueued with its result", async () => {
  const { t, claim, complete } = await newApp();
  await t.mutation(anyApi.answers!.ask!, { user: "ann", question: "Why?" });
  const [job] = await claim("answers", gpu);
  const payload = { user: "ann", text: "Your answer is there." };
  const continued = [{ queue: "reminders", payload }];
  const outcome = { kind: "succeeded", result: { words: 1 } };
  expect(await complete(job!, outcome, { continued })).toBe("ok");
  expect(await complete(job!, outcome, { continued })).toBe("recorded");
  expect((await claim("reminders")).map((one) => one.payload)).toEqual([payload]);
});

// Shows F17.
test("cancel ends a waiting job, asks a running one to end, and says which of the two", async () => {
  const { t, claim, complete } = await newApp();
  const ask = async () => await t.mutation(anyApi.answers!.ask!, { user: "ann", question: "?" });
  const stop = async (id: string) => await t.mutation(anyApi.answers!.stop!, { id });
  const waiting = await ask();
  expect(await stop(waiting)).toBe("It never ran.");
  expect(await status(t, waiting)).toMatchObject({ reason: "The user left." });
  const running = await ask();
  const [job] = await claim("answers", gpu);
  expect(await stop(running)).toBe("It is being stopped.");
  await complete(job!, { kind: "failed", error: "Aborted." });
  expect(await status(t, running)).toMatchObject({ status: "canceled", reason: "The user left." });
  expect(await stop(running)).toBe("It had ended.");
  expect(await t.mutation(anyApi.answers!.again!, { id: running })).toBe(true);
  expect(await status(t, running)).toMatchObject({ status: "pending" });
});

// Shows CR-01.
test("an item of a ring comes back after its rest, least recently worked on first", async () => {
  const { t, claim, complete, settle } = await newApp();
  for (const url of ["a", "b"]) await t.mutation(anyApi.feeds!.follow!, { url });
  const urls = async (max: number) =>
    (await claim("feeds", { max })).map((job) => ({ job, url: job.payload.url as string }));
  const [a] = await urls(1);
  await complete(a!.job, { kind: "succeeded" });
  const [b] = await urls(1);
  await complete(b!.job, { kind: "succeeded" });
  expect([a!.url, b!.url]).toEqual(["a", "b"]);
  expect(await urls(1)).toEqual([]);
  // Its rest is over, and the alarms that lead there have rung.
  for (let minute = 0; minute < 16; minute++) await settle(60_000);
  expect((await urls(2)).map(({ url }) => url)).toEqual(["a", "b"]);
});

test("a muted item is passed over until it is not muted any more", async () => {
  const { t, claim } = await newApp();
  const id = await t.mutation(anyApi.feeds!.follow!, { url: "a" });
  const mute = async (muted: boolean) => await t.mutation(anyApi.feeds!.mute!, { id, muted });
  expect(await mute(true)).toMatchObject({ changed: true, paused: true });
  expect(await claim("feeds")).toEqual([]);
  expect(await mute(false)).toMatchObject({ changed: true, paused: false });
  expect(await claim("feeds")).toHaveLength(1);
});

test("a queue is paused, drained and configured while it runs", async () => {
  const { t, claim } = await newApp();
  const run = async (name: string) => await t.mutation(anyApi.operations![name]!, {});
  const ask = async () => await t.mutation(anyApi.answers!.ask!, { user: "ann", question: "?" });
  await ask();
  await run("pause");
  expect(await claim("answers", gpu)).toEqual([]);
  await run("resume");
  await run("drain");
  await expect(ask()).rejects.toThrow(/drain/);
  await run("slowDown");
  expect(await claim("answers", gpu)).toMatchObject([{ leaseMs: 120_000 }]);
  const state = await t.query(anyApi.operations!.state!, {});
  expect(state).toMatchObject({ drained: false, inForce: { leaseMs: 120_000, maxResets: 1 } });
});

test("many jobs are canceled, retried and deleted by their properties", async () => {
  const { t, claim, complete } = await newApp();
  const ask = async (user: string) =>
    await t.mutation(anyApi.answers!.ask!, { user, question: "?" });
  const [failed] = [await ask("ann"), await ask("ann"), await ask("bob")];
  const [job] = await claim("answers", { labels: ["gpu"], max: 1 });
  await complete(job!, { kind: "failed", error: "no", retryable: false });
  vi.advanceTimersByTime(1_000);
  expect(await t.mutation(anyApi.operations!.retryFailed!, {})).toMatchObject({ changed: 1 });
  expect(await status(t, failed)).toMatchObject({ status: "pending" });
  const ann = { user: "ann" };
  expect(await t.mutation(anyApi.operations!.stopUser!, ann)).toMatchObject({ changed: 2 });
  expect(await t.mutation(anyApi.operations!.forgetUser!, ann)).toMatchObject({ changed: 2 });
  expect(await status(t, failed)).toBeNull();
  expect(await claim("answers", gpu)).toHaveLength(1);
});

// Shows LF-17, O2.
test("tokens are managed by internal functions only, which no browser or worker can call", () => {
  const [exported] = Object.values(import.meta.glob<object>("./tokens.ts", { eager: true }));
  const functions = Object.entries(exported!);
  expect(functions.map(([name]) => name).sort()).toEqual(["create", "list", "revoke", "rotate"]);
  for (const [, one] of functions) expect(one).toHaveProperty("isInternal", true);
});

// Shows WP-17, C5.
test("the write of a job that Convex runs by mutation is in the app's tables, once, and a job's own handler takes its place", async () => {
  const { t, settle } = await newApp();
  const asked = { from: "ann", to: "bob", cents: 5 };
  const id: string = await t.mutation(anyApi.ledger!.transfer!, asked);
  const notes = async () => await t.run(async (ctx) => await ctx.db.query("notes").collect());
  // It falls due a second later.
  await settle(1_000);
  expect(await status(t, id)).toMatchObject({ status: "succeeded", result: 2 });
  expect((await notes()).map(({ text }) => text).sort()).toEqual(["ann: -5", "bob: 5"]);
});
