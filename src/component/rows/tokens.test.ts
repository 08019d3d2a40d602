import { describe, expect, test } from "vitest";
import { REVOKED_SESSIONS } from "../../shared/index.js";
import { api } from "../_generated/api.js";
import { newWorld, refusal, succeeded, Worker, type World } from "../setup.test.js";

async function create(world: World, queues: string[] | null = null, deployment?: string) {
  const args = { name: "gpu-1", queues, ...(deployment === undefined ? {} : { deployment }) };
  return await world.t.mutation(api.operate.createToken, args);
}

/** Every call of a worker that names its token, with this token. */
function calls(world: World, token: string): (() => Promise<unknown>)[] {
  const { t, queue } = world;
  const call = { token, sessionKey: "s" };
  const job = { id: "x", attempt: 1 };
  return [
    () => t.query(api.lib.hasWork, { token, queues: [queue.name] }),
    () => t.mutation(api.lib.claim, { ...call, callSeq: 1, name: "a", queues: [queue], max: 1 }),
    () => t.mutation(api.lib.complete, { ...call, callSeq: 1, finished: [succeeded(job)] }),
    () => t.mutation(api.lib.heartbeat, { ...call, leases: [] }),
    () => t.mutation(api.lib.report, { ...call, updates: [{ ...job, value: 1 }] }),
    () => t.query(api.lib.peek, { token, queues: [queue.name] }),
    () => t.query(api.lib.cancellations, call),
    () => t.query(api.lib.checkToken, { token }),
    () => t.mutation(api.lib.completeLater, { ...call, finished: succeeded(job) }),
    () => t.mutation(api.lib.takeBack, { ...call, finished: [succeeded(job)] }),
  ];
}

const CALLS = 10;

async function refusals(world: World, token: string): Promise<string[]> {
  const codes: string[] = [];
  for (const call of calls(world, token)) codes.push((await refusal(call())).code);
  return codes;
}

describe("a worker token", () => {
  // Shows LF-17, O1.
  test("is shown once; only its hash is kept", async () => {
    const world = await newWorld();
    const { token } = await create(world);
    expect(token).toMatch(/^cvy_[0-9a-f]{8}_[0-9a-f]{64}$/);
    expect(JSON.stringify(await world.all("tokens"))).not.toContain(token.split("_")[2]);
    expect(JSON.stringify(await world.t.query(api.operate.listTokens, {}))).not.toContain("hash");
  });

  // Shows LF-15.
  test("that was never made is unknown to every call, and none of these changes anything", async () => {
    const world = await newWorld();
    const id = await world.enqueue();
    const before = await world.job(id);
    const stranger = world.token.slice(0, -1) + (world.token.endsWith("0") ? "1" : "0");
    expect(await refusals(world, stranger)).toEqual(Array(CALLS).fill("tokenUnknown"));
    expect(await refusals(world, "secret")).toEqual(Array(CALLS).fill("tokenUnknown"));
    expect(await world.job(id)).toEqual(before);
    expect(await world.all("sessions")).toEqual([]);
  });

  test("of another deployment is distinguished from a wrong one", async () => {
    const world = await newWorld();
    const other = await newWorld();
    const { token } = await create(other, null, "https://other.example");
    const refused = await refusal(calls(world, token)[1]!());
    expect(refused).toMatchObject({ code: "tokenForeign" });
    expect(refused.message).toContain("another deployment");
  });

  // Shows LF-17, O1.
  test("that is revoked is refused by every call, and its leases end by themselves", async () => {
    const world = await newWorld({ maxResets: 3 });
    const id = await world.enqueue();
    const mine = await create(world);
    const worker = new Worker(world, "a", "session-a", mine.token);
    await worker.claim();
    await world.t.mutation(api.operate.revokeToken, { id: mine.id });
    expect(await refusals(world, mine.token)).toEqual(Array(CALLS).fill("tokenRevoked"));
    await world.advance(10_500);
    expect(await world.status(id)).toMatchObject({ status: "pending" });
  });

  test("that is revoked twice is revoked since the first time", async () => {
    const world = await newWorld();
    const { id } = await create(world);
    await world.t.mutation(api.operate.revokeToken, { id });
    const [first] = await world.t.query(api.operate.listTokens, {});
    await world.advance(1_000);
    await world.t.mutation(api.operate.revokeToken, { id });
    expect((await world.t.query(api.operate.listTokens, {}))[0]).toEqual(first);
  });

  // Shows LF-08, M5.
  test("serves the queues of its scope, and no other", async () => {
    const world = await newWorld();
    const narrow = await create(world, ["other"]);
    await world.enqueue("mine");
    const claim = { queues: [world.queue], max: 1 };
    const complete = (token: string) =>
      world.t.mutation(api.lib.complete, {
        ...{ token, sessionKey: "s", callSeq: 1, claim },
        finished: [succeeded({ id: "x", attempt: 1 })],
      });
    const asks = (token: string) => {
      const [hasWork, claims, , , , peek] = calls(world, token);
      return [hasWork!, claims!, peek!, () => complete(token)];
    };
    for (const call of asks(narrow.token)) {
      const refused = await refusal(call());
      expect(refused).toMatchObject({ code: "queueForbidden", queue: "tiles" });
      expect(refused.message).toContain('"other", not "tiles"');
    }
    expect(await world.all("sessions")).toEqual([]);
    const wide = await create(world, ["other", "tiles"]);
    const [hasWork, , peek] = asks(wide.token);
    expect(await hasWork!()).toBe(true);
    expect(await peek!()).toMatchObject([{ payload: "mine" }]);
    expect((await complete(wide.token)).jobs).toMatchObject([{ payload: "mine" }]);
  });

  test("that is not there cannot be revoked", async () => {
    const world = await newWorld();
    const refused = await refusal(world.t.mutation(api.operate.revokeToken, { id: world.token }));
    expect(refused).toMatchObject({ code: "tokenUnknown" });
  });
});

