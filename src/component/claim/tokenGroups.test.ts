/** A token for some groups: its workers see, claim, report and continue with jobs of these groups alone. */
import { describe, expect, test, vi } from "vitest";
import { TOKEN_GROUPS_MAX_BYTES } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, Worker, type World } from "../setup.test.js";

const payloads = (jobs: { payload?: unknown }[]) => jobs.map(({ payload }) => payload).sort();

async function tokenFor(world: World, groups: string[] | null, queues: string[] | null = null) {
  return await world.t.mutation(api.operate.createToken, { name: "acme", queues, groups });
}

/** A job of each of three groups, and one of none; and a worker with a token for the first two. */
async function mixed(groups: string[] | null = ["a", "b"]) {
  const world = await newWorld({ shards: 4 });
  for (const group of ["a", "b", "c"]) await world.enqueue(group, { group });
  await world.enqueue("none");
  const { id, token } = await tokenFor(world, groups);
  return { world, id, worker: new Worker(world, "w", "session-w", token) };
}

describe("a token for some groups", () => {
  // Shows LF-08, C20.
  test("peeks at, is notified of, and claims jobs of these groups alone, though its worker names none", async () => {
    const { worker } = await mixed();
    expect(payloads(await worker.peek())).toEqual(["a", "b"]);
    expect((await worker.waiting()).jobs).toHaveLength(2);
    expect(await worker.hasWork()).toBe(true);
    expect(payloads(await worker.claim(9))).toEqual(["a", "b"]);
    expect(await worker.hasWork({}, { on: true })).toBe(false);
    expect((await worker.waiting()).jobs).toEqual([]);
  });

  test("narrows further the groups that its worker names", async () => {
    const { worker } = await mixed();
    expect(payloads(await worker.peek({ groups: ["b"] }))).toEqual(["b"]);
    expect(payloads(await worker.claim(9, { groups: ["b"] }))).toEqual(["b"]);
  });

  // Shows LF-08, C20.
  test("refuses a group that is not its own, in every call that searches, and takes nothing", async () => {
    const { world, worker } = await mixed();
    const groups = { groups: ["a", "c"] };
    const { token, sessionKey } = worker;
    const claim = { queues: [world.queue], max: 9, ...groups };
    for (const call of [
      worker.peek(groups),
      worker.hasWork(groups),
      worker.waiting(groups),
      worker.claim(9, groups),
      world.t.mutation(api.lib.complete, {
        ...{ token, sessionKey, callSeq: 9, claim },
        finished: [succeeded({ id: "x", attempt: 1 })],
      }),
    ]) {
      const refused = await refusal(call);
      expect(refused).toMatchObject({ code: "groupForbidden", group: "c", allowed: ["a", "b"] });
      expect(refused.message).toContain('for jobs of "a", "b", not of the group "c"');
    }
    expect(await world.all("sessions")).toEqual([]);
  });

  test("claims within its groups beside outcomes, and by name", async () => {
    const { world, worker } = await mixed();
    const { token, sessionKey } = worker;
    const [one] = await worker.claim(1, { groups: ["a"] });
    const named = (await world.all("jobs")).map(({ _id }) => _id as string);
    const claim = { queues: [world.queue], max: 9, named, lookIn: [] };
    const { jobs } = await world.t.mutation(api.lib.complete, {
      ...{ token, sessionKey, callSeq: 2, claim },
      finished: [succeeded(one!)],
    });
    expect(payloads(jobs)).toEqual(["b"]);
  });

  test("takes and ends no overdue job, of its own group or another, though its worker names it", async () => {
    const { world, worker } = await mixed();
    const id = await world.enqueue("late", { group: "c", expiresAfterMs: 1_000 });
    const own = await world.enqueue("own", { group: "a", expiresAfterMs: 1_000 });
    // Past both times, and before the sweep that would end these jobs.
    vi.setSystemTime(Date.now() + 1_000);
    const { token, sessionKey, name } = worker;
    const { jobs } = await world.t.mutation(api.lib.claim, {
      ...{ token, sessionKey, name, callSeq: 1, queues: [world.queue], max: 9 },
      ...{ named: [id, own], lookIn: [] },
    });
    expect(jobs).toEqual([]);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
    expect(await world.status(own)).toMatchObject({ status: "pending" });
  });

  test("gets another worker's lost jobs only as far as they are of these groups", async () => {
    const { world, worker } = await mixed();
    const lost = world.worker("lost");
    await lost.claim(9);
    await world.advance(10_500);
    expect(payloads(await worker.claim(9))).toEqual(["a", "b"]);
  });

  test("reports and completes its own jobs, and no job of another group in the same session", async () => {
    const { world, id, worker } = await mixed();
    const jobs = await worker.claim(9);
    const updates = jobs.map(({ id: job, attempt }) => ({ id: job, attempt, value: 1 }));
    expect(await worker.progress(updates)).toEqual(["ok", "ok"]);
    // As if the token had been for more when it claimed.
    await world.t.run(async (ctx) => {
      await ctx.db.patch("tokens", ctx.db.normalizeId("tokens", id)!, { groups: ["b"] });
    });
    const words = await worker.progress(updates);
    expect(words.toSorted()).toEqual(["leaseLost", "ok"]);
    expect((await worker.complete(jobs.map((job) => succeeded(job)))).words).toEqual(["ok", "ok"]);
  });

  test("is asked to end nothing that another token's session holds", async () => {
    const { world, worker } = await mixed();
    const other = world.worker("other");
    const [job] = await other.claim(1, { groups: ["c"] });
    await world.cancel(job!.id);
    const { token } = worker;
    const asked = (of: string, sessionKey: string) =>
      world.t.query(api.lib.cancellations, { token: of, sessionKey });
    expect(await asked(other.token, other.sessionKey)).toHaveLength(1);
    expect(await asked(token, other.sessionKey)).toEqual([]);
  });

  test("continues with jobs of these groups: of the job's own where none is named", async () => {
    const { world, worker } = await mixed(["a"]);
    const [job] = await worker.claim(9);
    const follow = (group?: string) => ({
      payload: `follows in ${group}`,
      ...(group === undefined ? {} : { options: { group } }),
    });
    const report = (...jobs: ReturnType<typeof follow>[]) => ({
      ...succeeded(job!),
      continued: [{ queue: world.queue, jobs }],
    });
    expect((await worker.complete([report(follow(), follow("a"))])).words).toEqual(["ok"]);
    const followers = await worker.claim(9);
    expect(payloads(followers)).toEqual(["follows in a", "follows in undefined"]);
    const next = { ...report(follow("c")), id: followers[0]!.id };
    expect((await worker.complete([next])).words).toEqual(["ok"]);
    expect(await world.status(followers[0]!.id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining('not of the group "c"'),
    });
  });
});

