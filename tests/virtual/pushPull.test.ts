/** A queue that workers outside and Convex itself serve together: workers first, and Convex when nobody came. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../harness/session.js";
import { startVirtualApp, type VirtualApp } from "../../harness/virtualApp.js";

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

async function enqueue(count: number): Promise<string[]> {
  const payloads = Array.from({ length: count }, (_, n) => ({ n, ms: 0 }));
  return (await app.world.call("pushed:enqueueMixed", { payloads })) as string[];
}

async function look(ids: string[]): Promise<Done[]> {
  return (await app.world.call("pushed:mixedStatus", { ids })) as Done[];
}

test("what workers take in time is theirs: Convex runs none of it", async () => {
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

test("what nobody has taken after that long is Convex's, and not before", async () => {
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

test("and back: workers that come again find what is young", async () => {
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