test("of more tokens than one list has, the remaining ones are listed after the last: each can be found, and revoked", async () => {
  const world = await newWorld();
  await world.t.run(async (ctx) => {
    const [first] = await ctx.db.query("tokens").collect();
    const { _id, _creationTime, ...row } = first!;
    for (let i = 0; i < 1_000; i += 1)
      await ctx.db.insert("tokens", { ...row, hash: `${i}`, name: `${i}` });
  });
  const page = await world.t.query(api.operate.listTokens, {});
  expect([page[0]!.name, page.length]).toEqual(["999", 1_000]);
  const rest = await world.t.query(api.operate.listTokens, { after: page.at(-1)!.id });
  expect(rest.map(({ name }) => name)).toEqual(["test token"]);
  const refused = await refusal(world.t.query(api.operate.listTokens, { after: "no id" }));
  expect(refused).toMatchObject({ code: "tokenUnknown" });
});

describe("a rotated token", () => {
  async function rotated(world: World, graceMs?: number) {
    const { id } = (await world.t.query(api.operate.listTokens, {}))[0]!;
    const grace = graceMs === undefined ? {} : { graceMs };
    return { id, ...(await world.t.mutation(api.operate.rotateToken, { id, ...grace })) };
  }

  // Shows LF-17, O1.
  test("has a new secret, and refuses the old one at once", async () => {
    const world = await newWorld();
    await world.enqueue();
    const { token } = await rotated(world);
    const refused = await refusal(world.worker("a").claim());
    expect(refused).toMatchObject({ code: "tokenRevoked" });
    expect(refused.message).toContain("new secret");
    expect(await new Worker(world, "a", "session-a", token).claim()).toHaveLength(1);
  });

  // Shows LF-17, O1.
  test("keeps its identity: a session goes on under the new secret with its leases", async () => {
    const world = await newWorld();
    await world.enqueue();
    const before = world.worker("a");
    const [job] = await before.claim();
    const { id, token } = await rotated(world);
    const after = new Worker(world, "a", "session-a", token);
    expect((await after.complete([succeeded(job!)], { n: 2 })).words).toEqual(["ok"]);
    expect((await after.session()).token).toBe(id);
  });

  test("takes the old secret for its grace, and then reports the rotation", async () => {
    const world = await newWorld();
    const worker = world.worker("a");
    await rotated(world, 60_000);
    await world.advance(59_000);
    await worker.claim();
    await world.advance(2_000);
    const refused = await refusal(worker.claim());
    expect(refused).toMatchObject({ code: "tokenRevoked" });
    expect(refused.message).toContain("new secret");
  });

  test("that is rotated again keeps its promise to every secret, and a revoked one has none", async () => {
    const world = await newWorld();
    const first = world.worker("a");
    const { token: second } = await rotated(world, 4_000);
    const { id, token: third } = await rotated(world, 60_000);
    const workers = [
      first,
      ...[second, third].map((token, i) => new Worker(world, "b", `session-${i}`, token)),
    ];
    for (const worker of workers) await worker.claim();
    await world.advance(5_000);
    expect(await refusal(first.claim())).toMatchObject({ code: "tokenRevoked" });
    await workers[1]!.claim();
    await world.advance(60_000);
    expect(await refusal(workers[1]!.claim())).toMatchObject({ code: "tokenRevoked" });
    await world.t.mutation(api.operate.revokeToken, { id });
    for (const worker of workers) {
      const refused = await refusal(worker.claim());
      expect(refused).toMatchObject({ code: "tokenRevoked" });
      expect(refused.message).toContain("was revoked");
    }
    const again = world.t.mutation(api.operate.rotateToken, { id });
    expect(await refusal(again)).toMatchObject({ code: "tokenRevoked" });
  });

  test("has at most 16 secrets that are let in, and remembers a few that are not", async () => {
    const world = await newWorld();
    for (let i = 0; i < 16; i += 1) await rotated(world, 60_000);
    await world.worker("a").claim();
    expect(await refusal(rotated(world, 60_000))).toMatchObject({ code: "invalidArgument" });
    await world.advance(61_000);
    for (let i = 0; i < 3; i += 1) await rotated(world);
    const rows = await world.t.run((ctx) => ctx.db.query("formerSecrets").collect());
    expect(rows).toHaveLength(8);
    expect(await refusal(world.worker("a").claim())).toMatchObject({ code: "tokenUnknown" });
  });

  test.each([-1, 0.5, 8 * 24 * 3_600_000])("has no grace of %d ms", async (graceMs) => {
    const world = await newWorld();
    expect(await refusal(rotated(world, graceMs))).toMatchObject({ code: "invalidArgument" });
  });
});

