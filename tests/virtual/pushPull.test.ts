/**
 * A queue that workers outside and Convex itself serve together: workers first while one is there, and Convex when none came
 * in time, or none is there. Wakes are counted: a start inside Convex costs one.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../support/session.js";
import { api } from "../support/app/convex/_generated/api.js";
import { startVirtualApp, type VirtualApp } from "../support/virtualApp.js";

/** As long as jobs of the queue `mixed` are left to workers. */
const LEFT_MS = 2_000;

let app: VirtualApp;
let worker: Session;
beforeAll(async () => {
  app = await startVirtualApp({ seed: 1 });
  worker = app.session("outside", "mixed");
});
afterAll(() => app.world.close());

interface Done {
  status: string;
  worker?: string;
  startedAt?: number;
  enqueuedAt: number;
}

async function enqueue(count: number, options: { group?: string } = {}): Promise<string[]> {
  if (options.group !== undefined) {
    const jobs = Array.from({ length: count }, () => options);
    return (await app.world.call("pushed:enqueueMixedJobs", { jobs })) as string[];
  }
  const payloads = Array.from({ length: count }, (_, n) => ({ n, ms: 0 }));
  return (await app.world.call("pushed:enqueueMixed", { payloads })) as string[];
}

/** Claims of a worker with conditions. */
function claimer(sessionKey: string) {
  const client = app.world.httpClient(sessionKey);
  let n = 0;
  return async (conditions: { groups?: string[]; maxCost?: number }) => {
    const call = {
      token: app.token,
      sessionKey,
      name: sessionKey,
      callSeq: ++n,
      queues: ["mixed"],
      max: 4,
    };
    return await app.world.run(client.mutation(api.work.claim, { ...call, ...conditions }));
  };
}

async function look(ids: string[]): Promise<Done[]> {
  return (await app.world.call("pushed:mixedStatus", { ids })) as Done[];
}

/** Wakes that ran since the counts were reset. */
const wakes = (): number =>
  app.world.stats.snapshot().functions["conveyor/push/wake:wake"]?.calls ?? 0;

// Shows C6.
test("while no worker is there Convex begins at once, with as many wakes as in a queue that leaves nothing", async () => {
  const { world } = app;
  world.stats.reset();
  for (let n = 0; n < 3; n += 1) {
    const [id] = await enqueue(1);
    await world.advance(1_000);
    const [{ status, startedAt = 0, enqueuedAt }] = (await look([id!])) as [Done];
    expect(status).toBe("succeeded");
    expect(startedAt - enqueuedAt).toBeLessThan(500);
    await world.advance(2 * LEFT_MS);
  }
  expect(wakes()).toBeLessThanOrEqual(2 * 3);
  // From now on one is there.
  await world.run(worker.claim(1));
});

// Shows C6.
test("jobs that workers take in time are theirs: Convex runs none of them", async () => {
  const { world } = app;
  const ids = await enqueue(4);
  const finished = [];
  while (finished.length < ids.length) {
    const { jobs } = await world.run(worker.claim(4));
    const outcome = { kind: "succeeded" as const, result: { square: 1 } };
    finished.push(...jobs.map(({ id, attempt }) => ({ id, attempt, outcome })));
    await world.advance(250);
  }
  await world.run(worker.complete(finished));
  await world.advance(10_000);
  const done = await look(ids);
  expect(done.map(({ status, worker: by }) => [status, by])).toEqual(
    ids.map(() => ["succeeded", "outside"]),
  );
});

// Shows C6.
test("jobs that no worker has taken after that long are Convex's, and not before", async () => {
  const { world } = app;
  const ids = await enqueue(4);
  await world.advance(LEFT_MS - 100);
  expect((await look(ids)).map(({ status }) => status)).toEqual(ids.map(() => "pending"));
  await world.advance(2 * LEFT_MS);
  for (const { status, worker: by, startedAt = 0, enqueuedAt } of await look(ids)) {
    expect({ status, by }).toEqual({ status: "succeeded", by: "mixed#0" });
    expect(startedAt - enqueuedAt).toBeGreaterThanOrEqual(LEFT_MS - 100);
  }
});