test("a token for no groups in particular is for jobs of every group, and of none", async () => {
  const { worker } = await mixed(null);
  expect(payloads(await worker.peek())).toEqual(["a", "b", "c", "none"]);
  expect(payloads(await worker.claim(9))).toEqual(["a", "b", "c", "none"]);
});

test("a token's groups are listed, kept by its rotation, and returned to the app", async () => {
  const { world, id } = await mixed(["b", "a", "b"]);
  const { token } = await world.t.mutation(api.operate.rotateToken, { id });
  const scope = { id, name: "acme", queues: null, groups: ["a", "b"] };
  expect((await world.t.query(api.operate.listTokens, {}))[0]).toMatchObject(scope);
  expect(await world.t.query(api.lib.checkToken, { token })).toEqual(scope);
  const worker = new Worker(world, "w", "session-w", token);
  expect(payloads(await worker.claim(9))).toEqual(["a", "b"]);
});

test.each([
  ["no group at all", []],
  ["a blank one", [" "]],
  ["too many", Array.from({ length: 65 }, (_, i) => `g${i}`)],
  ["one that is too long", ["g".repeat(129)]],
  ["more than a session's row can hold", Array.from({ length: 40 }, (_, i) => "漢".repeat(60) + i)],
])("a token for %s is refused", async (_, groups) => {
  const world = await newWorld();
  const refused = await refusal(tokenFor(world, groups));
  expect(refused.code).toBe("invalidArgument");
  expect(await world.all("tokens")).toHaveLength(1);
});

test("all groups that a token may be for leave a claim room for labels", async () => {
  const world = await newWorld();
  const groups = Array.from({ length: 64 }, (_, i) => `${"g".repeat(30)}${i + 10}`);
  expect(groups.join("")).toHaveLength(TOKEN_GROUPS_MAX_BYTES);
  await world.enqueue("mine", { group: groups[63]! });
  const { token } = await tokenFor(world, groups);
  const worker = new Worker(world, "w", "session-w", token);
  const labels = Array.from({ length: 64 }, (_, i) => `${"l".repeat(30)}${i + 10}`);
  expect(payloads(await worker.claim(9, { labels }))).toEqual(["mine"]);
});

test("a session that never held a job receives no word of its end", async () => {
  const world = await newWorld();
  const id = await world.enqueue();
  const [job] = await world.worker("a").claim();
  await world.cancel(id);
  await world.worker("a").complete([{ id, attempt: 1, outcome: { kind: "canceled" } }], { n: 2 });
  expect(await world.status(id)).toMatchObject({ status: "canceled" });
  expect((await world.worker("b").complete([succeeded(job!)])).words).toEqual(["leaseLost"]);
  const late = await world.worker("a").complete([succeeded(job!)], { n: 3 });
  expect(late.words).toEqual(["canceled"]);
});