test("the displayed id of a session is always the same, and no credential of it", async () => {
  const world = await newWorld();
  await world.enqueue();
  const worker = world.worker("a");
  const [job] = await worker.claim();
  const shown = async () => (await world.t.query(api.lib.workers, {}))[0]!.session;
  const sessionKey = await shown();
  expect(sessionKey).not.toContain(worker.sessionKey);
  expect(await shown()).toBe(sessionKey);
  // Another program that shares the token, and has seen the page.
  const other = new Worker(world, "a", sessionKey, worker.token);
  expect((await other.complete([succeeded(job!)], { n: 999 })).words).toEqual(["leaseLost"]);
  expect((await worker.complete([succeeded(job!)])).words).toEqual(["ok"]);
  await world.enqueue();
  await worker.claim();
  await world.advance(60_000);
  const ended = (await world.all("events")).filter(({ kind }) => kind === "leasesEnded");
  expect(ended.map(({ details }) => (details as { sessionKey: string }).sessionKey)).toEqual([
    sessionKey,
  ]);
  expect(JSON.stringify(ended)).not.toContain(worker.sessionKey);
});

// Shows LF-17, O1.
// Rules out D30.
test("a revoked token's leases go to other workers at once, and other tokens keep theirs", async () => {
  const world = await newWorld({ leaseMs: 60_000 });
  await world.enqueueBatch([1, 2]);
  const { id, token } = await world.t.mutation(api.operate.createToken, {
    name: "x",
    queues: null,
  });
  await new Worker(world, "gone", "session-gone", token).claim();
  await world.worker("stays").claim();
  await world.t.mutation(api.operate.revokeToken, { id });
  await world.advance(1_000);
  const jobs = await world.all("jobs");
  expect(jobs.map(({ status }) => status).sort()).toEqual(["pending", "running"]);
  expect(jobs.find(({ status }) => status === "running")!.worker).toBe("stays");
});

test("all of a revoked fleet's leases end at once, also where another fleet's end at the same instant", async () => {
  const world = await newWorld({ leaseMs: 60_000, logLevel: "error" });
  await world.enqueueBatch(Array.from({ length: REVOKED_SESSIONS + 1 }, (_, n) => n));
  const fleet = async (token: string, size: number) => {
    for (let n = 0; n < size; n += 1) {
      await new Worker(world, `w${n}`, `${token.slice(-4)}-${n}`, token).claim();
    }
  };
  await fleet(world.token, REVOKED_SESSIONS);
  const { id, token } = await world.t.mutation(api.operate.createToken, {
    name: "x",
    queues: null,
  });
  await fleet(token, 1);
  await world.t.mutation(api.operate.revokeToken, { id });
  await world.advance(1_000);
  const running = (await world.all("jobs")).filter(({ status }) => status === "running");
  expect(running).toHaveLength(REVOKED_SESSIONS);
});