// Shows C6.
test("and back: workers that come back find young jobs", async () => {
  const { world } = app;
  const [id] = await enqueue(1);
  const { jobs } = await world.run(worker.claim(1));
  if (jobs.length === 0) await world.advance(250);
  const [job] = jobs.length > 0 ? jobs : (await world.run(worker.claim(1))).jobs;
  expect(job!.id).toBe(id);
  const outcome = { kind: "succeeded" as const, result: { square: 0 } };
  await world.run(worker.complete([{ id: job!.id, attempt: job!.attempt, outcome }]));
  expect(await look([id!])).toMatchObject([{ status: "succeeded", worker: "outside" }]);
});

test("when the last worker leaves, jobs left to it begin at once, and so do later ones", async () => {
  const { world } = app;
  const [id] = await enqueue(1);
  const args = { token: app.token, sessionKey: "outside", leases: [], leaving: worker.n + 2 };
  await world.run(world.httpClient().mutation(api.work.heartbeat, args));
  await world.advance(700);
  expect(await look([id!])).toMatchObject([{ status: "succeeded", worker: "mixed#0" }]);
  await world.advance(2 * LEFT_MS);
  const [next] = await enqueue(1);
  await world.advance(700);
  expect(await look([next!])).toMatchObject([{ status: "succeeded", worker: "mixed#0" }]);
});

test("and when another comes, jobs are left to it again", async () => {
  const { world } = app;
  const other = app.session("another", "mixed");
  await world.run(other.claim(1));
  await world.advance(2 * LEFT_MS);
  const [id] = await enqueue(1);
  await world.advance(LEFT_MS - 200);
  expect(await look([id!])).toMatchObject([{ status: "pending" }]);
  const { jobs } = await world.run(other.claim(1));
  expect(jobs.map((job) => job.id)).toEqual([id]);
});

test("a job that no worker there may take begins at once, and the rest is left to workers as before", async () => {
  const { world } = app;
  // Until the worker before, which holds a job, counts as gone.
  await world.advance(700_000);
  const claims = claimer("grouped");
  await claims({ groups: ["theirs"] });
  const [theirs] = await enqueue(1, { group: "theirs" });
  const [ours, another] = await enqueue(2, { group: "ours" });
  await world.advance(700);
  expect(await look([theirs!, ours!, another!])).toMatchObject([
    { status: "pending" },
    { status: "succeeded", worker: expect.stringMatching(/^mixed#/) as unknown },
    { status: "succeeded" },
  ]);
  const { jobs } = await claims({ groups: ["theirs"] });
  expect(jobs.map(({ id }) => id)).toEqual([theirs]);
});

test("of jobs of one transaction each goes its way, and jobs beyond a worker's budget begin at once", async () => {
  const { world } = app;
  await world.advance(700_000);
  const claims = claimer("thrifty");
  await claims({ maxCost: 5 });
  const ids = (await app.world.call("pushed:enqueueMixedJobs", {
    jobs: [{ cost: 1 }, { cost: 9 }, { cost: 2 }, { cost: 7 }],
  })) as string[];
  await world.advance(700);
  expect((await look(ids)).map(({ status }) => status)).toEqual([
    ...["pending", "succeeded", "pending", "succeeded"],
  ]);
});

test("a worker that was killed with a job counts as there until it has missed two beats", async () => {
  const { world } = app;
  await world.advance(100_000);
  const claims = claimer("killed");
  await claims({});
  const [held] = await enqueue(1);
  // In another's shard it is taken once it has waited.
  await world.advance(300);
  expect((await claims({})).jobs.map(({ id }) => id)).toEqual([held]);
  // Of its lease of ten minutes it should have beaten after 200 s, and again after 400.
  await world.advance(390_000);
  const [left] = await enqueue(1);
  await world.advance(700);
  expect(await look([left!])).toMatchObject([{ status: "pending" }]);
  await world.advance(15_000);
  const [next] = await enqueue(1);
  await world.advance(700);
  expect(await look([held!, next!])).toMatchObject([
    { status: "running", worker: "killed" },
    { status: "succeeded", worker: expect.stringMatching(/^mixed#/) as unknown },
  ]);
});
